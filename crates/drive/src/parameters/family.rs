//! What kinds of drives there are, and what they are called.

/// Each family with its word in models and its title for people, in the order in which people read them.
macro_rules! families {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $title:literal;)*) => {
        /// What kind of drive a model describes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum Family {
            $($(#[$doc])* #[serde(rename = $word)] $name,)*
        }

        /// Words of all families.
        pub(crate) const FAMILY_WORDS: &[&str] = &[$($word),*];

        impl Family {
            /// All families.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word in models.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// The title for people.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)*
                }
            }
        }
    };
}

families! {
    /// Flash behind a page map, fine or coarse.
    PageMap = "page-map", "Page map";
    /// Flash behind a map of superblocks, one replacement at a time.
    SuperblockMap = "superblock-map", "Superblock map with merges";
    /// Flash behind a map of superblocks, with log blocks.
    LogBlockMap = "log-block-map", "Log blocks behind a write-back cache";
    /// Flash behind a map that compresses and stores copies once.
    CompressedMap = "compressed-map", "Compressing and deduplicating";
    /// Strips over several drives.
    Raid0 = "raid-0", "RAID-0";
    /// Platters and heads.
    HardDisk = "hard-disk", "Hard disks";
}

impl Family {
    /// The family of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| family.word() == word)
    }
}
