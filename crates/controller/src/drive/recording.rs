//! A drive whose flash is watched.

use super::{Scheduled, SolidStateDrive};
use crate::flash::Recording;

impl<M: Scheduled> SolidStateDrive<M> {
    /// Notes from now on what dies and buses do.
    pub fn record_flash(&mut self, recording: Recording) {
        self.flash.record(recording);
    }

    /// What has been noted; nothing is from now on.
    pub fn take_recording(&mut self) -> Option<Recording> {
        self.flash.take_recording()
    }
}
