//! Model files: TOML, one drive per file, every value with its source.
//!
//! A value is written bare or as `{ value = ..., source = "..." }`. Files that come with drivelab give a source for
//! every value (a test sees to it): a reference, "assumed", or "fitted to" a published figure.
//!
//! A model may be written as layers: a base, and on top of it a file that gives only what differs (another firmware,
//! half the channels). This crate knows no files: whoever reads them hands over the layers, the base first, and the
//! models of an array's members. What an array's model says in its section `member` counts for each of them.
//!
//! A flash part that several drives have is a layer, too, the lowest: a sheet with `part = NAME`. A drive names it
//! (`flash.part`) and may not say otherwise what the part says; only the command line may.

mod layers;
mod refused;
mod small_version;
mod texts;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::ModelError;
use crate::parameters::{self, BIT_ERRORS, CELL_KEY, Fallback, Family, Parameter, SCALE_KEY};
pub use layers::Layer;

/// Section and prefix of what an array's model says about its members.
const MEMBER: &str = "member";

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sourced {
    /// The value.
    pub value: serde_json::Value,
    /// Its source; `None` in a user's file that gives none.
    pub source: Option<String>,
}

impl Sourced {
    /// Whether nobody has stated the value: it is what the table of parameters has.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.source.as_deref().is_some_and(|source| [DEFAULT, OF_CELLS].contains(&source))
    }
}

/// Source of a value that the table of parameters gave.
pub(crate) const DEFAULT: &str = "default";

/// The same of one that is as flash of its cells usually is.
pub(crate) const OF_CELLS: &str = "assumed: as flash of its cells usually is";

/// A parsed and checked model: a value for every parameter that applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    origin: String,
    family: Family,
    values: BTreeMap<&'static str, Sourced>,
    part: Option<Part>,
    members: Vec<Arc<Model>>,
    /// What a small version was made of, and how it differs from that.
    full_size: Option<(Arc<Model>, Vec<String>)>,
}

/// A flash part laid under a model.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    name: String,
    origin: String,
    /// What it says, and nobody above it may.
    keys: Vec<&'static str>,
}

impl Part {
    /// Whether a drive that names its part so means this one: by its own name, or by that of its file.
    fn is_meant_by(&self, named: &str) -> bool {
        self.name == named || Path::new(&self.origin).file_stem().is_some_and(|stem| stem == named)
    }
}

impl Model {
    /// Gives a parameter the value that it has in a small version of the drive.
    pub(crate) fn replace(&mut self, key: &'static str, value: u64, divisor: u64) {
        let before = self.values.get(key);
        let full =
            before.map_or_else(|| "as spare_ratio says".to_owned(), |sourced| sourced.value.to_string());
        // The role that the source states stays.
        let mut source =
            before.and_then(|sourced| sourced.source.clone()).unwrap_or_else(|| "assumed".to_owned());
        let told = format!(" this is 1/{divisor} of the drive");
        if !source.ends_with(&told) {
            let joint = if source.contains(": ") { ';' } else { ':' };
            source = format!("{source}{joint} at full size {full},{told}");
        }
        self.values.insert(key, Sourced { value: value.into(), source: Some(source) });
    }

    /// Takes a parameter away that does not hold in a small version of the drive.
    pub(crate) fn forget(&mut self, key: &str) {
        self.values.remove(key);
    }

    /// The drive's title, of a small version with its scale.
    #[must_use]
    pub fn title(&self) -> String {
        let (title, divisor) = (self.text("title"), self.optional_integer(SCALE_KEY).unwrap_or(1));
        if divisor == 1 { title.to_owned() } else { format!("{title} (1/{divisor})") }
    }

    /// How a small version differs from the drive by more than 5 %, in words.
    #[must_use]
    pub fn scale_remarks(&self) -> &[String] {
        self.full_size.as_ref().map_or(&[], |(_, remarks)| remarks)
    }

    fn unknown(&self, key: &str, nearest: Option<String>) -> ModelError {
        ModelError::UnknownKey { origin: self.origin.clone(), key: key.to_owned(), nearest }
    }

