//! The file as a file: made under another name first, opened, locked, measured.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::ImageError;
use crate::header::{Header, HeaderFault, PAGE_BYTES};
use crate::lock::lock;
use crate::manifest::{FORMAT_VERSION, FileLayout, Manifest};
use crate::room;
use crate::state::{SLOT_BYTES, State, StateSlots};

/// Makes an image: whole under its name, or not at all.
pub(crate) fn create(path: &Path, manifest: &Manifest, state: &State) -> Result<(), ImageError> {
    if path.symlink_metadata().is_ok() {
        return Err(ImageError::Exists(path.to_owned()));
    }
    let (header, text) =
        manifest.encode().map_err(|what| ImageError::Model { path: path.to_owned(), what })?;
    let partial = partial_name(path);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&partial)
        .map_err(ImageError::io(path, "can't be made"))?;
    lock(&file, &partial, false)?;
    let made =
        write_new(&file, path, (&header, &text), manifest, state).and_then(|()| rename(&partial, path));
    if made.is_err() {
        // It is ours: it was locked. What stays behind of it says by its name what it is.
        let _ = std::fs::remove_file(&partial);
    }
    made
}

/// Beside the image, so that renaming needs no copy.
fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}

fn write_new(
    mut file: &File,
    path: &Path,
    (header, text): (&Header, &[u8]),
    manifest: &Manifest,
    state: &State,
) -> Result<(), ImageError> {
    let write = ImageError::io(path, "can't be written");
    let layout = match Manifest::decode(header, text) {
        Ok((_, layout)) => layout,
        Err(what) => return Err(ImageError::Model { path: path.to_owned(), what }),
    };
    let mut prepare = || -> std::io::Result<()> {
        file.set_len(0)?;
        file.set_len(header.file_bytes)?;
        file.write_all(&header.to_page())?;
        file.write_all(text)
    };
    prepare().map_err(write)?;
    room::allocate(file, 0, layout.state + 2 * SLOT_BYTES, u64::MAX)
        .map_err(|error| ImageError::NoSpace { path: path.to_owned(), what: error.to_string() })?;
    let mut slots = StateSlots::new(layout.state);
    let mut finish = || -> std::io::Result<()> {
        slots.write(file, state)?;
        file.sync_all()
    };
    finish().map_err(ImageError::io(path, "can't be written"))?;
    debug_assert!(Manifest::decode(header, text).is_ok_and(|(read, _)| read == *manifest));
    Ok(())
}

/// Renames where nothing is.
fn rename(partial: &Path, path: &Path) -> Result<(), ImageError> {
    match renameat_with(CWD, partial, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(ImageError::Exists(path.to_owned())),
        // A file system that can't promise it: a link to the same file replaces nothing either.
        Err(Errno::INVAL | Errno::NOSYS) => std::fs::hard_link(partial, path)
            .and_then(|()| std::fs::remove_file(partial))
            .map_err(ImageError::io(path, "can't be renamed")),
        Err(error) => Err(ImageError::io(path, "can't be renamed")(error.into())),
    }
}

/// An open and locked image.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) manifest: Manifest,
    pub(crate) layout: FileLayout,
    pub(crate) state: State,
    pub(crate) slots: StateSlots,
}

/// Opens an image. Only to look at it: nothing of it will change, and others may look too.
pub(crate) fn open(path: &Path, only_look: bool) -> Result<Opened, ImageError> {
    let metadata = path.metadata().map_err(ImageError::io(path, "can't be opened"))?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "no regular file" };
        return Err(ImageError::NotAnImage { path: path.to_owned(), what });
    }
    let file = OpenOptions::new()
        .read(true)
        .write(!only_look)
        .open(path)
        .map_err(ImageError::io(path, "can't be opened"))?;
    lock(&file, path, only_look)?;
    let header = read_header(&file, path)?;
    let mut text = vec![0; header.manifest_bytes as usize];
    let bytes = file.metadata().map_err(ImageError::io(path, "can't be read"))?.len();
    if bytes < PAGE_BYTES + header.manifest_bytes {
        return Err(ImageError::Size { path: path.to_owned(), bytes, needed: header.file_bytes });
    }
    file.read_exact_at(&mut text, PAGE_BYTES).map_err(ImageError::io(path, "can't be read"))?;
    let (manifest, layout) =
        Manifest::decode(&header, &text).map_err(|what| ImageError::damaged(path, what))?;
    if bytes != header.file_bytes {
        return Err(ImageError::Size { path: path.to_owned(), bytes, needed: header.file_bytes });
    }
    let state = StateSlots::read(&file, layout.state).map_err(ImageError::io(path, "can't be read"))?;
    let Some((slots, state)) = state else {
        return Err(ImageError::damaged(path, "neither copy of its state is whole"));
    };
    Ok(Opened { file, manifest, layout, state, slots })
}

fn read_header(file: &File, path: &Path) -> Result<Header, ImageError> {
    let mut page = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, PAGE_BYTES), &mut page)
        .map_err(ImageError::io(path, "can't be read"))?;
    let header = Header::from_page(&page).map_err(|fault| match fault {
        HeaderFault::Magic if page.is_empty() => {
            ImageError::NotAnImage { path: path.to_owned(), what: "an empty file" }
        }
        HeaderFault::Magic => ImageError::NotAnImage { path: path.to_owned(), what: "some other file" },
        HeaderFault::Short => {
            ImageError::Size { path: path.to_owned(), bytes: page.len() as u64, needed: PAGE_BYTES }
        }
        HeaderFault::Check => ImageError::damaged(path, "the checksum of its header doesn't fit"),
        HeaderFault::Lengths => ImageError::damaged(path, "its header has absurd lengths"),
    })?;
    if header.version > FORMAT_VERSION {
        let (version, known) = (header.version, FORMAT_VERSION);
        return Err(ImageError::Newer { path: path.to_owned(), version, known });
    }
    Ok(header)
}
