//! From the list of policies to their names, and to the one type that holds the state of any.

/// Makes `Placement` (which policy) and `Placements` (its state) of `Variant(State) = "name": "title"`. Calls are matches
/// over the variants; what no policy remembers costs nothing.
macro_rules! placement_policies {
    ($($variant:ident($state:path) = $name:literal: $title:literal),+ $(,)?) => {
        named_policies!(Placement, "which write stream a page goes to", $($variant = $name: $title),+);

        impl Placement {
            /// Its streams.
            #[must_use]
            pub fn streams(self, settings: &policy::PlacementSettings) -> streams::StreamCounts {
                match self { $(Self::$variant => <$state as policy::PlacementPolicy>::streams(settings)),+ }
            }
        }

        /// A policy with its state.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        pub(crate) enum Placements {
            $(#[doc = $title] $variant($state),)+
        }

        impl Placements {
            /// The policy of an erased drive.
            pub(crate) fn new(placement: Placement, settings: &policy::PlacementSettings) -> Self {
                match placement {
                    $(Placement::$variant => {
                        Self::$variant(<$state as policy::PlacementPolicy>::new(settings))
                    })+
                }
            }

            /// Whether it looks at hints of the host.
            #[inline]
            pub(crate) fn takes_hints(&self) -> bool {
                match self { $(Self::$variant(_) => <$state as policy::PlacementPolicy>::TAKES_HINTS),+ }
            }

            /// The host begins to write these units, with this hint.
            pub(crate) fn hinted(&mut self, units: std::ops::Range<u32>, hint: u8) {
                match self {
                    $(Self::$variant(policy) => policy::PlacementPolicy::hinted(policy, units, hint)),+
                }
            }

            /// The stream of a page that the host writes now.
            #[inline]
            pub(crate) fn host_stream(&mut self, units: &[drivelab_nand::Lpn]) -> streams::Stream {
                match self {
                    $(Self::$variant(policy) => policy::PlacementPolicy::host_stream(policy, units)),+
                }
            }

            /// The stream of a page of copies out of a block.
            #[inline]
            pub(crate) fn copy_stream(
                &mut self,
                victim: drivelab_nand::BlockIndex,
                units: &[drivelab_nand::Lpn],
            ) -> streams::Stream {
                match self {
                    $(Self::$variant(policy) => policy::PlacementPolicy::copy_stream(policy, victim, units)),+
                }
            }

            /// The first page of a block is programmed, for a stream.
            #[inline]
            pub(crate) fn opened(&mut self, block: drivelab_nand::BlockIndex, stream: streams::Stream) {
                match self {
                    $(Self::$variant(policy) => policy::PlacementPolicy::opened(policy, block, stream)),+
                }
            }

            /// A block was emptied, and is erased now.
            #[inline]
            pub(crate) fn emptied(&mut self, block: drivelab_nand::BlockIndex) {
                match self { $(Self::$variant(policy) => policy::PlacementPolicy::emptied(policy, block)),+ }
            }
        }
    };
}
