//! Lists of policies that models choose from by name.

/// Makes the enum of a list of `Variant = "name": "title"`, with its names and titles; `$question` is what they answer.
macro_rules! named_policies {
    ($choice:ident, $question:literal, $($variant:ident = $name:literal: $title:literal),+ $(,)?) => {
        /// The policies.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $choice {
            $(#[doc = $title] #[serde(rename = $name)] $variant,)+
        }

        impl $choice {
            /// Every policy.
            pub const ALL: &[Self] = &[$(Self::$variant),+];
            /// Their names, as models have them.
            pub const NAMES: &[&str] = &[$($name),+];
            /// All of them with their titles, in one line.
            pub const HELP: &str = concat!($question $(, "; ", $name, ": ", $title)+);

            /// Its name, as models have it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// What it goes by.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title),+ }
            }
        }
    };
}
