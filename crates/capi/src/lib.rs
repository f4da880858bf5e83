//! The drive behind a small C interface: `drivelab.h`, which `make capi` makes of this file.

#![allow(unsafe_code, reason = "C hands over pointers; what each must be is said at every function")]

mod handle;
mod records;

use std::ffi::{CStr, c_char, c_void};
use std::io::{self, Write};
use std::slice;

use drivelab_drive::ENGINE_VERSION;

pub use handle::Handle;
pub use records::{Completion, Op, Outcome, QueueClass, Request};

/// No event, no limit: the end of time.
pub const DRIVELAB_NEVER: u64 = u64::MAX;

/// Bytes that are enough for every error text, its end included.
pub const DRIVELAB_ERROR_BYTES: usize = 1024;

/// Version of the engine: results of one version are the same, to the bit. The text lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn drivelab_version() -> *const c_char {
    const { concat_version().as_ptr().cast() }
}

const fn concat_version() -> &'static [u8] {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()
}

const _: () = assert!(ENGINE_VERSION.len() + 1 == concat_version().len());

/// A new drive from the texts of a model in TOML: parts that it names first (`models/flash/NAME.toml`), then what it is
/// based on, then the model; later texts win. `seed` decides everything that is random inside.
///
/// NULL if the texts make no drive; then `error` (if it isn't NULL) holds the reason, cut off after `error_bytes`.
///
/// # Safety
/// `texts` points to `text_count` texts that end with 0; `error` to `error_bytes` bytes, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_open(
    texts: *const *const c_char,
    text_count: usize,
    seed: u64,
    error: *mut c_char,
    error_bytes: usize,
) -> *mut Handle {
    // SAFETY: the caller's promise.
    let texts = unsafe { read_texts(texts, text_count) };
    let opened = texts.and_then(|texts| Handle::open(&texts, seed));
    // SAFETY: the caller's promise.
    unsafe { handed_over(opened, error, error_bytes) }
}

/// The end of a drive; NULL is nothing.
///
/// # Safety
/// `drive` came from `drivelab_open`, `drivelab_copy` or `drivelab_restore` and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_close(drive: *mut Handle) {
    if !drive.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(drive) });
    }
}

/// An independent copy of the whole drive as it is now: prepare once, use many times.
///
/// # Safety
/// `drive` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_copy(drive: *const Handle) -> *mut Handle {
    // SAFETY: the caller's promise.
    Box::into_raw(Box::new(unsafe { &*drive }.clone()))
}

/// Writes the whole drive, requests inside and completions not heard of included, for `drivelab_restore` of the same build
/// and the same texts: `write` is called with pieces in order; where it gives false it isn't called again, and this gives
/// false. What is written is as large as a copy is in memory.
///
/// # Safety
/// `drive` is open; `write` isn't NULL, reads no more than `count` of `bytes`, and lets no exception pass.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_save(
    drive: *const Handle,
    write: unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, count: usize) -> bool,
    context: *mut c_void,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { &*drive }.save(Pieces { write, context, has_ended: false }).is_ok()
}

/// The drive that `drivelab_save` wrote, from the texts of its model and all bytes, which are copied. What isn't whole, of
/// another version or of another model is refused: NULL, and the reason in `error` as of `drivelab_open`.
///
/// # Safety
/// As of `drivelab_open`; `bytes` points to `byte_count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_restore(
    texts: *const *const c_char,
    text_count: usize,
    bytes: *const u8,
    byte_count: usize,
    error: *mut c_char,
    error_bytes: usize,
) -> *mut Handle {
    // SAFETY: the caller's promise.
    let texts = unsafe { read_texts(texts, text_count) };
    // SAFETY: the caller's promise. Of no bytes the pointer may be anything.
    let bytes = if byte_count == 0 { &[] } else { unsafe { slice::from_raw_parts(bytes, byte_count) } };
    let restored = texts.and_then(|texts| Handle::restore(&texts, bytes));
    // SAFETY: the caller's promise.
    unsafe { handed_over(restored, error, error_bytes) }
}

/// Erases everything: the new state, except for wear. Time passes as the erasure takes. False: requests are inside
/// (`drivelab_error` says how many), and nothing has happened.
///
/// # Safety
/// `drive` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_secure_erase(drive: *mut Handle) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (*drive).secure_erase() }
}

/// Gives submission queues their classes, numbers of `drivelab_queue_class`, from queue 0 on; the others are medium. Of a
/// drive with one queue they mean nothing. False: requests are inside, or a number isn't known (`drivelab_error`), and
/// nothing has happened.
///
/// # Safety
/// `drive` is open; `classes` points to `count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_set_queue_classes(
    drive: *mut Handle,
    classes: *const u8,
    count: usize,
) -> bool {
    // SAFETY: the caller's promise. Of no classes the pointer may be anything.
    let classes = if count == 0 { &[] } else { unsafe { slice::from_raw_parts(classes, count) } };
    // SAFETY: the caller's promise.
    unsafe { (*drive).set_queue_classes(classes) }
}

/// Size in sectors of 512 bytes.
///
/// # Safety
/// `drive` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_capacity_sectors(drive: *const Handle) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { &*drive }.capacity_sectors()
}

/// Requests that may be inside at once.
///
/// # Safety
/// `drive` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_queue_depth(drive: *const Handle) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { &*drive }.queue_depth()
}

/// Time that the drive has reached, ns.
///
/// # Safety
/// `drive` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_now_ns(drive: *const Handle) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { &*drive }.now_ns()
}

