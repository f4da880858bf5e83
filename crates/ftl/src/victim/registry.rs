//! From the list of policies to their names, and to the one type that holds the state of any.

/// Makes `VictimSelection` (which policy) and `Victims` (its state) of `Variant(State) = "name": "title"`. Calls are
/// matches over the variants; what no policy listens to costs nothing.
macro_rules! victim_policies {
    ($($variant:ident($state:path) = $name:literal: $title:literal),+ $(,)?) => {
        named_policies!(VictimSelection, "which block is cleaned next", $($variant = $name: $title),+);

        /// A policy with its state.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        pub(crate) enum Victims {
            $(#[doc = $title] $variant($state),)+
        }

        impl Victims {
            /// A policy that has heard of no block yet.
            pub(crate) fn new(selection: VictimSelection, settings: &policy::VictimSettings) -> Self {
                match selection {
                    $(VictimSelection::$variant => {
                        Self::$variant(<$state as policy::VictimPolicy>::new(settings))
                    })+
                }
            }

            /// Whether it looks at the age of data, which copies must keep then.
            #[inline]
            pub(crate) fn asks_for_age(&self) -> bool {
                match self { $(Self::$variant(_) => <$state as policy::VictimPolicy>::ASKS_FOR_AGE),+ }
            }

            /// A block was opened.
            #[inline]
            pub(crate) fn opened(&mut self, die: drivelab_nand::DieIndex, block: drivelab_nand::BlockIndex) {
                match self { $(Self::$variant(policy) => policy::VictimPolicy::opened(policy, die, block)),+ }
            }

            /// A block is fully programmed: a candidate from now on.
            #[inline]
            pub(crate) fn closed(&mut self, die: drivelab_nand::DieIndex, block: drivelab_nand::BlockIndex) {
                match self { $(Self::$variant(policy) => policy::VictimPolicy::closed(policy, die, block)),+ }
            }

            /// A block has lost so much valid data.
            #[inline]
            pub(crate) fn lost(&mut self, block: drivelab_nand::BlockIndex, count: u32) {
                match self { $(Self::$variant(policy) => policy::VictimPolicy::lost(policy, block, count)),+ }
            }

            /// A block was erased, or retired: no candidate any more, if it was one.
            #[inline]
            pub(crate) fn withdrawn(&mut self, die: drivelab_nand::DieIndex, block: drivelab_nand::BlockIndex) {
                match self { $(Self::$variant(policy) => policy::VictimPolicy::withdrawn(policy, die, block)),+ }
            }

            /// A block that stood for its superblock leaves it: another does from now on.
            #[inline]
            pub(crate) fn replaced(
                &mut self,
                die: drivelab_nand::DieIndex,
                block: drivelab_nand::BlockIndex,
                by: drivelab_nand::BlockIndex,
            ) {
                match self { $(Self::$variant(policy) => policy::VictimPolicy::replaced(policy, die, block, by)),+ }
            }

            /// Whether it knows these candidates of a die and no others, if it keeps a list.
            pub(crate) fn check(
                &self,
                die: drivelab_nand::DieIndex,
                candidates: &[drivelab_nand::BlockIndex],
            ) -> Result<(), String> {
                match self { $(Self::$variant(policy) => policy::VictimPolicy::check(policy, die, candidates)),+ }
            }

            /// Picks a block of the die: one that is closed and has invalid units, or `None` if there is none.
            pub(crate) fn pick(&mut self, die: drivelab_nand::DieIndex, view: &View<'_>) -> Option<u32> {
                let block = match self {
                    $(Self::$variant(policy) => policy::VictimPolicy::pick(policy, die, view)),+
                }?;
                debug_assert!(view.is_candidate(block as usize));
                Some(block)
            }
        }
    };
}
