//! A drive in an image, served: requests become commands of the drive, and its completions replies.
//!
//! The server's clock begins at 0 when serving begins, the drive's at power-on: they differ by a constant. A drive that
//! writes a checkpoint is ahead of the server for a while; what completes then is replied when the server's time has come.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use drivelab_controller::{Command, Completion, Device, FaultPlan, MountReport, Op, Outcome, SECTOR_BYTES};
use drivelab_drive::Family;
use drivelab_image::{HostData, ImageDrive, ImageError};
use drivelab_sim::LatencyHistogram;
use serde_json::Value;

use crate::commands::{Commands, Job};
use crate::export::{Errno, Export, ExportInfo, Extent, Reply, Request, RequestKind, Ticket};
use crate::latencies::Latencies;
use crate::recording::Recorder;
use crate::stop::StopHandle;
use crate::watching::Watching;

/// Most sectors of one trim, as many as a command of ATA holds in its first block of ranges.
const TRIM_SECTORS_MAX: u64 = 64 * 65_535;

/// The drive is let alone for so long at most to see when its next completion is.
const LOOK_AHEAD_NS: u64 = 1_000_000_000;

/// Bytes of whose units a block status tells at most, so that none keeps others waiting; a client that wants to know more
/// asks again.
const STATUS_BYTES_MAX: u32 = 1 << 30;

/// Sectors that are written at once where zeros can't be trimmed.
const ZERO_SECTORS: u64 = 2048;

/// How a drive is served.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// Name of the export.
    pub name: String,
    /// Changes are refused.
    pub read_only: bool,
    /// A flush also brings the image to the disk that holds it.
    pub sync: bool,
    /// Faults that happen from the first flash operation on.
    pub faults: FaultPlan,
}

/// A drive under power, as an export.
pub struct DriveExport {
    pub(crate) drive: ImageDrive,
    info: ExportInfo,
    sync: bool,
    /// Time of the drive when the server's was 0.
    origin_ns: u64,
    /// Unit of trims after which a range surely reads as zeros.
    zero_unit_sectors: Option<u64>,
    queue_depth: u32,
    commands: Commands,
    /// Commands that wait for a place in the drive's queue.
    waiting: VecDeque<u32>,
    /// Answers that need no command.
    answers: Vec<(Ticket, Result<(), Errno>)>,
    done: Vec<Completion>,
    /// Completions whose time has not come.
    later: VecDeque<Completion>,
    pub(crate) latencies: Latencies,
    pub(crate) watching: Watching,
    /// How much later than in the model answers left, because the machine was busy; in the drive's time.
    pub(crate) lateness: LatencyHistogram,
    /// Where requests that the drive takes are written to.
    pub recorder: Option<Recorder>,
    pub(crate) fua_requests: u64,
    /// What the drive failed of before its export was told to advance.
    error: Option<ImageError>,
    /// Why the drive can't go on: what it believes is not what its image holds.
    failure: Option<String>,
    stop: Arc<OnceLock<StopHandle>>,
}

impl DriveExport {
    /// Opens an image, and powers its drive on.
    ///
    /// # Errors
    /// [`ImageError`]; nothing has changed then.
    pub fn power_on(path: &Path, options: &ServeOptions) -> Result<Self, ImageError> {
        Ok(Self::new(ImageDrive::power_on_with(path, &options.faults)?, options))
    }

    /// Serves a drive that is under power already.
    #[must_use]
    pub fn new(drive: ImageDrive, options: &ServeOptions) -> Self {
        let (device, model) = (drive.drive(), drive.drive().model());
        let trim_unit_sectors = device.engine().trim_unit_sectors().map(u64::from);
        let mut info = ExportInfo::new(&options.name, device.capacity_sectors() * SECTOR_BYTES);
        info.description = model.title();
        info.read_only = options.read_only;
        info.rotational = model.family() == Family::HardDisk;
        info.can_trim = trim_unit_sectors.is_some();
        info.fast_zero = info.can_trim && model.family() != Family::Raid0;
        Self {
            info,
            sync: options.sync,
            origin_ns: device.now_ns(),
            // A strip of an array may cut units.
            zero_unit_sectors: trim_unit_sectors.filter(|_| model.family() != Family::Raid0),
            queue_depth: device.queue_depth(),
            commands: Commands::default(),
            waiting: VecDeque::new(),
            answers: Vec::new(),
            done: Vec::new(),
            later: VecDeque::new(),
            latencies: Latencies::default(),
            watching: Watching::default(),
            lateness: LatencyHistogram::default(),
            recorder: None,
            fua_requests: 0,
            error: None,
            failure: None,
            stop: Arc::default(),
            drive,
        }
    }

    /// What the server that serves it gives out, so that a power cut can end it.
    #[must_use]
    pub fn stop_when_cut(&self) -> Arc<OnceLock<StopHandle>> {
        Arc::clone(&self.stop)
    }

