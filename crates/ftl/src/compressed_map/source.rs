//! Where moved fragments come from.

use serde::{Deserialize, Serialize};

use super::fragments::Key;

/// What is being moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Moving {
    /// Per die: the page of the victim's list that its cursor is on.
    pub source_page: Vec<u32>,
    /// Fragments of the page that is put together.
    pub keys: Vec<(Key, u8)>,
    /// Granules that come from each page read for it.
    pub source_granules: Vec<u32>,
}

impl Moving {
    pub fn new(dies: u32) -> Self {
        Self { source_page: vec![0; dies as usize], keys: Vec::new(), source_granules: Vec::new() }
    }

    /// Granules read from each page for the last page of copies.
    pub fn source_granules(&self) -> &[u32] {
        &self.source_granules
    }
}
