//! The whole state of a drive as bytes, for the same engine to go on with.
//!
//! What is written follows from the types of this build and from nothing else: another build may read it as another
//! drive or not at all, and who keeps such bytes keeps with them which one wrote them. The version and the model that made
//! it stand in its first line, a sum at its end.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::drive::{Drive, ENGINE_VERSION};
use crate::engine::Engine;
use crate::model::Model;
use crate::partition::Partition;

/// Bytes of the sum at the end.
const SUM_BYTES: usize = size_of::<u128>();

/// What can't be read as the state of a drive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Cut short, changed, or no state at all.
    #[error("no whole state of a drive: {0}")]
    Unreadable(String),
    /// Of another engine, or of another model.
    #[error("the state is of {written}; it must be of {asked}")]
    Other {
        /// What wrote it, and of what.
        written: String,
        /// What it is read as.
        asked: String,
    },
    /// Readable, and its books contradict each other.
    #[error("no state that a drive can be in: {0}")]
    Contradictory(String),
}

/// Passes on what is written, and sums it up.
struct Summed<W> {
    inner: W,
    sum: Xxh3Default,
    /// The system's number for why the last piece wasn't taken, which `postcard` doesn't pass on.
    refused: Option<i32>,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.inner.write(bytes);
        self.refused = taken.as_ref().err().and_then(io::Error::raw_os_error);
        let count = taken?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes a drive, with nothing to know it by.
///
/// # Errors
/// What `out` says.
pub fn write(drive: &Partition<Engine>, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    postcard::to_io(drive, &mut out).map_err(io::Error::other)?;
    out.flush()
}

/// The drive that [`write()`] wrote.
///
/// # Errors
/// [`StateError`] for bytes that are no state of a drive.
pub fn read(bytes: &[u8]) -> Result<Partition<Engine>, StateError> {
    sound(parsed(bytes)?)
}

/// What the bytes are, all of them.
fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StateError> {
    let (value, rest) =
        postcard::take_from_bytes(bytes).map_err(|error| StateError::Unreadable(error.to_string()))?;
    if !rest.is_empty() {
        return Err(StateError::Unreadable(format!("{} bytes are left", rest.len())));
    }
    Ok(value)
}

fn sound(drive: Partition<Engine>) -> Result<Partition<Engine>, StateError> {
    drive.device().check_step().map_err(StateError::Contradictory)?;
    Ok(drive)
}

/// Whose state it is: the engine's version, the model's name and its hash.
fn first_line(model: &Model) -> String {
    format!("drivelab {ENGINE_VERSION}, {} {}", model.name(), model.hash())
}

impl Drive {
    /// Writes everything but the model, commands inside included.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_state(&self, out: impl Write) -> io::Result<()> {
        self.write_state_beside(&(), out)
    }

