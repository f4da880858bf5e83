//! What every model says about itself.

use super::family::FAMILY_WORDS;
use super::row::Fallback::{Absent, Required, Word};
use super::row::Kind::{Choice, Integer, Month, Name, Real, Text};
use super::row::{Parameter, row};

/// The parameter.
pub const SCALE_KEY: &str = "scale_divisor";

/// Identity, release, price.
pub(super) const IDENTITY: &[Parameter] = &[
    row("name", "", Name, Required, "name on the command line: lower case, digits, hyphens"),
    row("title", "", Text, Required, "name for people"),
    row(
        "family",
        "",
        Choice(FAMILY_WORDS),
        Word("page-map"),
        "what kind of drive, named by its mapping scheme",
    ),
    row("released", "", Month, Absent, "year and month of release"),
    row("controller_name", "", Text, Absent, "name of the controller chip"),
    row("firmware", "", Text, Absent, "firmware that the parameters describe"),
    row("price_usd", "USD", Real(0.0, 1e6), Absent, "price when reviewed"),
    row(
        "partition_bytes",
        "B",
        Integer(512, 1 << 50),
        Absent,
        "what the host uses of the drive, from its beginning; the rest is never written; left out: all",
    ),
    row(
        SCALE_KEY,
        "",
        Integer(1, 1 << 20),
        Absent,
        "the drive is cut down to one in so many and keeps its character; left out: full size",
    ),
    row(
        "base",
        "",
        Text,
        Absent,
        "model that this one differs from, a name or the path of a file; it gives every value that is not stated here",
    ),
];
