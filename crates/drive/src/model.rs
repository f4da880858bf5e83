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

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};
use toml::Value;

use crate::error::ModelError;
use crate::parameters::{self, Fallback, Family, Kind};
use crate::scale;

/// Source of a value that `--set` gave.
const COMMAND_LINE: &str = "command line";

/// Source of a value that the table of parameters gave.
const DEFAULT: &str = "default";

/// Whether a text can name a model: it becomes part of file names. `drive` or `drive@firmware`.
fn is_name(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let (drive, firmware) = text.split_once('@').unwrap_or((text, "0"));
    let inside = |letter: char| plain(letter) || letter == '.';
    !drive.is_empty()
        && drive.chars().all(plain)
        && firmware.starts_with(plain)
        && firmware.ends_with(plain)
        && firmware.chars().all(inside)
}

/// The text of one model file.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// TOML.
    pub text: &'a str,
    /// File or name, for messages.
    pub origin: &'a str,
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sourced {
    /// The value.
    pub value: serde_json::Value,
    /// Its source; `None` in a user's file that gives none.
    pub source: Option<String>,
}

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

/// A file's table and its origin.
type Sheet = (String, toml::Table);

/// Section and prefix of what an array's model says about its members.
const MEMBER: &str = "member";

/// Key by which a sheet says that it is a part's, and the key by which a drive names it.
const PART: &str = "part";
const FLASH_PART: &str = "flash.part";

impl Model {
    /// Parses a model that is written in one file. `overrides` as in [`Self::parse_layers`].
    ///
    /// # Errors
    /// As [`Self::parse_layers`].
    pub fn parse(text: &str, origin: &str, overrides: &[(String, String)]) -> Result<Self, ModelError> {
        Self::parse_layers(&[Layer { text, origin }], overrides)
    }

