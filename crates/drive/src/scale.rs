//! Small versions of a drive that behave as it does (`scale_divisor`).
//!
//! Whatever counts places shrinks: user capacity, blocks, and what is a share of the addresses - the map cache, the
//! buffer of schemes that merge, log blocks. Whatever counts time or work stays: dies, pages, times, thresholds, how many
//! writes fill a journal page or make a checkpoint due, what a governor lets through.
//!
//! Blocks that a die holds back (for the journal, free and open: `Books::held_back_bytes`) are as many in a small drive
//! as in a large one, so they come on top. With `B` blocks a die, of which `W` are held back, and user capacity `U`:
//!
//! ```text
//! B' = W + (B - W) / N, rounded up to whole blocks of all planes
//! U' = U (B' - W) / (B - W)
//! ```
//!
//! The effective spare area over the user capacity, `(raw - held back - user) / user`, is then the same, and with it
//! write amplification. What rounding makes differ by more than 5 % is told ([`Model::scale_remarks`]).

use drivelab_controller::{Device, SECTOR_BYTES};
use drivelab_ftl::MAP_ENTRY_BYTES;

use crate::build;
use crate::engine::Engine;
use crate::error::ModelError;
use crate::model::Model;
use crate::parameters::{Family, SCALE_KEY as KEY};

/// Relative deviations up to this are not worth a word.
const TOLERANCE: f64 = 0.05;

/// Absolute ones neither: of shares, and of counts of blocks.
const NOTHING: f64 = 0.001;

/// User capacities are whole multiples of this.
const UNIT_BYTES: u64 = 1 << 15;

/// A log whose blocks are emptied in turn is copied next to never below this: what is changed at random is nearly all
/// outdated when its block comes (e^-4).
const COPIED_FILL_RATIO: f64 = 0.25;

/// Rounds in which blocks and capacity of a small drive are brought into line with what they hold back.
const ROUNDS: u32 = 3;

/// Blocks of a die beyond those held back that a small drive must have: with fewer, cleaning has no choice.
const LEAST_BLOCKS: f64 = 7.0;

/// Highest `ftl.cleaning_start_blocks` at which what dies keep free was measured.
const START_BLOCKS_MAX: u64 = 3;

/// Sizes of an SLC cache, which is a share of the drive.
const SLC_KEYS: [&str; 5] = [
    "slc_cache.max_bytes",
    "slc_cache.static_bytes",
    "slc_cache.reserve_bytes",
    "slc_cache.refill_bytes",
    "slc_cache.kept_bytes",
];

/// What a drive's parameters amount to.
struct Size {
    raw_bytes: f64,
    user_bytes: f64,
    held_back_bytes: f64,
    blocks_per_die: f64,
    /// A block of a die: a superblock of schemes that merge.
    block_bytes: f64,
    /// Of a map that lies in flash: how full its own blocks are.
    map_log_fill_ratio: f64,
    /// Of an SLC cache: what it holds at most.
    slc_bytes: f64,
    /// Blocks that may fail before it only reads; 0, too, where nobody knows.
    spare_blocks: f64,
    /// Flash beside it, were it full: native blocks are taken from there, those that are held back once more.
    beside_slc_bytes: f64,
}

impl Size {
    fn of(model: &Model) -> Result<Self, ModelError> {
        let drive = build::build(model, 0)?;
        let derived = drive.derived();
        let number = |key: &str| derived[key].as_f64().unwrap_or(0.0);
        let (raw_bytes, slc_bytes) = (number("raw_capacity_bytes"), number("slc_cache_bytes"));
        Ok(Self {
            raw_bytes,
            user_bytes: user_bytes(&drive),
            held_back_bytes: number("held_back_bytes"),
            blocks_per_die: number("blocks_per_die"),
            block_bytes: number("block_bytes"),
            map_log_fill_ratio: number("map_log_fill_ratio"),
            slc_bytes,
            spare_blocks: number("spare_blocks"),
            beside_slc_bytes: raw_bytes - slc_bytes * f64::from(build::page_types(model)?),
        })
    }

    fn dies(&self) -> f64 {
        self.raw_bytes / (self.blocks_per_die * self.block_bytes)
    }

    fn held_back_blocks(&self) -> f64 {
        self.held_back_bytes / (self.dies() * self.block_bytes)
    }

    /// Effective spare area over user capacity. Below 0 where a scheme that merges gets along with less than it would
    /// like to hold back.
    fn spare_ratio(&self) -> f64 {
        (self.raw_bytes - self.held_back_bytes) / self.user_bytes - 1.0
    }