    fn missing(&self, parameter: &Parameter) -> ModelError {
        ModelError::Missing { origin: self.origin.clone(), key: parameter.key, help: parameter.help }
    }

    pub(crate) fn bad(&self, key: &str, value: &str, allowed: &str) -> ModelError {
        ModelError::Value {
            origin: self.origin.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            allowed: allowed.to_owned(),
        }
    }

    /// File or name that the model came from.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// What kind of drive the model describes.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// A parameter that is one of several words, as the type that stands for them.
    ///
    /// # Errors
    /// [`ModelError::Value`] for a word that the type does not know.
    pub(crate) fn word<T: serde::de::DeserializeOwned>(&self, key: &str) -> Result<T, ModelError> {
        let value = self.values.get(key).map(|sourced| sourced.value.clone()).unwrap_or_default();
        serde_json::from_value(value.clone())
            .map_err(|error| self.bad(key, &value.to_string(), &error.to_string()))
    }

    /// A whole-number parameter that fits 32 bits; 0 if it does not apply.
    pub(crate) fn small(&self, key: &str) -> u32 {
        u32::try_from(self.integer(key)).unwrap_or(u32::MAX)
    }

    /// A whole-number parameter; 0 if it does not apply.
    pub(crate) fn integer(&self, key: &str) -> u64 {
        self.optional_integer(key).unwrap_or(0)
    }

    /// A whole-number parameter, if it applies and is given.
    #[must_use]
    pub fn optional_integer(&self, key: &str) -> Option<u64> {
        self.values.get(key)?.value.as_u64()
    }

    pub(crate) fn real(&self, key: &str) -> Option<f64> {
        self.values.get(key)?.value.as_f64()
    }

    /// A parameter that is true or false; false if it does not apply.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        self.values.get(key).and_then(|sourced| sourced.value.as_bool()).unwrap_or(false)
    }

    /// A text parameter; "" if it does not apply.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).and_then(|sourced| sourced.value.as_str()).unwrap_or("")
    }

    /// The word of the cells on which defaults depend: "" where no bits go wrong.
    fn cell_of_errors(&self) -> &str {
        if self.flag(BIT_ERRORS) { self.text(CELL_KEY) } else { "" }
    }

    /// A parameter that is a list of texts; empty if it does not apply.
    pub(crate) fn list(&self, key: &str) -> Vec<&str> {
        let values = self.values.get(key).and_then(|sourced| sourced.value.as_array());
        values.into_iter().flatten().filter_map(serde_json::Value::as_str).collect()
    }

    /// Name on the command line.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// Models of the members, if it is an array.
    #[must_use]
    pub fn members(&self) -> &[Arc<Self>] {
        &self.members
    }

    /// SHA-256 over all keys and values that differ from the defaults, the names included, the sources not; of an array,
    /// over its members' too. So a model keeps its hash when a parameter comes that it doesn't need.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        let cell = self.cell_of_errors();
        for (key, sourced) in &self.values {
            let default = self.family.find(key).and_then(|parameter| parameter.fallback(cell));
            if default.as_ref() != Some(&sourced.value) {
                hasher.update(format!("{key}={}\n", sourced.value));
            }
        }
        for member in &self.members {
            hasher.update(format!("{MEMBER}={}\n", member.hash()));
        }
        let digits =
            |byte: &u8| [byte >> 4, byte & 15].map(|nibble| char::from(b"0123456789abcdef"[nibble as usize]));
        hasher.finalize().iter().flat_map(digits).collect()
    }

    /// All parameters in the order of the table.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static parameters::Parameter, &Sourced)> {
        self.family.parameters().filter_map(|parameter| Some((parameter, self.values.get(parameter.key)?)))
    }

    /// Parameters without a default that the model could state and doesn't, in the order of the table.
    pub fn left_out(&self) -> impl Iterator<Item = &'static parameters::Parameter> {
        let has_none = |parameter: &&parameters::Parameter| parameter.default == Fallback::Absent;
        self.family.parameters().filter(has_none).filter(|parameter| !self.values.contains_key(parameter.key))
    }
}
