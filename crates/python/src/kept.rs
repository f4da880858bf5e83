//! A drive whose flash is kept in memory, so that its power can be cut and come back: for drives of a few pages, of which
//! everything can be shown.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use drivelab_controller::{Command, Completion, Device, Effects, Op, SECTOR_BYTES};
use drivelab_image::{HostData, Store, Unlimited};
use drivelab_nand::BlockIndex;
use drivelab_nand::op::{NO_CELL, Record};
use drivelab_nand::view::{BlockState, FoundBlock, FoundPage, MediumView};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors;
use crate::model::Model;

const SECTOR: usize = SECTOR_BYTES as usize;
/// Bytes of the mark that the sectors of a write hold.
const MARK_BYTES: usize = 8;
const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Flush, Op::Trim];

/// Bytes of commands under way, by tag.
#[derive(Default)]
struct Host {
    data: BTreeMap<u32, Vec<u8>>,
}

impl HostData for Host {
    fn written(&self, tag: u32, offset: u32, count: u32) -> Option<&[u8]> {
        self.data.get(&tag)?.get(sectors(offset, count))
    }

    fn to_read(&mut self, tag: u32, offset: u32, count: u32) -> Option<&mut [u8]> {
        self.data.get_mut(&tag)?.get_mut(sectors(offset, count))
    }
}

fn sectors(first: u32, count: u32) -> std::ops::Range<usize> {
    first as usize * SECTOR..(first + count) as usize * SECTOR
}

fn mark_of(sector: &[u8]) -> u64 {
    let mut bytes = [0; MARK_BYTES];
    bytes.copy_from_slice(&sector[..MARK_BYTES]);
    u64::from_le_bytes(bytes)
}

/// A medium, and the pages whose out-of-band data was read of it, in order.
struct Read<'a> {
    medium: &'a dyn MediumView,
    pages: RefCell<Vec<(u32, u32)>>,
}

impl MediumView for Read<'_> {
    fn block_count(&self) -> u32 {
        self.medium.block_count()
    }

    fn block(&self, block: BlockIndex) -> FoundBlock {
        self.medium.block(block)
    }

    fn page(&self, block: BlockIndex, page: u32) -> Option<FoundPage> {
        self.medium.page(block, page)
    }

    fn records(&self, block: BlockIndex, page: u32, out: &mut Vec<Record>) {
        let mut pages = self.pages.borrow_mut();
        if !pages.contains(&(block.0, page)) {
            pages.push((block.0, page));
        }
        self.medium.records(block, page, out);
    }

    fn checkpoint_sequence(&self) -> Option<u64> {
        self.medium.checkpoint_sequence()
    }

    fn checkpoint_entry(&self, lpn: u32) -> u32 {
        self.medium.checkpoint_entry(lpn)
    }

    fn log(&self, out: &mut Vec<Record>) {
        self.medium.log(out);
    }

    fn held(&self, out: &mut Vec<(u32, u32)>) {
        self.medium.held(out);
    }
}

/// A drive whose flash is kept in memory.
#[pyclass(module = "drivelab._engine")]
pub struct KeptDrive {
    model: Arc<drivelab_drive::Model>,
    seed: u64,
    drive: drivelab_drive::Drive,
    store: Store<Vec<u8>, Unlimited>,
    effects: Effects,
    host: Host,
    is_on: bool,
}

impl KeptDrive {
    /// What the drive has done happens to its flash; a checkpoint that is due is written.
    fn carry_out(&mut self, done: &mut Vec<Completion>) -> PyResult<()> {
        loop {
            self.drive.take_effects(0, &mut self.effects);
            self.store.carry_out(&self.effects, &mut self.host).map_err(|error| errors::failed(&error))?;
            if !self.drive.engine().wants_checkpoint() {
                return Ok(());
            }
            done.extend(self.drive.standby());
        }
    }

    fn check_power(&self) -> PyResult<()> {
        if self.is_on { Ok(()) } else { Err(errors::WorkloadError::new_err("the power is off")) }
    }
}

#[pymethods]
impl KeptDrive {
    #[new]
    fn new(model: &Model, seed: u64) -> PyResult<Self> {
        let model = Arc::clone(&model.shared);
        let mut drive = drivelab_drive::Drive::new(Arc::clone(&model), seed).map_err(errors::model)?;
        drive.record_effects().map_err(errors::WorkloadError::new_err)?;
        let shapes = drive.engine().flash_shapes();
        let [shape] = &shapes[..] else {
            return Err(errors::WorkloadError::new_err("an array has several media; one can be kept here"));
        };
        let store = Store::in_memory(shape).map_err(|error| errors::failed(&error))?;
        let (effects, host) = (Effects::default(), Host::default());
        Ok(Self { model, seed, drive, store, effects, host, is_on: true })
    }

