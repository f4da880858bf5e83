//! What a model says of word lines that are programmed whole, and of reads in front of programs and erases.

use drivelab_controller::{PassConfig, SECTOR_BYTES, SlcTimes, SuspensionConfig, WordLineConfig};
use drivelab_ftl::Placement;
use drivelab_nand::Geometry;

use crate::error::ModelError;
use crate::model::Model;

const ONE_SHOT: &str = "flash.one_shot";
const PASSES: &str = "flash.program_passes";
const COARSE: &str = "flash.coarse_program_ns";
const HELD: &str = "flash.held_word_lines";

/// Keys that say something of reads of single pages, and mean nothing without one-shot programs.
const OPTIONAL: [&str; 5] = [
    "flash.read_middle_ns",
    "flash.read_upper_ns",
    "flash.read_top_ns",
    "flash.program_suspend_ns",
    "flash.erase_suspend_ns",
];

/// Pages that one program writes on each of its planes: those of a word line, or one.
pub(crate) fn page_types(model: &Model) -> Result<u32, ModelError> {
    if !model.flag(ONE_SHOT) {
        return Ok(1);
    }
    let page_types = match model.text("flash.cell") {
        "slc" => 1,
        "mlc" => 2,
        "tlc" => 3,
        _ => 4,
    };
    let page_bytes = model.integer("flash.page_bytes");
    if !page_bytes.is_multiple_of(SECTOR_BYTES) {
        let allowed = format!("must be a multiple of {SECTOR_BYTES} with {ONE_SHOT} = true");
        return Err(model.bad("flash.page_bytes", &page_bytes.to_string(), &allowed));
    }
    let pages = model.small("flash.pages_per_block");
    if !pages.is_multiple_of(page_types) {
        let allowed = format!("must be a multiple of {page_types}, the pages of a word line with {ONE_SHOT}");
        return Err(model.bad("flash.pages_per_block", &pages.to_string(), &allowed));
    }
    Ok(page_types)
}

/// What one read of a map that lies in flash brings where the model says nothing: a page, also of flash whose programs
/// write more of them.
pub(crate) fn map_line_bytes(model: &Model, program_bytes: u64) -> u64 {
    let page_bytes = if model.flag(ONE_SHOT) { model.integer("flash.page_bytes") } else { program_bytes };
    model.optional_integer("ftl.map_fetch_bytes").unwrap_or(page_bytes)
}

/// The pages of a word line, if reads tell them apart.
pub(super) fn config(model: &Model, geometry: &Geometry) -> Result<Option<WordLineConfig>, ModelError> {
    let passes = passes(model, geometry)?;
    if !model.flag(ONE_SHOT) {
        let given = OPTIONAL.iter().find_map(|key| Some((*key, model.optional_integer(key)?)));
        return match given {
            Some((key, value)) => Err(model.bad(key, &value.to_string(), "needs flash.one_shot = true")),
            None => Ok(None),
        };
    }
    let page_types = page_types(model)?;
    let planes = geometry.fused_planes();
    check_meaning(model, page_types, planes)?;
    // Pages of one bit a cell have their places beside those of native ones.
    let kinds = page_types + 1;
    if planes * kinds > u64::BITS {
        let allowed = format!("must be at most {} with flash.one_shot = true", u64::BITS / kinds);
        return Err(model.bad("flash.planes_per_die", &planes.to_string(), &allowed));
    }
    let unit_bytes = model.integer("ftl.map_unit_bytes");
    if unit_bytes > u64::from(geometry.program_bytes()) {
        let allowed = format!("must be at most a word line, {} bytes", geometry.program_bytes());
        return Err(model.bad("ftl.map_unit_bytes", &unit_bytes.to_string(), &allowed));
    }
    let copies = model.integer("controller.cleaning_copies_at_once");
    if copies != 1 {
        let allowed = "must be 1 with flash.one_shot = true: reads get in between the sensings of a copy";
        return Err(model.bad("controller.cleaning_copies_at_once", &copies.to_string(), allowed));
    }
    if model.flag("flash.hold_bus_while_reading") {
        return Err(model.bad(
            "flash.hold_bus_while_reading",
            "true",
            "must be false with flash.one_shot = true",
        ));
    }
    let lower_ns = model.integer("flash.read_ns");
    let read_ns = |key| model.optional_integer(key).unwrap_or(lower_ns);
    let program_ns = model.optional_integer("flash.program_suspend_ns");
    let erase_ns = model.optional_integer("flash.erase_suspend_ns");
    let suspends = program_ns.is_some() || erase_ns.is_some();
    let suspension = SuspensionConfig {
        program_ns,
        erase_ns,
        resume_ns: model.integer("flash.resume_ns"),
        slice_ns: model.integer("flash.suspend_slice_ns"),
        finish_ns: model.integer("flash.finish_within_ns"),
        most: model.small("flash.suspends_max"),
        suspended_max_percent: model.small("flash.suspended_max_percent"),
    };
    Ok(Some(WordLineConfig {
        planes,
        page_types,
        read_ns: [
            lower_ns,
            read_ns("flash.read_middle_ns"),
            read_ns("flash.read_upper_ns"),
            read_ns("flash.read_top_ns"),
        ],
        planes_at_once: model.small("flash.planes_per_read"),
        independent_planes: model.flag("flash.independent_planes"),
        suspension: suspends.then_some(suspension),
        slc: slc_times(model),
        passes,
    }))
}

