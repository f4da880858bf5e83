//! Everything that can be wrong with a request to run a workload.

use drivelab_controller::command::CommandError;

/// Why a workload was not run, or not to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// A value is outside of what is allowed. The message names the key, the value and what is allowed.
    #[error("{key} = {value}: {allowed}")]
    Invalid {
        /// The key, with the job's name in front: `job 'fill': queue_depth`.
        key: String,
        /// The value as it was given.
        value: String,
        /// What is allowed, as a clause: "must be 1 to 65536".
        allowed: String,
    },
    /// A text is not a job: wrong type, unknown key, or no JSON at all.
    #[error("{path}: {message}")]
    Parse {
        /// Where in the text, for example `jobs[0].block_sizes[1].bytes`.
        path: String,
        /// What is wrong there and what is allowed.
        message: String,
    },
    /// A line of a trace can't be understood.
    #[error("{origin}, line {line}: {message}")]
    Trace {
        /// File name.
        origin: String,
        /// 1-based line number.
        line: u64,
        /// What is wrong, the value, and what is allowed.
        message: String,
    },
    /// A file can't be read.
    #[error("can't read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the operating system said.
        reason: String,
    },
    /// Somebody called [`crate::Progress::cancel`].
    #[error("cancelled")]
    Cancelled,
    /// A job is to last for a time, and the drive answers it at once for ever.
    #[error(
        "job '{job}': lasts for a time (runtime, or a ramp), and the drive answers its requests in no time, so that none \
         passes; on this drive a job ends by its bytes, without a ramp"
    )]
    Timeless {
        /// The job's name.
        job: String,
    },
    /// The drive refused a command that the runner believed to be right.
    #[error("the drive refused a command: {0}")]
    Refused(#[from] CommandError),
    /// The drive broke its interface.
    #[error("the drive misbehaved: {0}")]
    Misbehaved(String),
}

impl WorkloadError {
    /// A value outside of what is allowed.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "numbers are passed most of the time")]
    pub fn invalid(key: impl Into<String>, value: impl ToString, allowed: impl Into<String>) -> Self {
        Self::Invalid { key: key.into(), value: value.to_string(), allowed: allowed.into() }
    }
}
