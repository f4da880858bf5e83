//! From lines to requests, whatever the format.

use super::format::Format;
use super::options::ReadOptions;
use super::table::Trace;
use super::{alibaba, blkparse, fiu, iolog, mqsim, msr, systor17, tencent};

/// Takes lines of one format.
pub(super) enum Parser {
    Mqsim(mqsim::Mqsim),
    Msr,
    Systor17,
    Alibaba,
    Tencent,
    Fiu,
    Blkparse(blkparse::Blkparse),
    Iolog(iolog::Iolog),
}

impl Parser {
    pub(super) fn new(format: Format, options: &ReadOptions) -> Self {
        match format {
            Format::Mqsim => Self::Mqsim(mqsim::Mqsim::new(options.time_unit.unwrap_or_default())),
            Format::Msr => Self::Msr,
            Format::Systor17 => Self::Systor17,
            Format::Alibaba => Self::Alibaba,
            Format::Tencent => Self::Tencent,
            Format::Fiu => Self::Fiu,
            Format::Blkparse => {
                Self::Blkparse(blkparse::Blkparse::new(options.arrival_event.unwrap_or_default()))
            }
            Format::Iolog => Self::Iolog(iolog::Iolog::default()),
        }
    }

    /// Takes one line. The message of an error lacks file and line.
    pub(super) fn line(&mut self, text: &str, trace: &mut Trace) -> Result<(), String> {
        match self {
            Self::Mqsim(mqsim) => mqsim.line(text, trace),
            Self::Msr => msr::line(text, trace),
            Self::Systor17 => systor17::line(text, trace),
            Self::Alibaba => alibaba::line(text, trace),
            Self::Tencent => tencent::line(text, trace),
            Self::Fiu => fiu::line(text, trace),
            Self::Blkparse(blkparse) => blkparse.line(text, trace),
            Self::Iolog(iolog) => iolog.line(text, trace),
        }
    }

    /// Why there may be no requests although all lines were understood.
    pub(super) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Blkparse(blkparse) => blkparse.hint(),
            _ => None,
        }
    }
}
