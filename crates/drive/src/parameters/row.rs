//! One parameter: a row of a table.

use Kind::{Boolean, Choice, Integer, Month, Name, Names, Real, Text};

/// Type and range of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number from the first to the second.
    Integer(u64, u64),
    /// A real number from the first to the second.
    Real(f64, f64),
    /// true or false.
    Boolean,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Lower case letters, digits and hyphens.
    Name,
    /// One line of text.
    Text,
    /// A year and a month, as 2008-10.
    Month,
    /// A list of texts, at least one.
    Names,
}

/// What a parameter is when a model does not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback {
    /// The model must say.
    Required,
    /// Nothing; the parameter does not apply.
    Absent,
    /// A whole number.
    Integer(u64),
    /// true or false.
    Boolean(bool),
    /// A word.
    Word(&'static str),
    /// A number of drives whose bits go wrong, by the bits of a cell: slc, mlc, tlc, qlc; of others nothing.
    ByCell([f64; 4]),
}

/// What the host can address.
pub(crate) const CAPACITY_KEY: &str = "user_capacity_bytes";
/// What defaults of flash may depend on.
pub(crate) const CELL_KEY: &str = "flash.cell";
/// Whether there are such defaults.
pub(crate) const BIT_ERRORS: &str = "flash.bit_errors";

/// The words of `flash.cell`, in the order of bits.
pub(crate) const CELLS: &[&str] = &["slc", "mlc", "tlc", "qlc"];

/// Spare area over user capacity.
pub(crate) const SPARE_KEY: &str = "spare_ratio";

impl Parameter {
    /// What is allowed, in words; of what is easily taken for percent, with what is meant.
    #[must_use]
    pub fn allowed(&self) -> String {
        let meant = if self.key == SPARE_KEY { ": spare area over user capacity, 0.28 for 28 %" } else { "" };
        format!("{}{meant}", self.kind.allowed())
    }

    /// What it is when a model does not say, if it is anything; `cell`: the word of its cells if bits go wrong, or "".
    #[must_use]
    pub fn fallback(&self, cell: &str) -> Option<serde_json::Value> {
        match self.default {
            Fallback::ByCell(values) => {
                let value = CELLS.iter().zip(values).find(|(word, _)| **word == cell)?.1;
                Some(if matches!(self.kind, Integer(..)) { (value as u64).into() } else { value.into() })
            }
            _ => self.default.value(),
        }
    }
}

impl Fallback {
    /// The value, if there is one for drives of any cell.
    #[must_use]
    pub fn value(&self) -> Option<serde_json::Value> {
        match *self {
            Self::Required | Self::Absent | Self::ByCell(_) => None,
            Self::Integer(number) => Some(number.into()),
            Self::Boolean(flag) => Some(flag.into()),
            Self::Word(word) => Some(word.into()),
        }
    }
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key with its section.
    pub key: &'static str,
    /// Unit, or "" for counts and words.
    pub unit: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// What it is when a model does not say.
    pub default: Fallback,
    /// Meaning.
    pub help: &'static str,
}

pub(crate) const fn row(
    key: &'static str,
    unit: &'static str,
    kind: Kind,
    default: Fallback,
    help: &'static str,
) -> Parameter {
    Parameter { key, unit, kind, default, help }
}

/// One second, for ranges.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// One hour, for ranges.
pub(crate) const HOUR_NS: u64 = 3600 * SECOND_NS;
/// The most that 32 bits hold, for ranges.
pub(crate) const MOST: u64 = u32::MAX as u64;

impl Kind {
    /// What is allowed, in words.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self {
            Integer(least, most) => format!("must be a whole number from {least} to {most}"),
            Real(least, most) => format!("must be a number from {least} to {most}"),
            Boolean => "must be true or false".to_owned(),
            Choice(words) => format!("must be one of {}", words.join(", ")),
            Name => {
                "must be lower case letters, digits and hyphens, with a firmware after @ if it is a variant"
                    .to_owned()
            }
            Text => "must be one line of text".to_owned(),
            Month => "must be a year and a month, as \"2008-10\"".to_owned(),
            Names => "must be a list of names, at least one".to_owned(),
        }
    }
}
