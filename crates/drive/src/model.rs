//! Model files: TOML, one drive per file, every value with its source.
//!
//! A value is written bare or as `{ value = ..., source = "..." }`. Files that come with drivelab give a source for
//! every value (a test sees to it): a reference, "assumed", or "fitted to" a published figure.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};
use toml::Value;

use crate::error::ModelError;
use crate::parameters::{self, Fallback, Kind, PARAMETERS};

/// Source of a value that `--set` gave.
const COMMAND_LINE: &str = "command line";

/// Whether a text can name a model: it becomes part of file names.
fn is_name(text: &str) -> bool {
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    !text.is_empty() && text.chars().all(allowed)
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
    values: BTreeMap<&'static str, Sourced>,
}

impl Model {
    /// Parses a model. `overrides` are `KEY=VALUE` pairs of the command line: the value is TOML, or a bare word.
    ///
    /// # Errors
    /// [`ModelError`], naming key, value and what is allowed. A model that parses can be built.
    pub fn parse(text: &str, origin: &str, overrides: &[(String, String)]) -> Result<Self, ModelError> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| ModelError::Syntax {
            origin: origin.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        let mut model = Self { origin: origin.to_owned(), values: BTreeMap::new() };
        model.read_table("", &table)?;
        for (key, value) in overrides {
            model.set(key, value)?;
        }
        model.fill_defaults()?;
        model.check_capacity()?;
        crate::build::build(&model, 0)?;
        Ok(model)
    }

    fn read_table(&mut self, prefix: &str, table: &toml::Table) -> Result<(), ModelError> {
        for (name, value) in table {
            let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
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
                Value::Table(inner) if prefix.is_empty() => self.read_table(&key, inner)?,
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
        let Some(parameter) = parameters::find(key) else {
            return Err(self.unknown(key, parameters::nearest(key)));
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
        for parameter in PARAMETERS {
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
            self.values.insert(parameter.key, Sourced { value, source: Some("default".to_owned()) });
        }
        Ok(())
    }

    fn check_capacity(&self) -> Result<(), ModelError> {
        let both = "must be left out where spare_ratio is given";
        match (self.values.get("user_capacity_bytes"), self.values.get("spare_ratio")) {
            (Some(bytes), Some(_)) => Err(self.bad("user_capacity_bytes", &bytes.value.to_string(), both)),
            (None, None) => Err(ModelError::Missing {
                origin: self.origin.clone(),
                key: "user_capacity_bytes",
                help: "what the host can address (or give spare_ratio)",
            }),
            _ => Ok(()),
        }
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

    /// A whole-number parameter; 0 if it does not apply.
    pub(crate) fn integer(&self, key: &str) -> u64 {
        self.optional_integer(key).unwrap_or(0)
    }

    pub(crate) fn optional_integer(&self, key: &str) -> Option<u64> {
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

    /// Name on the command line.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// SHA-256 over all keys and values, the names included, the sources not.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for (key, sourced) in &self.values {
            hasher.update(format!("{key}={}\n", sourced.value));
        }
        let digits =
            |byte: &u8| [byte >> 4, byte & 15].map(|nibble| char::from(b"0123456789abcdef"[nibble as usize]));
        hasher.finalize().iter().flat_map(digits).collect()
    }

    /// All parameters in the order of the table.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static parameters::Parameter, &Sourced)> {
        PARAMETERS.iter().filter_map(|parameter| Some((parameter, self.values.get(parameter.key)?)))
    }
}