/// When the next thing happens inside, ns, or the time reached, if a completion can be heard of already;
/// `DRIVELAB_NEVER`: nothing will by 2^62 without a new request. Not every event completes one. A simulator that waits
/// until then, or until an event of its own if that is earlier, hands over no request late.
///
/// # Safety
/// `drive` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_next_ns(drive: *mut Handle) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { (*drive).next_ns() }
}

/// Hands over requests in order, each at its time, as long as the drive's queue has room; time passes until then, and
/// what completes meanwhile is kept for `drivelab_wait`. A request whose time has passed, because the queue was full or
/// `drivelab_wait` has let more time pass, is handed over now. Gives the number taken.
///
/// If fewer were taken, the queue is full (`drivelab_error` gives an empty text: wait for a completion, then go on), or
/// the next request is not allowed (`drivelab_error` gives the reason; nothing of it has happened).
///
/// # Safety
/// `drive` is open; `requests` points to `count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_submit(
    drive: *mut Handle,
    requests: *const Request,
    count: usize,
) -> usize {
    // SAFETY: the caller's promise. Of no requests the pointer may be anything.
    let requests = if count == 0 { &[] } else { unsafe { slice::from_raw_parts(requests, count) } };
    // SAFETY: the caller's promise.
    unsafe { (*drive).submit(requests) }
}

/// Lets time pass until something completes, at most until `until_ns`, and gives the number of completions written, in
/// the order of time; what finds no room is given by the next call, before time passes on. 0: `until_ns` is reached, or
/// 2^62 if that is less; or, if it is `DRIVELAB_NEVER`, nothing is inside (and no time has passed); or `capacity` is 0
/// (and no time has passed).
///
/// # Safety
/// `drive` is open; `completions` points to room for `capacity` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_wait(
    drive: *mut Handle,
    until_ns: u64,
    completions: *mut Completion,
    capacity: usize,
) -> usize {
    // SAFETY: the caller's promise.
    let drive = unsafe { &mut *drive };
    let done = drive.wait(until_ns, capacity);
    // SAFETY: no more than the capacity, and nothing of the drive's own memory.
    unsafe { std::ptr::copy_nonoverlapping(done.as_ptr(), completions, done.len()) };
    let count = done.len();
    drive.forget(count);
    count
}

/// Why the last request, erasure or choice of classes was not taken; empty if nothing was wrong with it. Valid until the
/// next call with this drive.
///
/// # Safety
/// `drive` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_error(drive: *const Handle) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { &*drive }.error().as_ptr()
}

/// Cumulative counters (host bytes, bytes programmed by purpose, erases, ...) as a flat JSON object, written to `text`
/// and cut off after `text_bytes`. Gives the bytes needed, the end of the text included; `text` may be NULL to ask.
///
/// # Safety
/// `drive` is open; `text` points to `text_bytes` bytes, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_counters(
    drive: *const Handle,
    text: *mut c_char,
    text_bytes: usize,
) -> usize {
    // SAFETY: the caller's promise.
    let counters = unsafe { &*drive }.counters();
    // SAFETY: the caller's promise.
    unsafe { write_text(&counters, text, text_bytes) }
}

/// What the drive tells of itself (SMART): the counters, and the health of its flash (blocks worn and retired, write
/// amplification, the counts of erases), as a JSON object; otherwise as `drivelab_counters`.
///
/// # Safety
/// As of `drivelab_counters`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn drivelab_smart(drive: *const Handle, text: *mut c_char, text_bytes: usize) -> usize {
    // SAFETY: the caller's promise.
    let smart = unsafe { &*drive }.smart();
    // SAFETY: the caller's promise.
    unsafe { write_text(&smart, text, text_bytes) }
}

/// What C writes with, and where to.
struct Pieces {
    write: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> bool,
    context: *mut c_void,
    /// C wants no more, and may have closed what it wrote to. A buffer that is given up offers its rest again.
    has_ended: bool,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the promise of who called `drivelab_save`.
        self.has_ended =
            self.has_ended || !unsafe { (self.write)(self.context, bytes.as_ptr(), bytes.len()) };
        if self.has_ended { Err(io::Error::other("ended")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A drive for C, or NULL and the reason.
///
/// # Safety
/// `error` points to `error_bytes` bytes, or is NULL.
unsafe fn handed_over(handle: Result<Handle, String>, error: *mut c_char, error_bytes: usize) -> *mut Handle {
    match handle {
        Ok(handle) => Box::into_raw(Box::new(handle)),
        Err(message) => {
            // SAFETY: the caller's promise.
            unsafe { write_text(&message, error, error_bytes) };
            std::ptr::null_mut()
        }
    }
}

/// # Safety
/// `texts` points to `count` texts that end with 0.
unsafe fn read_texts<'a>(texts: *const *const c_char, count: usize) -> Result<Vec<&'a str>, String> {
    if texts.is_null() || count == 0 {
        return Err("a model has at least one text".to_owned());
    }
    // SAFETY: the caller's promise.
    let pointers = unsafe { slice::from_raw_parts(texts, count) };
    let read = |(number, &pointer): (usize, &*const c_char)| {
        // SAFETY: the caller's promise.
        let text = unsafe { CStr::from_ptr(pointer) };
        text.to_str().map_err(|error| format!("text {number} is not UTF-8: {error}"))
    };
    pointers.iter().enumerate().map(read).collect()
}

/// Writes a text and its end, cut off where the room ends; gives the bytes of the whole.
///
/// # Safety
/// `room` points to `bytes` bytes, or is NULL.
unsafe fn write_text(text: &str, room: *mut c_char, bytes: usize) -> usize {
    let whole = text.len() + 1;
    if room.is_null() || bytes == 0 {
        return whole;
    }
    let mut length = text.len().min(bytes - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    // SAFETY: the length and the end fit.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), room, length);
        room.add(length).write(0);
    }
    whole
}