    /// The user capacity that leaves this share spare: whole sectors, whole superblocks of all banks.
    fn user_bytes_with(&self, spare_ratio: f64, merges: bool) -> u64 {
        let bytes = (self.raw_bytes - self.held_back_bytes) / (1.0 + spare_ratio);
        if merges {
            let stripe_bytes = self.dies() * self.block_bytes;
            ((bytes / stripe_bytes).round() * stripe_bytes) as u64
        } else {
            bytes as u64 / UNIT_BYTES * UNIT_BYTES
        }
    }
}

/// What a host could use of a drive, were it not partitioned.
fn user_bytes(drive: &Engine) -> f64 {
    (drive.capacity_sectors() * SECTOR_BYTES) as f64
}

/// A divisor as it is asked for: by its key, or as a scale.
pub fn typed(divisor: u64) -> String {
    format!("{divisor} (--scale 1/{divisor})")
}

/// Makes a checked model of a drive a small version of itself.
///
/// # Errors
/// A drive that can't be cut down so far, or at all.
pub fn apply(model: &mut Model, divisor: u64) -> Result<Vec<String>, ModelError> {
    let mut remarks = Vec::new();
    match model.family() {
        Family::Raid0 => return array(model, divisor),
        // The drive itself, whatever it is.
        _ if divisor == 1 => return Ok(remarks),
        Family::HardDisk => {
            let allowed = "does not apply to hard disks: seeks and zones are those of a whole disk, which takes \
                           no more memory or time than a part of it; leave the scale out, in a comparison for all \
                           drives";
            return Err(model.bad(KEY, &typed(divisor), allowed));
        }
        _ => {}
    }
    let full = Size::of(model)?;
    let merges = matches!(model.family(), Family::SuperblockMap | Family::LogBlockMap);
    for key in ["ftl.reserve_blocks", "ftl.log_blocks"] {
        shrink(model, key, divisor, 1);
    }
    superblocks(model, &mut remarks, divisor);
    let page_bytes = full.block_bytes as u64 / model.integer("flash.pages_per_block").max(1);
    map_cache(model, &mut remarks, divisor, build::map_line_bytes(model, page_bytes));
    for key in SLC_KEYS {
        shrink(model, key, divisor, 1);
    }
    idle_cleaning(model, &mut remarks, divisor);
    cut_blocks(model, &full, merges, divisor)?;
    let small = Size::of(model)?;
    // A superblock map makes no use of spare area.
    if model.family() != Family::SuperblockMap {
        let (before, after) = (full.spare_ratio(), small.spare_ratio());
        compare(&mut remarks, "effective spare area over user capacity", before, after);
    }
    let (slc, small_slc) = (full.slc_bytes / full.user_bytes, small.slc_bytes / small.user_bytes);
    compare(&mut remarks, "what the SLC cache holds over user capacity", slc, small_slc);
    behind_slc_cache(&mut remarks, &full, &small);
    if small.spare_blocks == 0.0 && full.spare_blocks > 0.0 {
        remarks.push(format!(
            "no block may fail, the first that does makes it read-only: at full size {} may",
            full.spare_blocks
        ));
    }
    partition(model, small.user_bytes / full.user_bytes, divisor);
    let fill_ratios = (full.map_log_fill_ratio, small.map_log_fill_ratio);
    if fill_ratios.0.max(fill_ratios.1) > COPIED_FILL_RATIO {
        let what = "how full of its lines the map's own blocks are, which decides what changes of it cost";
        compare(&mut remarks, what, fill_ratios.0, fill_ratios.1);
    }
    buffer(model, &mut remarks, &full, &small, merges, divisor);
    turns(model, &mut remarks, &small);
    thresholds(model, &mut remarks);
    Ok(remarks)
}

/// The members of an array shrink, each on its own, and its partition as much as it does.
fn array(model: &mut Model, divisor: u64) -> Result<Vec<String>, ModelError> {
    let full_bytes = user_bytes(&build::build(model, 0)?);
    model.scale_members(divisor)?;
    let small_bytes = user_bytes(&build::build(model, 0)?);
    partition(model, small_bytes / full_bytes, divisor);
    let mut remarks = Vec::new();
    for member in model.members() {
        let own = member.scale_remarks().iter().map(|remark| format!("{}: {remark}", member.name()));
        // Members that are alike say the same.
        remarks.extend(own.filter(|remark| !remarks.contains(remark)).collect::<Vec<_>>());
    }
    Ok(remarks)
}