    /// Parses a model from its layers, the base first; later layers override earlier ones. A layer may change the
    /// family: parameters of the layers below that do not apply to it are left behind. `overrides` are `KEY=VALUE`
    /// pairs of the command line: the value is TOML, or a bare word.
    ///
    /// # Errors
    /// [`ModelError`], naming key, value and what is allowed. A model that parses can be built.
    pub fn parse_layers(layers: &[Layer<'_>], overrides: &[(String, String)]) -> Result<Self, ModelError> {
        Self::parse_array(layers, overrides, &[])
    }

    /// Parses a model that may be an array, from its layers and the models that it names as `members`, in order.
    /// Overrides of `member.KEY` count for every member.
    ///
    /// # Errors
    /// As [`Self::parse_layers`].
    pub fn parse_array(
        layers: &[Layer<'_>],
        overrides: &[(String, String)],
        members: &[Arc<Self>],
    ) -> Result<Self, ModelError> {
        let origin = layers.last().map_or("", |layer| layer.origin).to_owned();
        let mut model = Self {
            origin,
            family: Family::PageMap,
            values: BTreeMap::new(),
            part: None,
            members: Vec::new(),
            full_size: None,
        };
        let sheet = |layer: &Layer<'_>| -> Result<Sheet, ModelError> {
            let table = layer.text.parse().map_err(|error: toml::de::Error| ModelError::Syntax {
                origin: layer.origin.to_owned(),
                message: error.to_string().trim_end().to_owned(),
            })?;
            Ok((layer.origin.to_owned(), table))
        };
        let sheets = layers.iter().map(sheet).collect::<Result<Vec<_>, _>>()?;
        model.family = model.choose_family(&sheets, overrides)?;
        model.complete(sheets, overrides, members)
    }

    /// Lays sheets and overrides on top of what is there, and fills in defaults.
    fn complete(
        mut self,
        sheets: Vec<Sheet>,
        overrides: &[(String, String)],
        members: &[Arc<Self>],
    ) -> Result<Self, ModelError> {
        let is_array = self.family == Family::Raid0;
        let mut member_sheets = Vec::new();
        let last = sheets.len().saturating_sub(1);
        for (index, (origin, mut table)) in sheets.into_iter().enumerate() {
            if is_array && let Some(Value::Table(inner)) = table.get(MEMBER) {
                member_sheets.push((origin.clone(), inner.clone()));
                table.remove(MEMBER);
            }
            self.lay(origin, &table, index == last)?;
        }
        let mut member_overrides = Vec::new();
        for (key, value) in overrides {
            match key.strip_prefix(MEMBER).and_then(|rest| rest.strip_prefix('.')) {
                Some(inner) if is_array => member_overrides.push((inner.to_owned(), value.clone())),
                _ => self.set(key, value)?,
            }
        }
        self.check_part()?;
        self.fill_defaults()?;
        let divisor = self.optional_integer(scale::KEY);
        if let Some(divisor) = divisor.filter(|_| is_array) {
            member_overrides.push((scale::KEY.to_owned(), divisor.to_string()));
        }
        let varied = members.iter().map(|member| member.varied(&member_sheets, &member_overrides));
        self.members = varied.collect::<Result<_, _>>()?;
        crate::build::check(&self)?;
        if let Some(divisor) = divisor {
            let full_size = Arc::new(self.clone());
            let remarks = scale::apply(&mut self, divisor)?;
            self.full_size = Some((full_size, remarks));
            crate::build::check(&self)?;
        }
        Ok(self)
    }

    /// Adds what one file says.
    fn lay(&mut self, origin: String, table: &toml::Table, top: bool) -> Result<(), ModelError> {
        let mut read = Self { origin, values: BTreeMap::new(), members: Vec::new(), ..self.clone() };
        if let Some(named) = table.get(PART) {
            return self.lay_part(read, named, table);
        }
        read.read_table("", table, top)?;
        if let Some(part) = &self.part
            && let Some(key) = part.keys.iter().find(|key| read.values.contains_key(*key))
        {
            let allowed = format!(
                "belongs to the flash part {} ({}), which drives share; `--set` can change it",
                part.name, part.origin
            );
            return Err(read.bad(key, &read.values[key].value.to_string(), &allowed));
        }
        // Two ways to state the user capacity exclude each other; the later layer wins.
        for (one, other) in [("spare_ratio", "user_capacity_bytes"), ("user_capacity_bytes", "spare_ratio")] {
            if read.values.contains_key(one) && !read.values.contains_key(other) {
                self.values.remove(other);
            }
        }
        self.values.extend(read.values);
        Ok(())
    }

    /// Lays what a part's sheet says under everything else.
    fn lay_part(&mut self, mut read: Self, named: &Value, table: &toml::Table) -> Result<(), ModelError> {
        let bare = named.get("value").unwrap_or(named);
        let Some(name) = bare.as_str().filter(|name| is_name(name)) else {
            return Err(read.bad(PART, &bare.to_string(), &Kind::Name.allowed()));
        };
        let mut inner = table.clone();
        inner.remove(PART);
        read.read_table("", &inner, true)?;
        if let Some(key) = read.values.keys().find(|key| !key.starts_with("flash.")) {
            return Err(read.bad(key, &read.values[key].value.to_string(), "is no property of a flash part"));
        }
        let keys = read.values.keys().copied().collect();
        self.part = Some(Part { name: name.to_owned(), origin: read.origin, keys });
        self.values.extend(read.values);
        Ok(())
    }

    /// Whether the part that the model names is the one that lies under it.
    fn check_part(&self) -> Result<(), ModelError> {
        let laid = self.part.as_ref().map_or("", |part| &part.name);
        let named = self.text(FLASH_PART);
        if named == laid {
            return Ok(());
        }
        let allowed = if laid.is_empty() {
            "names a flash part that was not laid under the model".to_owned()
        } else {
            format!("must be \"{laid}\", the flash part that lies under the model")
        };
        Err(self.bad(FLASH_PART, &format!("{named:?}"), &allowed))
    }

    /// The same model with something else laid on top.
    fn varied(
        self: &Arc<Self>,
        sheets: &[Sheet],
        overrides: &[(String, String)],
    ) -> Result<Arc<Self>, ModelError> {
        if sheets.is_empty() && overrides.is_empty() {
            return Ok(Arc::clone(self));
        }
        let mut base =
            self.full_size.as_ref().map_or_else(|| Self::clone(self), |(full, _)| Self::clone(full));
        base.values.retain(|_, sourced| sourced.source.as_deref() != Some(DEFAULT));
        let members = std::mem::take(&mut base.members);
        base.complete(sheets.to_vec(), overrides, &members).map(Arc::new)
    }

    /// The family that the topmost layer (or an override) states.
    fn choose_family(&self, sheets: &[Sheet], overrides: &[(String, String)]) -> Result<Family, ModelError> {
        let stated = overrides
            .iter()
            .rev()
            .find(|(key, _)| key == "family")
            .map(|(_, word)| Value::String(word.clone()))
            .or_else(|| {
                let bare = |value: &Value| value.get("value").unwrap_or(value).clone();
                sheets.iter().rev().find_map(|(_, table)| table.get("family")).map(bare)
            });
        let Some(value) = stated else { return Ok(Family::PageMap) };
        value.as_str().and_then(Family::parse).ok_or_else(|| {
            let allowed = Kind::Choice(parameters::FAMILY_WORDS).allowed();
            self.bad("family", &value.to_string(), &allowed)
        })
    }

    fn read_table(&mut self, prefix: &str, table: &toml::Table, top: bool) -> Result<(), ModelError> {
        for (name, value) in table {
            let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            let is_section =
                prefix.is_empty() && value.as_table().is_some_and(|inner| !inner.contains_key("value"));
            // What a base says about another family's mechanism does not apply here.
            let left_behind =
                !top && self.family.find(&key).is_none() && !parameters::families_of(&key).is_empty();
            if left_behind && !is_section {
                continue;
            }
            match value {
                Value::Table(inner) if inner.contains_key("value") => {
                    if let Some(odd) = inner.keys().find(|odd| *odd != "value" && *odd != "source") {
                        let known = "value or source".to_owned();
                        return Err(self.unknown(&format!("{key}.{odd}"), Some(known)));
                    }
                    let source = match inner.get("source") {
                        None => None,
                        Some(Value::String(source)) => Some(source.clone()),
                        Some(other) => {
                            return Err(self.bad(
                                &format!("{key}.source"),
                                &other.to_string(),
                                "must be text",
                            ));
                        }
                    };
                    self.insert(&key, &inner["value"], source)?;
                }
                Value::Table(inner) if prefix.is_empty() => self.read_table(&key, inner, top)?,
                _ => self.insert(&key, value, None)?,
            }
        }
        Ok(())
    }

    fn set(&mut self, key: &str, text: &str) -> Result<(), ModelError> {
        let value = format!("value = {text}")
            .parse::<toml::Table>()
            .ok()
            .and_then(|mut table| table.remove("value"))
            .unwrap_or_else(|| Value::String(text.to_owned()));
        // The two ways to state the user capacity exclude each other; the command line wins.
        match key {
            "spare_ratio" => self.values.remove("user_capacity_bytes"),
            "user_capacity_bytes" => self.values.remove("spare_ratio"),
            _ => None,
        };
        self.insert(key, &value, Some(COMMAND_LINE.to_owned()))
    }

    fn insert(&mut self, key: &str, value: &Value, source: Option<String>) -> Result<(), ModelError> {
        let Some(parameter) = self.family.find(key) else {
            let families = parameters::families_of(key);
            if !families.is_empty() {
                let words: Vec<_> = families.iter().map(|family| family.word()).collect();
                let allowed =
                    format!("does not apply to family {}, only to {}", self.family.word(), words.join(", "));
                return Err(self.bad(key, &value.to_string(), &allowed));
            }
            return Err(self.unknown(key, self.family.nearest(key)));
        };
        let checked = match (parameter.kind, value) {
            (Kind::Integer(least, most), Value::Integer(number)) => u64::try_from(*number)
                .ok()
                .filter(|number| (least..=most).contains(number))
                .map(serde_json::Value::from),
            (Kind::Real(least, most), Value::Float(number)) => {
                Some(*number).filter(|number| (least..=most).contains(number)).map(serde_json::Value::from)
            }
            (Kind::Real(least, most), Value::Integer(number)) => Some(*number as f64)
                .filter(|number| (least..=most).contains(number))
                .map(serde_json::Value::from),
            (Kind::Boolean, Value::Boolean(flag)) => Some((*flag).into()),
            (Kind::Choice(words), Value::String(word)) => {
                words.contains(&word.as_str()).then(|| word.clone().into())
            }
            (Kind::Name, Value::String(text)) => is_name(text).then(|| text.clone().into()),
            (Kind::Text, Value::String(text)) => Some(text.clone().into()),
            (Kind::Names, Value::Array(names)) => names
                .iter()
                .map(|name| name.as_str().filter(|name| !name.is_empty()).map(serde_json::Value::from))
                .collect::<Option<Vec<_>>>()
                .filter(|names| !names.is_empty())
                .map(serde_json::Value::from),
            _ => None,
        };
        let from_file = source.as_deref() != Some(COMMAND_LINE);
        if from_file && self.values.contains_key(parameter.key) {
            return Err(self.bad(key, &value.to_string(), "is given twice"));
        }
        let Some(value) = checked else {
            return Err(self.bad(key, &value.to_string(), &parameter.kind.allowed()));
        };
        self.values.insert(parameter.key, Sourced { value, source });
        Ok(())
    }

    fn fill_defaults(&mut self) -> Result<(), ModelError> {
        for parameter in self.family.parameters() {
            if self.values.contains_key(parameter.key) {
                continue;
            }
            let value = match parameter.default {
                Fallback::Required => {
                    let origin = self.origin.clone();
                    return Err(ModelError::Missing { origin, key: parameter.key, help: parameter.help });
                }
                Fallback::Absent => continue,
                Fallback::Integer(number) => number.into(),
                Fallback::Boolean(flag) => flag.into(),
                Fallback::Word(word) => word.into(),
            };
            self.values.insert(parameter.key, Sourced { value, source: Some(DEFAULT.to_owned()) });
        }
        Ok(())
    }

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

    /// How a small version differs from the drive by more than 5 %, in words.
    #[must_use]
    pub fn scale_remarks(&self) -> &[String] {
        self.full_size.as_ref().map_or(&[], |(_, remarks)| remarks)
    }

    fn unknown(&self, key: &str, nearest: Option<String>) -> ModelError {
        ModelError::UnknownKey { origin: self.origin.clone(), key: key.to_owned(), nearest }
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

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.values.get(key).and_then(|sourced| sourced.value.as_bool()).unwrap_or(false)
    }

    /// A text parameter; "" if it does not apply.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).and_then(|sourced| sourced.value.as_str()).unwrap_or("")
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

    /// SHA-256 over all keys and values, the names included, the sources not; of an array, over its members' too.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for (key, sourced) in &self.values {
            hasher.update(format!("{key}={}\n", sourced.value));
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
}