    /// Writes the state, and beside it what its host keeps of it.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_state_beside<T: Serialize>(&self, beside: &T, out: impl Write) -> io::Result<()> {
        // Numbers come one by one: they are summed up and handed on in pieces.
        let mut pieces = BufWriter::new(Summed { inner: out, sum: Xxh3Default::new(), refused: None });
        writeln!(pieces, "{}", first_line(self.model()))?;
        // As bytes of their own: a state that something else stands beside must not be read as another drive.
        let beside = postcard::to_stdvec(beside).map_err(io::Error::other)?;
        let written = postcard::to_io(&(beside, self.partition()), &mut pieces).map(|_| ());
        written.map_err(|error| {
            pieces.get_ref().refused.map_or_else(|| io::Error::other(error), io::Error::from_raw_os_error)
        })?;
        let mut out = pieces.into_inner().map_err(io::IntoInnerError::into_error)?;
        let sum = out.sum.digest128();
        out.inner.write_all(&sum.to_le_bytes())?;
        out.inner.flush()
    }

    /// The drive of a model that [`write_state`](Self::write_state) wrote.
    ///
    /// # Errors
    /// [`StateError`] for bytes that are no state of a drive of this model.
    pub fn read_state(model: Arc<Model>, bytes: &[u8]) -> Result<Self, StateError> {
        Self::read_state_beside(model, bytes).map(|(drive, ())| drive)
    }

    /// The drive of a model that [`write_state_beside`](Self::write_state_beside) wrote, and what its host kept.
    ///
    /// # Errors
    /// [`StateError`] for bytes that are no state of a drive of this model.
    pub fn read_state_beside<T: DeserializeOwned>(
        model: Arc<Model>,
        bytes: &[u8],
    ) -> Result<(Self, T), StateError> {
        let unreadable = |reason: &str| StateError::Unreadable(reason.to_owned());
        let (content, sum) =
            bytes.split_last_chunk::<SUM_BYTES>().ok_or_else(|| unreadable("too few bytes"))?;
        if xxh3_128(content) != u128::from_le_bytes(*sum) {
            return Err(unreadable("its sum is another"));
        }
        let end =
            content.iter().position(|&byte| byte == b'\n').ok_or_else(|| unreadable("no first line"))?;
        let (written, asked) = (String::from_utf8_lossy(&content[..end]), first_line(&model));
        if written != asked {
            return Err(StateError::Other { written: written.into_owned(), asked });
        }
        let (beside, drive) = parsed::<(Vec<u8>, _)>(&content[end + 1..])?;
        Ok((Self::of_partition(model, sound(drive)?), parsed(&beside)?))
    }
}

#[cfg(test)]
mod tests {
    use drivelab_controller::{Command, Device, Op};

    use super::*;

    fn model(name: &str) -> Arc<Model> {
        let text = include_str!("../examples/small.toml").replacen(
            "name = \"small\"",
            &format!("name = \"{name}\""),
            1,
        );
        Arc::new(Model::parse(&text, name, &[]).unwrap())
    }

    fn written() -> Vec<u8> {
        let mut drive = Drive::new(model("one"), 1).unwrap();
        drive.submit(0, Command::new(1, Op::Write, 0, 64)).unwrap();
        let mut bytes = Vec::new();
        drive.write_state_beside(&7u32, &mut bytes).unwrap();
        bytes
    }

    /// Takes so many bytes.
    struct Small(usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            const ENOSPC: i32 = 28;
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::from_raw_os_error(ENOSPC))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_takes_no_more_says_why() {
        let drive = Drive::new(model("one"), 1).unwrap();
        let mut bytes = Vec::new();
        drive.write_state(&mut bytes).unwrap();
        for room in [0, bytes.len() / 2, bytes.len() - 1] {
            let error = drive.write_state(Small(room)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{error}");
        }
        drive.write_state(Small(bytes.len())).unwrap();
    }

    #[test]
    fn what_was_written_is_read_with_what_stood_beside_it() {
        let (drive, beside) = Drive::read_state_beside::<u32>(model("one"), &written()).unwrap();
        assert_eq!((drive.engine().outstanding(), beside), (1, 7));
        let error = Drive::read_state(model("one"), &written()).unwrap_err();
        assert!(matches!(error, StateError::Unreadable(_)), "{error}");
    }

    #[test]
    fn the_state_of_another_model_is_none_of_this_one() {
        let error = Drive::read_state_beside::<u32>(model("other"), &written()).unwrap_err();
        assert!(matches!(error, StateError::Other { .. }));
        let said = error.to_string();
        assert!(said.contains(", one ") && said.contains(", other "), "{said}");
    }

    #[test]
    fn what_is_not_whole_is_no_state() {
        let bytes = written();
        for end in [0, 15, 16, 17, bytes.len() / 2, bytes.len() - 1] {
            let error = Drive::read_state_beside::<u32>(model("one"), &bytes[..end]).unwrap_err();
            assert!(matches!(error, StateError::Unreadable(_)), "{end} bytes: {error}");
        }
        let mut changed = bytes.clone();
        changed[bytes.len() / 2] ^= 1;
        let error = Drive::read_state_beside::<u32>(model("one"), &changed).unwrap_err();
        assert!(matches!(error, StateError::Unreadable(_)), "{error}");
    }
}