/// How many blocks dies have free, on an average, is known of cleaning that stops where it starts, or a block above.
fn thresholds(model: &Model, remarks: &mut Vec<String>) {
    let keys = ["ftl.cleaning_start_blocks", "ftl.cleaning_stop_blocks"];
    let [Some(start), Some(stop)] = keys.map(|key| model.optional_integer(key)) else { return };
    if stop > start + 1 || start > START_BLOCKS_MAX {
        remarks.push(format!(
            "{} = {start}, {} = {stop}: what dies keep free was measured for starts up to {START_BLOCKS_MAX} and a stop there \
             or one above: spare area in use, and with it write amplification, may differ from the drive's",
            keys[0], keys[1]
        ));
    }
}

/// The partition remains the same share of the drive, of which `share` remains: in whole units, one at least.
fn partition(model: &mut Model, share: f64, divisor: u64) {
    if let Some(bytes) = model.optional_integer("partition_bytes") {
        let bytes = (bytes as f64 * share) as u64 / UNIT_BYTES * UNIT_BYTES;
        model.replace("partition_bytes", bytes.max(UNIT_BYTES), divisor);
    }
}

/// Fewer blocks, and a user capacity that leaves the same share of them spare.
fn cut_blocks(model: &mut Model, full: &Size, merges: bool, divisor: u64) -> Result<(), ModelError> {
    let all = full.blocks_per_die - full.held_back_blocks();
    let kept = all / divisor as f64;
    let per_plane = full.blocks_per_die / model.integer("flash.blocks_per_plane") as f64;
    let mut held = Size::of(model)?.held_back_blocks();
    if kept < LEAST_BLOCKS {
        let value = ((held + kept) / per_plane).ceil().to_string();
        let allowed = format!("must leave dies {LEAST_BLOCKS} blocks of data");
        return Err(model.bad("flash.blocks_per_plane", &value, &allowed));
    }
    model.forget("spare_ratio");
    // Part of what is held back depends on what is there: parity on the blocks, a map in flash on the user capacity.
    for _ in 0..ROUNDS {
        let blocks_per_plane = ((held + kept) / per_plane).ceil();
        let blocks_per_die = blocks_per_plane * per_plane;
        let die_bytes = full.dies() * full.block_bytes;
        let size = Size {
            raw_bytes: blocks_per_die * die_bytes,
            held_back_bytes: held * die_bytes,
            blocks_per_die,
            ..*full
        };
        model.replace("flash.blocks_per_plane", blocks_per_plane as u64, divisor);
        model.replace("user_capacity_bytes", size.user_bytes_with(full.spare_ratio(), merges), divisor);
        held = Size::of(model)?.held_back_blocks();
    }
    let found = Size::of(model)?.user_bytes_with(full.spare_ratio(), merges);
    model.replace("user_capacity_bytes", found, divisor);
    Ok(())
}

/// One in so many, but at least `least`, and never more than before.
fn shrink(model: &mut Model, key: &'static str, divisor: u64, least: u64) {
    let Some(value) = model.optional_integer(key).filter(|&value| value > 0) else { return };
    let shrunk = ((value as f64 / divisor as f64).round() as u64).max(least.min(value));
    model.replace(key, shrunk, divisor);
}

/// Memory for the map is a share of the drive: what covers 64 GB there covers one in a small version, and tests within a
/// span between the two miss it all the time.
fn map_cache(model: &mut Model, remarks: &mut Vec<String>, divisor: u64, line_bytes: u64) {
    let keys = [("ftl.map_cache_bytes", line_bytes), ("ftl.host_memory_bytes", 2 * line_bytes)];
    let covered = |model: &Model| {
        let bytes: u64 = keys.iter().filter_map(|&(key, _)| model.optional_integer(key)).sum();
        bytes as f64 / f64::from(MAP_ENTRY_BYTES) * model.integer("ftl.map_unit_bytes") as f64
    };
    let full = covered(model);
    for (key, least) in keys {
        shrink(model, key, divisor, least);
    }
    if full > 0.0 && full < model.integer("user_capacity_bytes") as f64 {
        remarks.push(format!(
            "memory for the map covers {:.3} GB, at full size {:.1} GB: random requests within a span between these read \
             the map from flash, and are slower than the drive's",
            covered(model) / 1e9,
            full / 1e9
        ));
    }
}