    /// Hands over a command; op 0 read, 1 write, 2 flush, 3 trim. Every sector of a write holds `mark`.
    #[allow(clippy::too_many_arguments, reason = "a command")]
    fn submit(
        &mut self,
        tag: u32,
        op: usize,
        lba: u64,
        sector_count: u32,
        mark: u64,
        fua: bool,
    ) -> PyResult<()> {
        self.check_power()?;
        let Some(&op) = OPS.get(op) else {
            return Err(errors::WorkloadError::new_err(format!("op = {op}: must be 0 to 3")));
        };
        let mut data = vec![0; sector_count as usize * SECTOR];
        if op == Op::Write {
            data.chunks_mut(SECTOR)
                .for_each(|sector| sector[..MARK_BYTES].copy_from_slice(&mark.to_le_bytes()));
        }
        let command = Command { fua, ..Command::new(tag, op, lba, sector_count) };
        let now_ns = self.drive.now_ns();
        self.drive
            .submit(now_ns, command)
            .map_err(|error| errors::WorkloadError::new_err(error.to_string()))?;
        self.host.data.insert(tag, data);
        Ok(())
    }

    /// When something next happens; none: nothing does by itself.
    fn next_event(&mut self) -> PyResult<Option<u64>> {
        self.check_power()?;
        Ok(self.drive.next_event())
    }

    /// Lets the drive work until this time of its clock. Completions in order: tag, when, and of a read the mark of each
    /// sector.
    fn advance(&mut self, until_ns: u64) -> PyResult<Vec<(u32, u64, Vec<u64>)>> {
        self.check_power()?;
        let mut done = Vec::new();
        self.drive.advance(until_ns, &mut done);
        self.carry_out(&mut done)?;
        let told = done.iter().map(|completion| {
            let data = self.host.data.remove(&completion.tag).unwrap_or_default();
            let is_read = completion.op == Op::Read;
            let marks = data.chunks(SECTOR).filter(|_| is_read).map(mark_of).collect();
            (completion.tag, completion.completed_ns, marks)
        });
        Ok(told.collect())
    }

    /// The power fails now: what flash has begun is torn, and what is only in memory is gone.
    fn cut(&mut self) -> PyResult<()> {
        self.check_power()?;
        self.store.cut();
        self.host.data.clear();
        self.is_on = false;
        Ok(())
    }

    /// The power comes back. JSON of what the mount did, and of the pages whose out-of-band data it read, in order.
    fn power_on(&mut self) -> PyResult<String> {
        if self.is_on {
            return Err(errors::WorkloadError::new_err("the power is on"));
        }
        let read = Read { medium: self.store.medium(), pages: RefCell::default() };
        let mounted = drivelab_drive::Drive::mount(Arc::clone(&self.model), self.seed, &[&read]);
        let (drive, report) = mounted.map_err(|what| errors::failed(&what))?;
        let told = json!({
            "duration_ns": report.duration_ns,
            "pages_read": report.pages_read,
            "held_units": report.held_units,
            "unused_blocks": report.unused_blocks,
            "read": read.pages.into_inner(),
        });
        (self.drive, self.is_on) = (drive, true);
        self.carry_out(&mut Vec::new())?;
        Ok(told.to_string())
    }

    /// JSON of what the flash holds, with power or without: of each block its erases, and of each page whether it is
    /// erased, programmed or torn, its number in the order of programs, and unit and mark of what is on it.
    fn flash(&self) -> String {
        let medium = self.store.medium();
        let pages = self.store.medium().shape().pages_per_block;
        let mut records = Vec::new();
        let mut page_of = |block: BlockIndex, found: &FoundBlock, page: u32| {
            if page >= found.write_pointer {
                return json!({ "state": "erased" });
            }
            let Some(head) = medium.page(block, page) else { return json!({ "state": "torn" }) };
            records.clear();
            medium.records(block, page, &mut records);
            let units: Vec<Value> = records.iter().map(|record| self.unit_of(record)).collect();
            json!({ "state": "programmed", "sequence": head.sequence, "units": units })
        };
        let blocks = (0..medium.block_count()).map(BlockIndex).map(|block| {
            let found = medium.block(block);
            json!({
                "erase_count": found.erase_count,
                "torn": found.state == BlockState::TornErase,
                "pages": (0..pages).map(|page| page_of(block, &found, page)).collect::<Vec<_>>(),
            })
        });
        Value::Array(blocks.collect()).to_string()
    }

    /// JSON of every page's state, as the drive's map has it.
    fn page_states(&self) -> String {
        self.drive.page_states().to_string()
    }

    /// Virtual time that the drive has reached since its power came, in ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.drive.now_ns()
    }
}

impl KeptDrive {
    /// A unit on a page: its number, and the mark that its first sector holds.
    fn unit_of(&self, record: &Record) -> Value {
        let place = if record.cell == NO_CELL { None } else { self.store.cells().place(record.cell, 1).ok() };
        let mark = place.map_or(0, |place| mark_of(&self.store.cells().bytes()[place]));
        json!({ "lpn": record.lpn.0, "mark": mark })
    }
}
