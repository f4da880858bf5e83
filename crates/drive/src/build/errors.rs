//! What a model says of bits that go wrong.

use drivelab_controller::faults::{BitErrors, CellErrors};
use drivelab_controller::{SECTOR_BYTES, Scheduled, SolidStateDrive};
use drivelab_ftl::{CleaningMode, Wear};

use crate::error::ModelError;
use crate::model::Model;
use crate::parameters::BIT_ERRORS;

const REFRESH: &str = "controller.refresh_bits";
const ERASE_FAILURES: &str = "flash.erase_failure_rate";

/// Lets the bits of a new drive go wrong, if its model says that they do.
pub(super) fn apply<M: Scheduled>(
    model: &Model,
    seed: u64,
    drive: &mut SolidStateDrive<M>,
) -> Result<(), ModelError> {
    if !model.flag(BIT_ERRORS) {
        return Ok(());
    }
    if model.word::<CleaningMode>("ftl.cleaning_mode")? == CleaningMode::RewriteInPlace {
        let allowed = "must be false with ftl.cleaning_mode = rewrite-in-place";
        return Err(model.bad(BIT_ERRORS, "true", allowed));
    }
    let bits = config(model)?;
    let failures = model.real(ERASE_FAILURES).unwrap_or(0.0);
    drive.wear_out(seed, bits, failures).map_err(|why| {
        if failures > 0.0 {
            return model.bad(
                ERASE_FAILURES,
                &failures.to_string(),
                &format!("must be 0 on this drive: {why}"),
            );
        }
        model.bad(REFRESH, &bits.refresh_bits.to_string(), &format!("must be 0 on this drive: {why}"))
    })
}

fn config(model: &Model) -> Result<BitErrors, ModelError> {
    let Some(endurance) = model.optional_integer("flash.endurance_cycles") else {
        let allowed = "needs flash.endurance_cycles, the erases after which flash.worn_bit_error_rate holds";
        return Err(model.bad(BIT_ERRORS, "true", allowed));
    };
    let real = |key| model.real(key).unwrap_or(0.0);
    let cells = |endurance, new: &'static str, worn: &'static str| {
        let (new_rate, worn_rate) = (real(new), real(worn));
        if worn_rate < new_rate {
            let allowed = format!("must be at least {new} = {new_rate}");
            return Err(model.bad(worn, &worn_rate.to_string(), &allowed));
        }
        let wear = Wear {
            endurance_erases: u32::try_from(endurance).unwrap_or(u32::MAX),
            exponent: real("flash.wear_exponent"),
            erases_before: model.small("flash.initial_cycles"),
        };
        Ok(CellErrors { wear, new_rate, worn_rate })
    };
    let codeword_bytes = model.small("controller.codeword_bytes");
    if !u64::from(codeword_bytes).is_multiple_of(SECTOR_BYTES) {
        let allowed = format!("must be a multiple of {SECTOR_BYTES} bytes");
        return Err(model.bad("controller.codeword_bytes", &codeword_bytes.to_string(), &allowed));
    }
    let unit_bytes = model.small("ftl.map_unit_bytes");
    if codeword_bytes > unit_bytes {
        let allowed = format!("must be at most ftl.map_unit_bytes = {unit_bytes}");
        return Err(model.bad("controller.codeword_bytes", &codeword_bytes.to_string(), &allowed));
    }
    let correctable_bits = model.small("controller.correctable_bits");
    let refresh_bits = model.small(REFRESH);
    if refresh_bits > correctable_bits {
        let allowed = format!("must be at most controller.correctable_bits = {correctable_bits}");
        return Err(model.bad(REFRESH, &refresh_bits.to_string(), &allowed));
    }
    Ok(BitErrors {
        native: cells(endurance, "flash.new_bit_error_rate", "flash.worn_bit_error_rate")?,
        slc: cells(
            model.integer("flash.slc_endurance_cycles"),
            "flash.slc_new_bit_error_rate",
            "flash.slc_worn_bit_error_rate",
        )?,
        retention_ns: real("flash.retention_hours") * 3.6e12,
        read_disturb_reads: model.integer("flash.read_disturb_reads"),
        correctable_bits,
        codeword_bytes,
        retries: model.small("controller.read_retries"),
        retry_factor: real("controller.retry_factor"),
        refresh_bits,
    })
}