    /// What SMART tells, as a flat JSON object; `failure` is why no request is carried out any more.
    #[must_use]
    pub fn facts(&self) -> Value {
        let mut told = self.drive.facts();
        told["failure"] = self.failure().into();
        told
    }

    /// What the mount did.
    #[must_use]
    pub fn report(&self) -> &MountReport {
        self.drive.report()
    }

    /// Whether the power was cut while it was served.
    #[must_use]
    pub fn power_was_cut(&self) -> bool {
        self.drive.was_cut()
    }

    /// Why the drive can't go on, if it can't.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Standby, and the power goes off; nothing more is done after a power cut or a failure. Gives whether the drive
    /// went to rest: a fault may cut its power on the way. What it has done can still be asked for: of itself, for
    /// another may have taken the place of its image.
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn rest(&mut self) -> Result<bool, ImageError> {
        self.drive.rest(&mut self.commands)
    }

    /// A request is one command or several, of which the last is a flush for those that can't be forced otherwise.
    fn cut(&mut self, request: &Request, data: &[u8]) {
        let (first, count) = (request.offset / SECTOR_BYTES, u64::from(request.length) / SECTOR_BYTES);
        let mut job = Job::new(request.ticket);
        job.is_write = matches!(request.kind, RequestKind::Write | RequestKind::WriteZeroes);
        job.is_synced = self.sync && (request.fua || request.kind == RequestKind::Flush);
        job.then_flush = request.fua && matches!(request.kind, RequestKind::Trim | RequestKind::WriteZeroes);
        let job = self.commands.begin(job);
        match request.kind {
            RequestKind::Read => self.push(job, Op::Read, first, count, false, None),
            RequestKind::Write => self.push(job, Op::Write, first, count, request.fua, Some(data)),
            RequestKind::Trim => self.push_trims(job, first, count),
            RequestKind::WriteZeroes => self.push_zeroes(job, first, count, request.no_hole),
            RequestKind::Flush | RequestKind::Cache => self.push(job, Op::Flush, 0, 0, false, None),
        }
    }

    fn push(&mut self, job: u32, op: Op, lba: u64, count: u64, fua: bool, data: Option<&[u8]>) {
        let mut command = Command::new(0, op, lba, count as u32);
        command.fua = fua;
        self.waiting.push_back(self.commands.push(job, command, data));
    }

    fn push_trims(&mut self, job: u32, first: u64, count: u64) {
        for begin in (first..first + count).step_by(TRIM_SECTORS_MAX as usize) {
            self.push(job, Op::Trim, begin, (first + count - begin).min(TRIM_SECTORS_MAX), false, None);
        }
    }

    /// Whole units are trimmed, if they may be and the drive does it; the rest is written.
    fn push_zeroes(&mut self, job: u32, first: u64, count: u64, no_hole: bool) {
        let end = first + count;
        let (mut from, mut to) = (end, end);
        if let Some(unit) = self.zero_unit_sectors.filter(|_| !no_hole) {
            from = first.next_multiple_of(unit).min(end);
            to = (end - end % unit).max(from);
        }
        for (begin, stop) in [(first, from), (to, end)] {
            for lba in (begin..stop).step_by(ZERO_SECTORS as usize) {
                self.push(job, Op::Write, lba, (stop - lba).min(ZERO_SECTORS), false, None);
            }
        }
        self.push_trims(job, from, to - from);
    }

    /// Hands over what waits, as far as the drive's queue has places.
    fn feed(&mut self, until_ns: u64) {
        while let Some(&tag) = self.waiting.front()
            && self.drive.drive().engine().outstanding() < self.queue_depth
        {
            let now_ns = self.drive.drive().now_ns().max(until_ns);
            let command = self.commands.command(tag);
            let data = self.commands.written(tag, 0, command.sector_count).unwrap_or_default();
            if self.drive.submit(now_ns, command, data).is_err() {
                break;
            }
            self.waiting.pop_front();
        }
    }

    /// A command is done; replies if it was the last of its request.
    fn finish(&mut self, tag: u32, outcome: Outcome, reply: &mut Reply<'_>) {
        let Some(job) = self.commands.finish(tag, outcome) else { return };
        if let Some(errno) = job.failure {
            // A read of which sectors are lost fails as a whole.
            self.drive.take_unreadable();
            reply(job.ticket, Err(errno));
            return self.commands.release(tag);
        }
        if job.then_flush {
            let mut flush = job;
            flush.then_flush = false;
            let flush = self.commands.begin(flush);
            return self.push(flush, Op::Flush, 0, 0, false, None);
        }
        let synced = if job.is_synced { self.drive.sync() } else { Ok(()) };
        match synced {
            Ok(()) => reply(job.ticket, Ok(self.commands.data(tag))),
            Err(error) => {
                reply(job.ticket, Err(Errno::Io));
                self.commands.release(tag);
                // The system tells of a write that didn't reach its disk only once: no later flush may succeed.
                return self.fail(&error, reply);
            }
        }
        self.commands.release(tag);
    }

