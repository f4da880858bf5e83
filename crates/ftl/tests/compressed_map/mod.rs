//! The compressed map against a plain map, with every book recounted.
//!
//! `write_amplification.rs` has it against arithmetic, `fragments.rs` what is stored once and read together, `map_log.rs`
//! the log of the map and trims.

mod fragments;
mod map_log;
mod write_amplification;

use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{
    Books, CompressedMap, CompressionConfig, Content, Contents, FtlConfig, LogMapping, Mapping, Stored,
    VictimSelection,
};
use drivelab_nand::Lpn;
use proptest::prelude::*;

use crate::one_plane::geometry;
use crate::plain;

const UNIT: u32 = 4096;

fn ftl(user_units: u32, policy: VictimSelection) -> FtlConfig {
    FtlConfig { victim_selection: policy, hint_streams: 5, ..plain::config(user_units) }
}

pub fn compression(parity: bool) -> CompressionConfig {
    CompressionConfig {
        unit_bytes: UNIT,
        granule_bytes: 512,
        parity,
        trims_deferred: false,
        trim_loss_percent: 0,
        map_cache_bytes: 0,
        map_fetch_bytes: 512,
    }
}

/// Packs units into pages as a write buffer does: in order, as many as fit.
struct Packed {
    drive: Untimed<CompressedMap>,
    lpns: Vec<Lpn>,
    stored: Vec<Stored>,
    used: u32,
}

impl Packed {
    fn new(map: CompressedMap) -> Self {
        Self { drive: Untimed::new(map), lpns: Vec::new(), stored: Vec::new(), used: 0 }
    }

    fn write(&mut self, lpn: u32, content: &Content) {
        let stored = self.drive.ftl.stored(content, 0);
        let room = self.drive.ftl.room_of(stored);
        if self.used + room > self.drive.ftl.page_granules() {
            self.flush();
        }
        // What is stored once may be gone by the time a page is written, so room is taken for the whole unit.
        self.used += u32::from(stored.granules);
        if self.used > self.drive.ftl.page_granules() {
            self.flush();
            self.used = u32::from(stored.granules);
        }
        self.lpns.push(Lpn(lpn));
        self.stored.push(stored);
    }

    fn flush(&mut self) {
        if !self.lpns.is_empty() {
            self.drive.write_stored(&self.lpns, &self.stored).unwrap();
        }
        self.lpns.clear();
        self.stored.clear();
        self.used = 0;
    }
}

fn content(kind: u32) -> Content {
    match kind % 6 {
        0 => Content::RANDOM,
        1 => Content::ZEROS,
        2 => Content { compressed_permille: 460, duplicate_permille: 0, pool: 1, seed: kind },
        3 => Content { compressed_permille: 620, duplicate_permille: 500, pool: 3, seed: kind },
        4 => Content { compressed_permille: 1000, duplicate_permille: 900, pool: 2, seed: kind },
        _ => Content { compressed_permille: 10, duplicate_permille: 0, pool: 1, seed: kind },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_loses_or_invents_a_unit(
        page_bytes in prop_oneof![Just(4096u32), Just(8192), Just(16384)],
        dies in 2u32..4,
        parity in any::<bool>(),
        policy in prop::sample::select(VictimSelection::ALL),
        wear in prop_oneof![Just(0u32), Just(2)],
        journal in prop_oneof![Just(0u32), Just(7)],
        trims in 0u32..3,
        lines in prop_oneof![Just(0u32), Just(64), Just(100)],
        units in 50u32..300,
        steps in prop::collection::vec((0u8..20, any::<u32>(), any::<u32>()), 1..2500),
        skew in 1u32..8,
    ) {
        let config = FtlConfig {
            wear_spread_limit: wear,
            journal_updates_per_page: journal,
            checkpoint_updates: 50,
            checkpoint_pages: 3,
            ..ftl(units, policy)
        };
        // Just enough blocks for these units.
        let map = (6..400).find_map(|blocks| {
            let geometry = geometry(dies, blocks, 48 * 4096 / page_bytes + 8, page_bytes);
            let compression = CompressionConfig {
                trims_deferred: trims == 1 && lines > 0 && journal == 0,
                trim_loss_percent: if trims == 2 { 25 } else { 0 },
                map_cache_bytes: if journal == 0 { 2 * lines } else { 0 },
                map_fetch_bytes: lines.max(4),
                ..compression(parity)
            };
            CompressedMap::new(geometry, config.clone(), compression).ok()
        });
        let mut drive = Packed::new(map.unwrap());
        let mut oracle = vec![false; units as usize];
        for (step, (kind, pick, seed)) in steps.into_iter().enumerate() {
            let lpn = (pick % units) / (1 + pick / units % skew);
            match kind {
                0 | 1 => {
                    drive.flush();
                    drive.drive.ftl.begin_trim();
                    drive.drive.ftl.trim(Lpn(lpn));
                    oracle[lpn as usize] = false;
                }
                2 if step % 97 == 0 => {
                    drive.flush();
                    drive.drive.ftl.secure_erase();
                    oracle.fill(false);
                }
                3 => {
                    drive.flush();
                    if pick % 5 == 0 {
                        drive.drive.ftl.rest();
                    }
                }
                _ => {
                    drive.write(lpn, &content(seed));
                    oracle[lpn as usize] = true;
                }
            }
            if step % 32 == 0 {
                drive.drive.ftl.check().map_err(TestCaseError::fail)?;
            }
        }
        drive.flush();
        let ftl = &drive.drive.ftl;
        ftl.check().map_err(TestCaseError::fail)?;
        for (lpn, &written) in oracle.iter().enumerate() {
            prop_assert_eq!(ftl.lookup(Lpn(lpn as u32)).is_some(), written);
        }
        let counters = *ftl.counters();
        prop_assert_eq!(counters.programs(), ftl.flash().program_count());
        let erases = counters.erases_cleaning + counters.erases_wear + counters.erases_map + counters.erases_secure;
        prop_assert_eq!(erases, ftl.flash().erase_total());
    }
}

#[test]
fn impossible_drives_are_refused_by_name() {
    let refusal = |geometry, units, compression| {
        CompressedMap::new(geometry, ftl(units, VictimSelection::Greedy), compression)
            .unwrap_err()
            .to_string()
    };
    let usual = geometry(4, 64, 64, 4096);
    assert!(refusal(usual, 1 << 20, compression(true)).starts_with("user_capacity_bytes"));
    let wide = CompressionConfig { unit_bytes: 8192, ..compression(true) };
    assert!(refusal(usual, 1000, wide).starts_with("ftl.map_unit_bytes"));
    let fine = CompressionConfig { granule_bytes: 16, ..compression(true) };
    assert!(refusal(usual, 1000, fine).starts_with("ftl.granule_bytes"));
    assert!(refusal(geometry(1, 64, 64, 4096), 1000, compression(true)).contains("parity"));
    let whole = CompressionConfig { trims_deferred: true, ..compression(true) };
    assert!(refusal(usual, 1000, whole).starts_with("ftl.trims_deferred"));
}
