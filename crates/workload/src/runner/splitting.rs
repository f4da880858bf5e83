//! Requests that are larger than a command may be: the host splits them, as operating systems do.
//!
//! A run in which there may be such hands over all requests as parts, each a command. Parts have tags behind those of the
//! requests; they are handed over in the order of the requests, as far as the drive's queue has room. A request is done
//! when its last part is.

use std::collections::VecDeque;

use drivelab_controller::Op;

use crate::generator::Request;
use crate::job::{BlockSize, Rw};
use crate::requests::{Task, op_of_code};

/// A part of a request on its way to the drive, or in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The tag of the request.
    pub request: u32,
    pub op: Op,
    pub fua: bool,
    pub lba: u64,
    pub sector_count: u32,
    /// No part of the request has been handed over before.
    pub is_first: bool,
}

/// Parts of requests, and how many of each are not done.
#[derive(Debug)]
pub(super) struct Splitting {
    max_sectors: u32,
    waiting: VecDeque<Part>,
    /// In the drive, by tag less those of requests.
    inside: Vec<Option<Part>>,
    free: Vec<u32>,
    /// By the tag of the request: parts that are not done, and sectors of those that are.
    left: Vec<(u32, u32)>,
}

impl Splitting {
    /// For requests with tags below `slots`, on a drive of which some task may ask for more than `max_sectors` at once.
    pub(super) fn needed(tasks: &[Task<'_>], max_sectors: u32, slots: usize) -> Option<Box<Self>> {
        let needs = tasks.iter().any(|task| largest_sectors(task) > u64::from(max_sectors));
        needs.then(|| {
            let left = vec![(0, 0); slots];
            let parts =
                Self { max_sectors, waiting: VecDeque::new(), inside: Vec::new(), free: Vec::new(), left };
            Box::new(parts)
        })
    }

    /// A request is to be handed over.
    pub(super) fn add(&mut self, tag: u32, request: &Request) {
        let Request { op, fua, lba, sector_count, .. } = *request;
        let most = if matches!(op, Op::Read | Op::Write) { self.max_sectors } else { u32::MAX };
        let mut count = 0;
        let mut from = 0;
        while count == 0 || from < sector_count {
            let sectors = (sector_count - from).min(most);
            let lba = lba + u64::from(from);
            self.waiting.push_back(Part {
                request: tag,
                op,
                fua,
                lba,
                sector_count: sectors,
                is_first: count == 0,
            });
            from += sectors;
            count += 1;
        }
        self.left[tag as usize] = (count, 0);
    }

    /// The part that is handed over next, and its tag less those of requests.
    pub(super) fn next(&mut self) -> Option<(u32, Part)> {
        let part = self.waiting.pop_front()?;
        let place = self.free.pop().unwrap_or_else(|| {
            self.inside.push(None);
            self.inside.len() as u32 - 1
        });
        self.inside[place as usize] = Some(part);
        Some((place, part))
    }

    /// The part at this place is done. The tag of its request, and the sectors of all of it if it was the last; `None`: there is
    /// no such part.
    pub(super) fn done(&mut self, place: u32) -> Option<(u32, Option<u32>)> {
        let part = self.inside.get_mut(place as usize)?.take()?;
        self.free.push(place);
        let (left, sectors) = &mut self.left[part.request as usize];
        *left -= 1;
        *sectors += part.sector_count;
        Some((part.request, (*left == 0).then_some(*sectors)))
    }
}

/// The most sectors that a request of a task reads or writes.
fn largest_sectors(task: &Task<'_>) -> u64 {
    let largest = |sizes: &[BlockSize]| sizes.iter().map(|size| size.bytes).max().unwrap_or(0);
    let job = &task.job;
    let Some(requests) = task.requests else {
        let bytes = match job.rw {
            Rw::Read | Rw::RandRead => largest(&job.block_sizes),
            Rw::Write | Rw::RandWrite => largest(job.write_sizes()),
            Rw::Rw | Rw::RandRw => largest(&job.block_sizes).max(largest(job.write_sizes())),
            Rw::Trim | Rw::RandTrim => 0,
        };
        return bytes / drivelab_controller::SECTOR_BYTES;
    };
    let moves = |&(&op, _): &(&u8, &u32)| matches!(op_of_code(op), Some(Op::Read | Op::Write));
    let sectors = requests.op.iter().zip(requests.sector_count).filter(moves);
    sectors.map(|(_, &sectors)| u64::from(sectors)).max().unwrap_or(0)
}