    /// Nothing more is carried out: whatever is under way has failed, and so will all that comes. The drive is ahead of
    /// its image by what couldn't be stored, so what it would read, or store when there is room again, may be wrong.
    fn fail(&mut self, error: &ImageError, reply: &mut Reply<'_>) {
        let is_full = matches!(error, ImageError::NoSpace { .. });
        self.failure = Some(error.to_string());
        self.waiting.clear();
        self.later.clear();
        self.done.clear();
        for job in self.commands.abandon() {
            reply(job.ticket, Err(if is_full && job.is_write { Errno::NoSpace } else { Errno::Io }));
        }
    }

    /// The power is gone.
    pub(crate) fn end(&self) {
        if let Some(stop) = self.stop.get() {
            // The second one ends the farewell: nobody is answered any more.
            stop.stop();
            stop.stop();
        }
    }
}

impl Export for DriveExport {
    fn info(&self) -> &ExportInfo {
        &self.info
    }

    fn submit(&mut self, now_ns: u64, request: Request, data: &[u8]) {
        let is_write = matches!(request.kind, RequestKind::Write | RequestKind::WriteZeroes);
        let refusal = if self.failure.is_some() {
            Some(Errno::Io)
        } else if is_write && !self.drive.has_room_for(u64::from(request.length)) {
            Some(Errno::NoSpace)
        } else {
            None
        };
        match refusal {
            Some(errno) => self.answers.push((request.ticket, Err(errno))),
            None if request.kind == RequestKind::Cache => self.answers.push((request.ticket, Ok(()))),
            None => {
                self.fua_requests += u64::from(request.fua);
                if let Some(recorder) = &mut self.recorder {
                    recorder.add(now_ns, &request);
                }
                self.cut(&request, data);
                self.feed(now_ns + self.origin_ns);
            }
        }
    }

    fn next_event(&mut self) -> Option<u64> {
        if self.drive.was_cut() {
            return None;
        }
        if !self.answers.is_empty() {
            return Some(0);
        }
        if self.failure.is_some() {
            return None;
        }
        let later = self.later.front().map(|completion| completion.completed_ns);
        let next_ns = later.into_iter().chain(self.drive.next_event()).min()?;
        Some(next_ns.saturating_sub(self.origin_ns))
    }

    fn next_reply(&mut self, now_ns: u64) -> Option<u64> {
        while self.answers.is_empty() && self.later.is_empty() {
            if self.drive.was_cut() || self.failure.is_some() {
                return None;
            }
            self.feed(now_ns + self.origin_ns);
            let until_ns = self.drive.next_event()?.saturating_add(LOOK_AHEAD_NS);
            let Self { drive, commands, done, .. } = self;
            let advanced = drive.advance_to_completion(until_ns, commands, done);
            self.done.drain(..).for_each(|completion| self.later.push_back(completion));
            if let Err(error) = advanced {
                self.error = Some(error);
                return Some(now_ns);
            }
            if self.drive.was_cut() {
                self.end();
            }
        }
        let reply_ns = self.later.front().map_or(0, |completion| completion.completed_ns);
        Some(reply_ns.saturating_sub(self.origin_ns).max(now_ns))
    }

    fn advance(&mut self, until_ns: u64, reply: &mut Reply<'_>) {
        for (ticket, answer) in self.answers.drain(..) {
            reply(ticket, answer.map(|()| &[][..]));
        }
        if let Some(error) = self.error.take() {
            self.fail(&error, reply);
        }
        let until_ns = until_ns + self.origin_ns;
        while !self.drive.was_cut() && self.failure.is_none() {
            self.feed(until_ns);
            let advanced = self.drive.advance(until_ns, &mut self.commands, &mut self.done);
            self.done.drain(..).for_each(|completion| self.later.push_back(completion));
            let mut was_answered = false;
            while let Some(&completion) = self.later.front()
                && completion.completed_ns <= until_ns
            {
                self.later.pop_front();
                self.latencies.record(&completion);
                self.watching.record(&completion);
                self.lateness.record(until_ns - completion.completed_ns);
                self.finish(completion.tag, completion.outcome, reply);
                was_answered = true;
            }
            if let Err(error) = advanced {
                self.fail(&error, reply);
            }
            if self.drive.was_cut() {
                self.end();
            }
            if !was_answered || self.waiting.is_empty() {
                return;
            }
        }
    }

    fn block_status(&mut self, offset: u64, length: u32, most: usize, extents: &mut Vec<Extent>) {
        extents.clear();
        let length = length.min(STATUS_BYTES_MAX);
        let (mut lba, end) = (offset / SECTOR_BYTES, (offset + u64::from(length)) / SECTOR_BYTES);
        while lba < end && extents.len() < most {
            let (holds, count) = self.drive.drive().engine().allocation(lba, end - lba);
            let length = (count * SECTOR_BYTES) as u32;
            extents.push(Extent { length, hole: !holds, zero: !holds });
            lba += count;
        }
    }
}
