//! Parameters of bits that go wrong: what wear, age and reads do to flash, and what a controller does about it.

use super::row::Fallback::{Boolean as Is, ByCell, Integer as Number};
use super::row::Kind::{Boolean, Integer, Real};
use super::row::{BIT_ERRORS, MOST, Parameter, row};

/// What becomes of data in flash. Where a model doesn't say, it is as flash of its cells usually is (docs/errors.md).
pub(super) const ERRORS: &[Parameter] = &[
    row(
        BIT_ERRORS,
        "",
        Boolean,
        Is(false),
        "bits go wrong with wear, age and reads; needs flash.endurance_cycles. false: none does, and what follows has no effect",
    ),
    row(
        "flash.new_bit_error_rate",
        "1/bit",
        Real(0.0, 0.5),
        ByCell([1e-8, 1e-7, 2e-4, 5e-4]),
        "share of wrong bits of what was just programmed into a new block",
    ),
    row(
        "flash.worn_bit_error_rate",
        "1/bit",
        Real(0.0, 0.5),
        ByCell([1e-5, 1e-4, 1e-3, 2e-3]),
        "the same of a block that was erased flash.endurance_cycles times",
    ),
    row(
        "flash.wear_exponent",
        "",
        Real(0.0, 100.0),
        ByCell([2.0; 4]),
        "wrong bits grow from the one to the other with this power of (erases / flash.endurance_cycles), and on beyond",
    ),
    row(
        "flash.retention_hours",
        "h",
        Real(1e-6, 1e7),
        ByCell([8760.0, 8760.0, 1000.0, 1000.0]),
        "after which what was programmed has twice the wrong bits; three times after twice as long",
    ),
    row(
        "flash.read_disturb_reads",
        "reads",
        Integer(1, u64::MAX),
        ByCell([1e6, 1e5, 1e5, 5e4]),
        "sensings of pages of a block since its first program after which it has twice the wrong bits",
    ),
    row(
        "flash.initial_cycles",
        "P/E",
        Integer(0, MOST),
        Number(0),
        "erases that every block has behind it when the drive is new: a drive of used flash",
    ),
    row(
        "flash.erase_failure_rate",
        "1/erase",
        Real(0.0, 1.0),
        ByCell([0.0; 4]),
        "chance that the erase of a block at its flash.endurance_cycles fails, which retires it; grows with the third power \
         of erases",
    ),
    row(
        "flash.slc_new_bit_error_rate",
        "1/bit",
        Real(0.0, 0.5),
        ByCell([1e-6; 4]),
        "flash.new_bit_error_rate of blocks of an SLC cache",
    ),
    row(
        "flash.slc_worn_bit_error_rate",
        "1/bit",
        Real(0.0, 0.5),
        ByCell([1e-4; 4]),
        "flash.worn_bit_error_rate of blocks of an SLC cache, after flash.slc_endurance_cycles",
    ),
    row(
        "flash.slc_endurance_cycles",
        "P/E",
        Integer(1, MOST),
        ByCell([3e4; 4]),
        "erases that a block stands as one of an SLC cache",
    ),
    row(
        "controller.codeword_bytes",
        "B",
        Integer(512, 4096),
        ByCell([512.0, 512.0, 1024.0, 1024.0]),
        "bytes whose wrong bits are corrected together; at most ftl.map_unit_bytes",
    ),
    row(
        "controller.correctable_bits",
        "bit",
        Integer(0, 1000),
        ByCell([8.0, 8.0, 72.0, 72.0]),
        "wrong bits of a codeword that are corrected",
    ),
    row(
        "controller.read_retries",
        "",
        Integer(0, 100),
        ByCell([4.0, 4.0, 8.0, 8.0]),
        "how often a page is sensed again with other thresholds before its codeword is lost",
    ),
    row(
        "controller.retry_factor",
        "",
        Real(0.0, 1.0),
        ByCell([0.5, 0.5, 0.8, 0.8]),
        "what each of them leaves of the wrong bits",
    ),
    row(
        "controller.refresh_bits",
        "bit",
        Integer(0, 1000),
        Number(0),
        "a block with more wrong bits than this in a codeword is moved; 0: never",
    ),
];
