//! Contradictions that are found in a medium.

/// Contradictions that are told one by one; one line says how many more there are.
const MOST_TOLD: usize = 50;

/// Contradictions found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    told: Vec<String>,
    more: u64,
}

impl Findings {
    pub(super) fn push(&mut self, finding: String) {
        if self.told.len() < MOST_TOLD {
            self.told.push(finding);
        } else {
            self.more += 1;
        }
    }

    pub(super) fn into_lines(mut self) -> Vec<String> {
        if self.more > 0 {
            self.told.push(format!("and {} more", self.more));
        }
        self.told
    }
}
