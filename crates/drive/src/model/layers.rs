//! A model from its layers, overrides and members; what it says is checked, and a drive is built of it to see that one can be.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Value;

use super::texts::{is_line, is_month, is_name};
use super::{DEFAULT, MEMBER, Model, OF_CELLS, Part, Sourced};
use crate::build;
use crate::error::ModelError;
use crate::parameters::{self, Fallback, Family, Kind, SCALE_KEY};

/// Source of a value that `--set` gave.
const COMMAND_LINE: &str = "command line";

/// A number with a point or an exponent that is whole, as 1e5 and 64.0, if every whole number so large has a form.
fn whole(number: f64) -> Option<u64> {
    let exact = number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number);
    exact.then_some(number as u64)
}

/// A value as messages show it: a large number with its exponent, not with three hundred digits.
fn shown(value: &Value) -> String {
    match value {
        Value::Float(number) => format!("{number:?}").to_lowercase(),
        _ => value.to_string(),
    }
}

/// The text of one model file.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// TOML.
    pub text: &'a str,
    /// File or name, for messages.
    pub origin: &'a str,
}

/// A file's table and its origin.
type Sheet = (String, toml::Table);

/// Key by which a sheet says that it is a part's, and the key by which a drive names it.
const PART: &str = "part";
const FLASH_PART: &str = "flash.part";

/// What the parser says of a text; of numbers that TOML hasn't, which it says in words of its own types, what TOML has.
fn in_words(error: &toml::de::Error) -> String {
    let (text, said) = (error.to_string(), error.message());
    let too_large = ["as i128", "as u128", "u64 value was too large", "integer number overflowed"];
    let text = if too_large.iter().any(|words| said.contains(words)) {
        text.replace(said, &format!("whole numbers of TOML go from {} to {}", i64::MIN, i64::MAX))
    } else {
        text
    };
    text.trim_end().to_owned()
}

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
                message: in_words(&error),
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
        let mut below = String::new();
        for (index, (origin, mut table)) in sheets.into_iter().enumerate() {
            if is_array && let Some(Value::Table(inner)) = table.get(MEMBER) {
                member_sheets.push((origin.clone(), inner.clone()));
                table.remove(MEMBER);
            }
            self.lay(origin.clone(), &table, index == last, &below)?;
            below = origin;
        }
        for (_, table) in &member_sheets {
            self.check_members_own(table.iter().map(|(key, value)| (key.as_str(), value.to_string())))?;
        }
        let mut member_overrides = Vec::new();
        for (key, value) in overrides {
            match key.strip_prefix(MEMBER).and_then(|rest| rest.strip_prefix('.')) {
                Some(inner) if is_array => member_overrides.push((inner.to_owned(), value.clone())),
                _ => self.set(key, value)?,
            }
        }
        self.check_members_own(
            &mut member_overrides.iter().map(|(key, value)| (key.as_str(), value.clone())),
        )?;
        self.check_part()?;
        self.fill_defaults()?;
        let varied = members.iter().map(|member| member.varied(&member_sheets, &member_overrides));
        self.members = varied.collect::<Result<_, _>>()?;
        build::check(&self)?;
        self.check_members()?;
        build::check_stated(&self)?;
        if let Some(divisor) = self.optional_integer(SCALE_KEY) {
            return self.small_version(divisor);
        }
        Ok(self)
    }

    /// Adds what one file says; `below` is where what lies under it comes from.
    fn lay(&mut self, origin: String, table: &toml::Table, top: bool, below: &str) -> Result<(), ModelError> {
        let mut read = Self { origin, values: BTreeMap::new(), members: Vec::new(), ..self.clone() };
        if let Some(named) = table.get(PART) {
            return self.lay_part(read, named, table);
        }
        read.read_table("", table, top)?;
        self.check_base(&read, below)?;
        if let Some(part) = &self.part
            && let Some(key) = part.keys.iter().find(|key| read.values.contains_key(*key))
        {
            let stated = if read.values.contains_key(FLASH_PART) { &read } else { &*self };
            if !part.is_meant_by(stated.text(FLASH_PART)) {
                // The part was named above this layer, which was written for another: who named it can change that.
                let allowed = format!(
                    "must be a part that leaves out {key}, which {} states ({}); or choose a base that leaves {key} to \
                     its part",
                    read.origin, read.values[key].value
                );
                return Err(self.bad(FLASH_PART, &format!("{:?}", part.name), &allowed));
            }
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
        if let Some(under) = &self.part
            && !name.strip_prefix(&*under.name).is_some_and(|grade| grade.starts_with('@'))
        {
            let allowed = format!("lies on {}, another part: it must be a grade of that one", under.name);
            return Err(read.bad(PART, &format!("{name:?}"), &allowed));
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
        if let Some(part) = self.part.as_ref().filter(|part| part.is_meant_by(named)) {
            return Err(ModelError::Value {
                origin: part.origin.clone(),
                key: PART.to_owned(),
                value: format!("{laid:?}"),
                allowed: format!("must be {named:?}, the name of its file"),
            });
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
        base.values.retain(|_, sourced| !sourced.is_default());
        let members = std::mem::take(&mut base.members);
        base.complete(sheets.to_vec(), overrides, &members).map(Arc::new)
    }

    /// Gives an array members that are small versions of those it has.
    pub(crate) fn scale_members(&mut self, divisor: u64) -> Result<(), ModelError> {
        let scaled = [(SCALE_KEY.to_owned(), divisor.to_string())];
        self.members =
            self.members.iter().map(|member| member.varied(&[], &scaled)).collect::<Result<_, _>>()?;
        Ok(())
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
            self.bad("family", &shown(&value), &allowed)
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
            (Kind::Integer(least, most), Value::Float(number)) => {
                whole(*number).filter(|number| (least..=most).contains(number)).map(serde_json::Value::from)
            }
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
            (Kind::Text, Value::String(text)) => is_line(text).then(|| text.clone().into()),
            (Kind::Month, Value::String(text)) => is_month(text).then(|| text.clone().into()),
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
            return Err(self.bad(key, &shown(value), &parameter.allowed()));
        };
        self.values.insert(parameter.key, Sourced { value, source });
        Ok(())
    }

    fn fill_defaults(&mut self) -> Result<(), ModelError> {
        for parameter in self.family.parameters() {
            if self.values.contains_key(parameter.key) {
                continue;
            }
            if parameter.default == Fallback::Required {
                return Err(self.missing(parameter));
            }
            if let Some(value) = parameter.fallback(self.cell_of_errors()) {
                let source =
                    if matches!(parameter.default, Fallback::ByCell(_)) { OF_CELLS } else { DEFAULT };
                self.values.insert(parameter.key, Sourced { value, source: Some(source.to_owned()) });
            }
        }
        Ok(())
    }
}
