//! What crosses the border, laid out as C lays it out.

use drivelab_controller as controller;
use serde::{Deserialize, Serialize};

/// What a request asks for.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sectors to the host.
    Read = 0,
    /// Sectors from the host.
    Write = 1,
    /// Done when every write acknowledged before it is in flash.
    Flush = 2,
    /// The host no longer needs these sectors.
    Trim = 3,
}

/// How a request ended. Only drives with faults end one in another way than done.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what was asked.
    Done = 0,
    /// A read of sectors that flash can't give back.
    Uncorrectable = 1,
    /// A write or trim of a drive that only reads any more.
    Refused = 2,
    /// Flash has no room left that works.
    Failed = 3,
}

/// The priority of a submission queue, by the numbers of NVM Express. Only weighted round robin (`nvme.arbitration`) looks at it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueClass {
    /// Before all others, however many they are.
    Urgent = 0,
    /// The first weight.
    High = 1,
    /// The second weight.
    Medium = 2,
    /// The third weight.
    Low = 3,
}

/// A request.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// When it is handed over, ns, at most 2^62. Of a time that the drive has passed: now.
    pub time_ns: u64,
    /// First sector of 512 bytes; of a flush it isn't looked at.
    pub lba: u64,
    /// Sectors; of a flush it isn't looked at.
    pub sector_count: u32,
    /// Given back with the completion; the drive doesn't look at it.
    pub tag: u32,
    /// A number of `drivelab_op`.
    pub op: u8,
    /// Not 0: a write is done only when it is in flash (forced unit access).
    pub fua: u8,
    /// Of a write: the write stream that it should go to, for drives with `ftl.placement = "hint"`; 0: none.
    pub hint: u8,
    /// Must be 0.
    pub reserved: u8,
    /// The submission queue that it comes by, of a drive with several (`nvme.queue_count`): one beyond the last is
    /// one of those that there are, in turn.
    pub queue: u16,
    /// Of a write: what compression would save of its bytes, in thousandths, at most 1000; for drives that compress.
    /// Of another request it isn't looked at.
    pub compressible_permille: u16,
}

/// A finished request, and where its time went: the parts add up to `completed_ns - submitted_ns`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// When it was handed over.
    pub submitted_ns: u64,
    /// When the host heard that it is done.
    pub completed_ns: u64,
    /// Waiting for firmware, link, buffer space or a die that were busy with other host work.
    pub queueing_ns: u64,
    /// On the host link.
    pub link_ns: u64,
    /// Firmware working on it.
    pub firmware_ns: u64,
    /// Flash working for it.
    pub flash_ns: u64,
    /// Waiting for flash, or for buffer space, while cleaning held it.
    pub cleaning_ns: u64,
    /// The request's.
    pub tag: u32,
    /// The request's; of a flush 0.
    pub sector_count: u32,
    /// A number of `drivelab_op`.
    pub op: u8,
    /// A number of `drivelab_outcome`.
    pub outcome: u8,
    /// 0.
    pub reserved: [u8; 6],
}

impl Op {
    pub(crate) fn of(number: u8) -> Option<controller::Op> {
        use controller::Op;
        [Op::Read, Op::Write, Op::Flush, Op::Trim].get(usize::from(number)).copied()
    }
}

impl QueueClass {
    pub(crate) fn of(number: u8) -> Option<controller::QueueClass> {
        use controller::QueueClass;
        let classes = [QueueClass::Urgent, QueueClass::High, QueueClass::Medium, QueueClass::Low];
        classes.get(usize::from(number)).copied()
    }
}

impl From<controller::Op> for Op {
    fn from(op: controller::Op) -> Self {
        match op {
            controller::Op::Read => Self::Read,
            controller::Op::Write => Self::Write,
            controller::Op::Flush => Self::Flush,
            controller::Op::Trim => Self::Trim,
        }
    }
}

impl From<controller::Outcome> for Outcome {
    fn from(outcome: controller::Outcome) -> Self {
        match outcome {
            controller::Outcome::Done => Self::Done,
            controller::Outcome::Uncorrectable => Self::Uncorrectable,
            controller::Outcome::Refused => Self::Refused,
            controller::Outcome::Failed => Self::Failed,
        }
    }
}

impl From<controller::Completion> for Completion {
    fn from(done: controller::Completion) -> Self {
        Self {
            submitted_ns: done.submitted_ns,
            completed_ns: done.completed_ns,
            queueing_ns: done.split.queueing_ns,
            link_ns: done.split.link_ns,
            firmware_ns: done.split.firmware_ns,
            flash_ns: done.split.flash_ns,
            cleaning_ns: done.split.cleaning_ns,
            tag: done.tag,
            sector_count: done.sector_count,
            op: Op::from(done.op) as u8,
            outcome: Outcome::from(done.outcome) as u8,
            reserved: [0; 6],
        }
    }
}