/// Blocks that are held back are free while a drive is filled for the first time, and more of them in proportion lie
/// beside a full SLC cache of a small version: it writes natively where the drive has to fold.
fn behind_slc_cache(remarks: &mut Vec<String>, full: &Size, small: &Size) {
    if full.slc_bytes == 0.0 {
        return;
    }
    let [before, after] = [full, small].map(|size| size.beside_slc_bytes / size.user_bytes);
    if after - before > TOLERANCE {
        remarks.push(format!(
            "writes behind a full SLC cache are faster than the drive's: flash beside it is {:.0} % of the user capacity, \
             at full size {:.0} %",
            100.0 * after,
            100.0 * before
        ));
    }
}

/// A superblock is a share of the drive, but at least a block of each die.
fn superblocks(model: &mut Model, remarks: &mut Vec<String>, divisor: u64) {
    let key = "ftl.superblock_blocks";
    let Some(blocks) = model.optional_integer(key).filter(|&blocks| blocks > 1) else { return };
    shrink(model, key, divisor, 1);
    let kept = model.integer(key);
    remarks.push(format!(
        "superblocks have {kept} of {blocks} blocks: what is written in pieces of their size is smaller by as much"
    ));
}

/// What idle-time cleaning frees beyond the threshold is a share of the drive.
fn idle_cleaning(model: &mut Model, remarks: &mut Vec<String>, divisor: u64) {
    let key = "ftl.idle_cleaning_blocks";
    let (stop, idle) = (model.integer("ftl.cleaning_stop_blocks"), model.integer(key));
    let Some(beyond) = idle.checked_sub(stop).filter(|&beyond| beyond > 0) else { return };
    let exact = beyond as f64 / divisor as f64;
    let kept = exact.round().max(1.0);
    model.replace(key, stop + kept as u64, divisor);
    compare(remarks, "blocks of a die that idle time frees", exact, kept);
}

/// A buffer that groups by superblock holds the same share of the superblocks' data; any other keeps its size, which
/// feeds the dies.
fn buffer(
    model: &mut Model,
    remarks: &mut Vec<String>,
    full: &Size,
    small: &Size,
    merges: bool,
    divisor: u64,
) {
    let key = "write_buffer.size_bytes";
    let before = model.integer(key) as f64;
    if !merges {
        let (full_share, small_share) = (before / full.user_bytes, before / small.user_bytes);
        if small_share - full_share > TOLERANCE {
            remarks.push(format!(
                "the write buffer holds {:.0} % of the user capacity, at full size {:.2} %: more overwrites meet in it",
                100.0 * small_share,
                100.0 * full_share
            ));
        }
        return;
    }
    let row_bytes = small.block_bytes as u64 / model.integer("flash.pages_per_block");
    shrink(model, key, divisor, 2 * row_bytes * model.integer("ftl.interleaved_banks").max(1));
    // Writes of one unit that leave together: one, and those that wait for the same superblock.
    let unit_bytes = model.integer("ftl.map_unit_bytes") as f64;
    let together =
        |buffer: f64, size: &Size| 1.0 + buffer / unit_bytes / (size.user_bytes / size.block_bytes);
    let after = model.integer(key) as f64;
    if model.family() == Family::LogBlockMap {
        remarks.push(
            "log blocks and buffered groups are few and whole: write amplification of random writes on a full drive may \
             differ by a third"
                .to_owned(),
        );
    }
    compare(remarks, "random writes that share a merge", together(before, full), together(after, small));
}

/// Of `n` units on a die about `sqrt(n)` more or fewer are valid, by chance. Where dies take turns, the fullest one, which
/// cleans most, keeps the others waiting.
fn turns(model: &Model, remarks: &mut Vec<String>, small: &Size) {
    if model.text("controller.die_allocation") != "round-robin" {
        return;
    }
    let units = small.user_bytes / small.dies() / model.integer("ftl.map_unit_bytes") as f64;
    let share = 1.0 / units.sqrt() / small.spare_ratio();
    if share > TOLERANCE {
        remarks.push(format!(
            "spare area of a die: varies by {:.0} % with so few map units, and dies that take turns wait for the \
             fullest: random writes of a full drive may be slower by as much",
            100.0 * share
        ));
    }
}

fn compare(remarks: &mut Vec<String>, what: &str, full: f64, small: f64) {
    let difference = (small - full).abs();
    if difference > TOLERANCE * full.abs() && difference > NOTHING {
        remarks.push(format!("{what}: {small:.4}, at full size {full:.4}"));
    }
}
