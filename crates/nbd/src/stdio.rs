//! One session over standard input and output, for clients that start their server themselves, and for fuzzing.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno as SystemErrno;
use rustix::time::Timespec;
use serde_json::Value;

use crate::clock::{Clock, Timekeeper};
use crate::conversation::Conversation;
use crate::error::Error;
use crate::export::Export;
use crate::limits::Limits;
use crate::stop::StopHandle;

/// A server of one client over a pair of files. It ends when the client leaves or closes its side.
pub struct StdioServer<E> {
    conversation: Conversation<E>,
    clock: Clock,
    stop: StopHandle,
    stop_reader: OwnedFd,
}

impl<E: Export> StdioServer<E> {
    /// A server that has yet to run.
    ///
    /// # Errors
    /// An option or the export's info is out of its bounds.
    pub fn new(export: E, clock: Clock, limits: &Limits) -> Result<Self, Error> {
        export.info().validate().and_then(|()| clock.validate()).map_err(Error::Option)?;
        limits.validate(export.info().maximum_payload_bytes).map_err(Error::Option)?;
        let (stop, stop_reader) = StopHandle::new().map_err(Error::system("pipe"))?;
        Ok(Self { conversation: Conversation::new(export, limits), clock, stop, stop_reader })
    }

    /// What stops the server.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// What was done, as the control socket's `stats` tells it, without time.
    pub fn statistics(&self) -> Value {
        self.conversation.statistics()
    }

    /// The export, when the server has stopped.
    pub fn into_export(self) -> E {
        self.conversation.into_export()
    }

    /// Serves until the client leaves, or the server is told to stop. Replies may block: nobody else is served.
    ///
    /// # Errors
    /// Input or output fails other than by the client's leaving.
    pub fn run(&mut self, input: impl AsFd, output: impl AsFd) -> Result<(), Error> {
        let mut time = Timekeeper::new(self.clock);
        loop {
            if !self.send(&output)? || self.conversation.is_over() {
                return Ok(());
            }
            let conversation = &mut self.conversation;
            if conversation.can_proceed() {
                conversation.proceed(time.now_ns());
            }
            if time.is_instant() {
                let now_ns = conversation.settle(time.now_ns());
                time.reach(now_ns);
            }
            if conversation.replies().is_empty() && !conversation.can_proceed() {
                self.wait_and_read(&input, &time)?;
            }
            if !time.is_instant() {
                self.conversation.advance(time.now_ns());
            }
        }
    }

    /// Waits for input, the next event or the stop, and reads.
    fn wait_and_read(&mut self, input: &impl AsFd, time: &Timekeeper) -> Result<(), Error> {
        let conversation = &mut self.conversation;
        let timeout = match conversation.next_event() {
            Some(event_ns) if !time.is_instant() => Some(timespec(time.until(event_ns))),
            _ => None,
        };
        let wanted = if conversation.wants_input() { PollFlags::IN } else { PollFlags::empty() };
        let mut files = [PollFd::new(&self.stop_reader, PollFlags::IN), PollFd::new(input, wanted)];
        // A file that has ended is reported whether it is wanted or not.
        let watched = if wanted.is_empty() { &mut files[..1] } else { &mut files[..] };
        match poll(watched, timeout.as_ref()) {
            Ok(_) | Err(SystemErrno::INTR) => {}
            Err(error) => return Err(Error::system("poll")(error)),
        }
        if !files[0].revents().is_empty() {
            let mut bytes = [0; 64];
            let _ = rustix::io::read(&self.stop_reader, &mut bytes);
            conversation.hang_up();
        } else if !files[1].revents().is_empty() {
            match rustix::io::read(input, spare_capacity(conversation.input())) {
                Ok(0) => conversation.hang_up(),
                Ok(_) => conversation.proceed(time.now_ns()),
                Err(SystemErrno::AGAIN | SystemErrno::INTR) => {}
                Err(error) => return Err(Error::system("reading from the client")(error)),
            }
        }
        Ok(())
    }

    /// Sends all replies; false: the client doesn't want them any more.
    fn send(&mut self, output: &impl AsFd) -> Result<bool, Error> {
        while !self.conversation.replies().is_empty() {
            match rustix::io::write(output, self.conversation.replies()) {
                Ok(bytes) => self.conversation.sent(bytes),
                Err(SystemErrno::INTR) => {}
                Err(SystemErrno::AGAIN) => {
                    // Whatever this brings, the write tells.
                    let _ = poll(&mut [PollFd::new(output, PollFlags::OUT)], None);
                }
                Err(SystemErrno::PIPE | SystemErrno::CONNRESET) => return Ok(false),
                Err(error) => return Err(Error::system("writing to the client")(error)),
            }
        }
        Ok(true)
    }
}

fn timespec(time: Duration) -> Timespec {
    let tv_sec = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: i64::from(time.subsec_nanos()) }
}
