//! A process that is killed between any two effects leaves an image that opens, is sound, and holds what was flushed;
//! and so does a power cut there, which tears what flash has begun.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::small::{Host, SECTOR, SECTORS, SLC_CACHE, commands, sectors, texts, version};
use drivelab_controller::{Command, Completion, Device, Effects, FlashShape, Op};
use drivelab_drive::{Drive, Model};
use drivelab_image::{Store, Unlimited};

/// A store and what must be in it.
struct Bench {
    model: Arc<Model>,
    store: Store<Vec<u8>, Unlimited>,
    shape: FlashShape,
    /// By sector: least version that a power cut may leave; of a trim that was flushed, 0 too.
    least: Vec<u64>,
    /// By sector: versions written or trimmed (0) since then, in order.
    since: BTreeMap<u64, Vec<u64>>,
}

impl Bench {
    /// Mounts what a kill leaves now, recounts it, and looks at every sector.
    fn look(&self, store: &Store<Vec<u8>, Unlimited>, what: &str) {
        assert_eq!(store.medium().check(), [""; 0], "{what}");
        let mounted = Drive::mount(Arc::clone(&self.model), 7, &[store.medium()]);
        let (drive, _) = mounted.unwrap_or_else(|error| panic!("{what}: {error}"));
        drive.engine().check().unwrap_or_else(|error| panic!("{what}: {error}"));
        // Of a unit that is in flash and in the buffer, the buffer's cell comes last.
        let cells: BTreeMap<u32, u32> = drive.engine().live_cells(0).into_iter().collect();
        let per_unit = u64::from(self.shape.cell_bytes) / SECTOR as u64;
        for lba in 0..SECTORS {
            let cell = cells.get(&((lba / per_unit) as u32)).copied().unwrap_or(0);
            let mut sector = vec![0; SECTOR];
            store.cells().send(cell, (lba % per_unit) as u32, &mut sector).unwrap();
            let said = u64::from_le_bytes(sector[..8].try_into().unwrap());
            assert!(
                said == lba || sector == [0; SECTOR],
                "{what}: sector {lba} in cell {cell} holds sector {said}"
            );
            let (found, least) = (version(lba, &sector), self.least[lba as usize]);
            let newer = self.since.get(&lba).is_some_and(|versions| versions.contains(&found));
            assert!(
                found == least || newer,
                "{what}: sector {lba} is of version {found}, flushed was {least}"
            );
        }
    }

    fn look_both(&self, what: &str) {
        self.look(&self.store, what);
        let mut torn = self.store.clone();
        torn.cut();
        self.look(&torn, &format!("{what}, torn"));
    }

    /// Everything so far survives.
    fn flushed(&mut self) {
        for (lba, versions) in std::mem::take(&mut self.since) {
            self.least[lba as usize] = versions.last().copied().unwrap_or(0);
        }
    }
}

fn kill_everywhere(seed: u64, overrides: &[(&str, &str)], has_capacitor: bool) {
    let model = texts(overrides).parse().unwrap();
    let mut drive = Drive::new(Arc::clone(&model), 7).unwrap();
    let shape = drive.engine().flash_shapes()[0];
    drive.record_effects().unwrap();
    let store = Store::in_memory(&shape).unwrap();
    let least = vec![0; SECTORS as usize];
    let mut bench = Bench { model, store, shape, least, since: BTreeMap::new() };
    let (mut host, mut effects, mut done) = (Host::default(), Effects::default(), Vec::new());
    let trim_unit = u64::from(drive.engine().trim_unit_sectors().unwrap());
    for command in commands(seed, 40) {
        let data = match command.op {
            Op::Write => sectors(command.lba, command.sector_count, u64::from(command.tag)),
            Op::Read => vec![0; command.sector_count as usize * SECTOR],
            Op::Flush | Op::Trim => Vec::new(),
        };
        host.submitted(&command, data);
        let end = command.lba + u64::from(command.sector_count);
        let changed = match command.op {
            Op::Write => (command.lba..end, u64::from(command.tag)),
            Op::Trim => (command.lba.next_multiple_of(trim_unit)..end / trim_unit * trim_unit, 0),
            Op::Flush | Op::Read => (0..0, 0),
        };
        for lba in changed.0 {
            bench.since.entry(lba).or_default().push(changed.1);
        }
        drive.submit(drive.now_ns(), command).unwrap();
        done.clear();
        drive.advance_to_completion(u64::MAX, &mut done);
        drive.take_effects(0, &mut effects);
        for (index, &effect) in effects.list.iter().enumerate() {
            bench.store.carry_out_one(effect, &effects, &mut host).unwrap();
            bench.look_both(&format!("seed {seed}, command {command:?}, effect {index} {effect:?}"));
        }
        assert_eq!(done.iter().map(|done: &Completion| done.tag).collect::<Vec<_>>(), [command.tag]);
        host.completed(command.tag);
        if command.op == Op::Flush || has_capacitor {
            bench.flushed();
        }
    }
    assert_eq!(drive.standby(), []);
    bench.flushed();
    drive.take_effects(0, &mut effects);
    for &effect in &effects.list {
        bench.store.carry_out_one(effect, &effects, &mut host).unwrap();
    }
    bench.look_both("at rest");
}

#[test]
fn a_kill_between_any_two_effects_is_a_power_cut() {
    for seed in 0..6 {
        kill_everywhere(seed, &[], false);
    }
}

#[test]
fn a_kill_of_a_drive_with_a_capacitor_loses_nothing() {
    for seed in 0..6 {
        kill_everywhere(seed, &[("write_buffer.capacitor", "true")], true);
    }
}

#[test]
fn a_kill_of_a_drive_with_an_slc_cache_is_a_power_cut() {
    for seed in 0..6 {
        kill_everywhere(seed, SLC_CACHE, false);
    }
}

#[test]
fn a_command_on_its_own_is_found_whole_after_a_flush() {
    let command = Command::new(1, Op::Write, 0, 8);
    assert_eq!(version(3, &sectors(command.lba, 8, 1)[3 * SECTOR..4 * SECTOR]), 1);
}
