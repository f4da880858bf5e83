//! What texts of a model may be.

use std::ffi::OsStr;
use std::path::Path;

/// Whether a text can name a model: it becomes part of file names. `drive` or `drive@firmware`.
pub(super) fn is_name(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let (drive, firmware) = text.split_once('@').unwrap_or((text, "0"));
    let inside = |letter: char| plain(letter) || letter == '.';
    !drive.is_empty()
        && drive.chars().all(plain)
        && firmware.starts_with(plain)
        && firmware.ends_with(plain)
        && firmware.chars().all(inside)
}

/// Whether a text can mean a model of this name, read from this place: its name, its file's, or any path.
pub(super) fn can_mean(text: &str, name: &str, origin: &str) -> bool {
    let file = Path::new(origin);
    text == name
        || text.contains('/')
        || Path::new(text).extension().is_some_and(|extension| extension == "toml")
        || [file.file_name(), file.file_stem()].contains(&Some(OsStr::new(text)))
}

/// Whether a text is one line of letters: tables and pages show it as it is.
pub(super) fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

/// Whether a text is a month of a year, as 2008-10.
pub(super) fn is_month(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('-').is_some_and(|(year, month)| {
        let months = 1..=12;
        (year.len(), month.len()) == (4, 2)
            && digits(year)
            && digits(month)
            && month.parse().is_ok_and(|month: u8| months.contains(&month))
    })
}
