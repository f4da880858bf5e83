//! Which sockets have something to do (epoll, level-triggered, waits to the nanosecond).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::time::Timespec;

use crate::pending::ClientId;
use crate::table::GENERATION_MASK;

/// Events taken at once.
const EVENTS_MAX: usize = 256;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// An NBD client.
    Client(ClientId),
    /// A client of the control socket.
    Control(ClientId),
    /// A listening socket, by its place.
    Listener(u32),
    /// The stop pipe.
    Stop,
}

impl Token {
    fn pack(self) -> u64 {
        let (kind, index, generation) = match self {
            Self::Client(id) => (0, id.index, id.generation),
            Self::Control(id) => (1, id.index, id.generation),
            Self::Listener(index) => (2, index, 0),
            Self::Stop => (3, 0, 0),
        };
        kind << 62 | u64::from(generation) << 32 | u64::from(index)
    }

    fn unpack(word: u64) -> Self {
        let id = ClientId { index: word as u32, generation: (word >> 32) as u32 & GENERATION_MASK };
        match word >> 62 {
            0 => Self::Client(id),
            1 => Self::Control(id),
            2 => Self::Listener(id.index),
            _ => Self::Stop,
        }
    }
}

/// What a socket is watched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interest {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

impl Interest {
    pub(crate) const READ: Self = Self { read: true, write: false };

    fn flags(self) -> EventFlags {
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, self.read);
        flags.set(EventFlags::OUT, self.write);
        flags
    }
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) token: Token,
    pub(crate) can_read: bool,
    pub(crate) can_write: bool,
    /// The other side has gone, in both directions.
    pub(crate) is_gone: bool,
}

/// Waits for events.
pub(crate) struct Poller {
    epoll: OwnedFd,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)? })
    }

    pub(crate) fn add(&self, fd: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, fd, EventData::new_u64(token.pack()), interest.flags())?)
    }

    pub(crate) fn change(&self, fd: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, fd, EventData::new_u64(token.pack()), interest.flags())?)
    }

    pub(crate) fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, fd)?)
    }

    /// Waits at most so long (`None`: until something happens) and takes what happened. A signal ends the wait early.
    pub(crate) fn wait(&self, timeout: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let timeout = timeout.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        ready.clear();
        let mut room = [MaybeUninit::<epoll::Event>::uninit(); EVENTS_MAX];
        let events = match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        ready.extend(events.iter().map(|event| {
            let (flags, data) = (event.flags, event.data);
            Ready {
                token: Token::unpack(data.u64()),
                can_read: flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR),
                can_write: flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR),
                is_gone: flags.intersects(EventFlags::HUP | EventFlags::ERR),
            }
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_the_kernel() {
        let id = ClientId { index: u32::MAX, generation: GENERATION_MASK };
        for token in [Token::Client(id), Token::Control(id), Token::Listener(7), Token::Stop] {
            assert_eq!(Token::unpack(token.pack()), token);
        }
    }
}
