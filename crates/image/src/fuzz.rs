//! Arbitrary changes of an image, for fuzzers of any kind.
//!
//! Flipped bits of a file mostly end at a checksum. So an input is a list of changes that say what they are aimed at, and
//! those of parts with a checksum come with the right one.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use crate::header::{Header, PAGE_BYTES};
use crate::manifest::Manifest;
use crate::state::{HEAD_BYTES as COPY_HEAD_BYTES, SLOT_BYTES, check};

/// Longest file that is made: whoever opens it maps it, but a disk may have to hold it.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// A whole image that is changed again and again.
pub struct Subject {
    header: Header,
    manifest: Vec<u8>,
    /// Everything behind the manifest's last page.
    rest: Vec<u8>,
    /// Within the rest.
    media: Range<usize>,
}

/// A number of up to eight bytes, from an input that may have ended.
fn number(input: &mut &[u8], bytes: usize) -> u64 {
    let (now, later) = input.split_at(bytes.min(input.len()));
    *input = later;
    now.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl Subject {
    /// The bytes of an image.
    ///
    /// # Panics
    /// They are none.
    #[must_use]
    pub fn new(file: &[u8]) -> Self {
        let Ok(header) = Header::from_page(file) else { panic!("no header of an image") };
        let text = &file[PAGE_BYTES as usize..(PAGE_BYTES + header.manifest_bytes) as usize];
        let Ok((_, layout)) = Manifest::decode(&header, text) else { panic!("no manifest of an image") };
        let (state, medium, cells) = (layout.state, layout.media[0].0, layout.media[0].1);
        Self {
            header,
            manifest: text.to_vec(),
            rest: file[state as usize..].to_vec(),
            media: (medium - state) as usize..(cells - state) as usize,
        }
    }

    /// The file that an input makes of it; `media`: flash is changed too. The empty input makes it as it was.
    #[must_use]
    pub fn changed(&self, input: &[u8], media: bool) -> Vec<u8> {
        let (mut header, mut manifest, mut rest) = (self.header, self.manifest.clone(), self.rest.clone());
        let (mut raw, mut input) = (Vec::new(), input);
        while !input.is_empty() {
            let (aim, place, width) =
                (input[0], number(&mut &input[1..], 3), number(&mut &input[4.min(input.len())..], 1));
            input = &input[5.min(input.len())..];
            let value = number(&mut input, 1 + width as usize % 8);
            let slot = (place % 2 * SLOT_BYTES) as usize..((place % 2 + 1) * SLOT_BYTES) as usize;
            match aim % if media { 10 } else { 8 } {
                0 => header.version = value as u32,
                1 => header.manifest_bytes = value,
                2 => header.file_bytes = value,
                3 => put_number(&mut manifest, place, value),
                4 => put_bytes(&mut manifest, place, width, value),
                5 => change_state(&mut rest[slot], |text| put_number(text, place, value)),
                6 => change_state(&mut rest[slot], |text| put_bytes(text, place, width, value)),
                7 => raw.push((place, width, value)),
                _ => put_bytes(&mut rest[self.media.clone()], place, width, value),
            }
        }
        self.assembled(header, &manifest, &rest, &raw)
    }

    fn assembled(&self, header: Header, manifest: &[u8], rest: &[u8], raw: &[(u64, u64, u64)]) -> Vec<u8> {
        let mut header = header;
        header.manifest_check = xxh3_64(manifest);
        if header.manifest_bytes == self.header.manifest_bytes {
            header.manifest_bytes = manifest.len() as u64;
        }
        let mut file = header.to_page();
        file.extend_from_slice(manifest);
        file.resize(file.len().next_multiple_of(PAGE_BYTES as usize), 0);
        file.extend_from_slice(rest);
        for &(place, width, value) in raw {
            match width {
                // A file that is cut off, or goes on.
                200.. => file.resize((value % (2 * file.len() as u64)).min(FILE_BYTES_MAX) as usize, 0),
                100.. => {
                    let end = file.len().min(PAGE_BYTES as usize);
                    put_bytes(&mut file[..end], place, width, value);
                }
                _ => {
                    let end = file.len().saturating_sub(rest.len()) + self.media.start;
                    let end = end.min(file.len());
                    put_bytes(&mut file[..end], place, width, value);
                }
            }
        }
        file
    }
}

/// One of the numbers of a text becomes another.
fn put_number(text: &mut Vec<u8>, place: u64, value: u64) {
    let starts = |&at: &usize| text[at].is_ascii_digit() && (at == 0 || !text[at - 1].is_ascii_digit());
    let numbers: Vec<usize> = (0..text.len()).filter(starts).collect();
    let Some(&begin) = numbers.get(place as usize % numbers.len().max(1)) else { return };
    let end = (begin..text.len()).find(|&at| !text[at].is_ascii_digit()).unwrap_or(text.len());
    text.splice(begin..end, value.to_string().into_bytes());
}

fn put_bytes(bytes: &mut [u8], place: u64, width: u64, value: u64) {
    let at = place as usize % bytes.len().max(1);
    let end = (at + 1 + width as usize % 8).min(bytes.len());
    if let Some(target) = bytes.get_mut(at..end) {
        let length = target.len();
        target.copy_from_slice(&value.to_le_bytes()[..length]);
    }
}

/// Changes the text of a copy of the state, if there is one, and makes its head fit.
fn change_state(slot: &mut [u8], change: impl FnOnce(&mut Vec<u8>)) {
    let length = number(&mut &slot[8..16], 8) as usize;
    let Some(text) = slot.get(COPY_HEAD_BYTES..COPY_HEAD_BYTES.saturating_add(length)) else { return };
    let mut text = text.to_vec();
    change(&mut text);
    text.truncate(slot.len() - COPY_HEAD_BYTES);
    slot[8..16].copy_from_slice(&(text.len() as u64).to_le_bytes());
    let end = COPY_HEAD_BYTES + text.len();
    slot[COPY_HEAD_BYTES..end].copy_from_slice(&text);
    let check = check(&slot[..end]);
    slot[16..24].copy_from_slice(&check.to_le_bytes());
}
