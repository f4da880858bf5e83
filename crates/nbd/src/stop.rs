//! How a server is told to stop.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::pipe::PipeFlags;

/// Stops a server from another thread or a signal handler: any byte written to its pipe does. The second one ends the
/// farewell too.
#[derive(Clone, Debug)]
pub struct StopHandle(Arc<OwnedFd>);

impl StopHandle {
    /// A handle, and the end of the pipe that the server watches.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok((Self(Arc::new(writer)), reader))
    }

    /// Asks the server to stop. A full pipe means that it was asked often enough.
    pub fn stop(&self) {
        let _ = rustix::io::write(&*self.0, &[1]);
    }
}

/// The pipe itself, non-blocking, for whatever writes a byte when a signal comes (Python's `signal.set_wakeup_fd`).
impl AsFd for StopHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