/// Word lines that are programmed behind one before it can be read.
pub(super) fn held(model: &Model, geometry: &Geometry) -> Result<u32, ModelError> {
    Ok(passes(model, geometry)?.map_or(0, |passes| passes.held_word_lines))
}

/// What a model says of two passes, if there are two.
fn passes(model: &Model, geometry: &Geometry) -> Result<Option<PassConfig>, ModelError> {
    if model.family().find(PASSES).is_none() {
        return Ok(None);
    }
    let program_ns = model.integer("flash.program_ns");
    let (coarse_ns, held) = (model.optional_integer(COARSE), model.optional_integer(HELD));
    let sends_twice = model.flag("flash.sends_data_twice");
    if model.integer(PASSES) == 1 {
        let once = (!sends_twice).then_some(("flash.sends_data_twice", "false".to_owned()));
        let times = [(COARSE, coarse_ns), (HELD, held)].into_iter();
        let given = times.filter_map(|(key, value)| Some((key, value?.to_string()))).chain(once).next();
        return given
            .map_or(Ok(None), |(key, value)| Err(model.bad(key, &value, "needs flash.program_passes = 2")));
    }
    if let Some((key, value, allowed)) = what_needs_one_pass(model) {
        return Err(model.bad(key, &value, &format!("must be {allowed} with {PASSES} = 2")));
    }
    if let Some(coarse_ns) = coarse_ns.filter(|&coarse_ns| coarse_ns > program_ns) {
        let allowed = format!("must be at most flash.program_ns = {program_ns}, which both passes take");
        return Err(model.bad(COARSE, &coarse_ns.to_string(), &allowed));
    }
    let (held, lines) = (held.unwrap_or(1), u64::from(geometry.pages_per_block));
    if 2 * (held + 1) > lines {
        let allowed = format!("must be less than half of {lines}, the word lines of a block");
        return Err(model.bad(HELD, &held.to_string(), &allowed));
    }
    let coarse_ns = coarse_ns.unwrap_or(program_ns / 2);
    let fine_ns = program_ns - coarse_ns;
    Ok(Some(PassConfig { coarse_ns, fine_ns, held_word_lines: held as u32, sends_twice }))
}

/// The first key that can't be what it is with two passes, and what it must be.
fn what_needs_one_pass(model: &Model) -> Option<(&'static str, String, &'static str)> {
    let flag = |key, wanted: &'static str| {
        let is = model.flag(key);
        (is.to_string() != wanted).then(|| (key, is.to_string(), wanted))
    };
    let number = |key, wanted: u64, said| {
        let is = model.integer(key);
        (is != wanted).then(|| (key, is.to_string(), said))
    };
    let word = |key, wanted: &'static str| {
        let is = model.text(key);
        (is != wanted).then(|| (key, is.to_owned(), wanted))
    };
    let cell = model.text("flash.cell");
    flag(ONE_SHOT, "true")
        .or_else(|| (cell == "slc").then(|| ("flash.cell", cell.to_owned(), "mlc, tlc or qlc")))
        .or_else(|| flag("write_buffer.write_back", "true"))
        .or_else(|| number("ftl.superblock_blocks", 1, "1"))
        .or_else(|| number("ftl.parity_stripe_pages", 0, "0"))
        .or_else(|| word("ftl.placement", Placement::HostAndCleaning.name()))
        // What is in the write buffer isn't read again, and a word line between its passes can't lose its block.
        .or_else(|| word("ftl.cleaning_mode", "relocate"))
}

/// Times of blocks of an SLC cache; none without one.
fn slc_times(model: &Model) -> SlcTimes {
    let erase_ns = model.integer("flash.erase_ns");
    SlcTimes {
        read_ns: model.integer("flash.slc_read_ns"),
        program_ns: model.integer("flash.slc_program_ns"),
        erase_ns: model.optional_integer("flash.slc_erase_ns").unwrap_or(erase_ns),
    }
}

/// Parameters that are given and would mean nothing are refused: whoever gave them thinks that they do something.
fn check_meaning(model: &Model, page_types: u32, planes: u32) -> Result<(), ModelError> {
    let of_page = [(2, "flash.read_middle_ns"), (3, "flash.read_upper_ns"), (4, "flash.read_top_ns")];
    for (needed, key) in of_page {
        if let Some(given) = model.optional_integer(key).filter(|_| page_types < needed) {
            let allowed = format!("must be left out: a word line of this cell has {page_types} pages");
            return Err(model.bad(key, &given.to_string(), &allowed));
        }
    }
    let at_once = model.small("flash.planes_per_read");
    if at_once > planes {
        let allowed = format!("must be at most {planes}, the planes that program together (flash.two_plane)");
        return Err(model.bad("flash.planes_per_read", &at_once.to_string(), &allowed));
    }
    if let Some(fast_ns) = model.optional_integer("flash.program_fast_ns") {
        let allowed =
            format!("must be left out with {ONE_SHOT} = true: all pages of a word line are one program");
        return Err(model.bad("flash.program_fast_ns", &fast_ns.to_string(), &allowed));
    }
    let lockstep = model.small("flash.lockstep_channels");
    if lockstep > 1 {
        let allowed = format!("must be 1 with {ONE_SHOT} = true");
        return Err(model.bad("flash.lockstep_channels", &lockstep.to_string(), &allowed));
    }
    Ok(())
}
