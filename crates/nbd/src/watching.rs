//! What a served drive tells those who watch it: its blocks, its counters, the latencies of its commands. Nothing of it
//! changes the drive.

use drivelab_controller::{Completion, Device, Op};
use drivelab_drive::{Drive, Inside, Tiles};
use serde_json::{Value, json};

use crate::latencies::Latencies;

/// Viewers whose last look is remembered; whoever has not looked for longest is forgotten, and begins anew.
const VIEWERS_MAX: usize = 4;

/// What was told to viewers, and what of finished commands they want to know.
#[derive(Default)]
pub(crate) struct Watching {
    /// By the numbers that viewers chose, who looked last at the end.
    viewers: Vec<(u64, Tiles)>,
    /// Sums of queueing, link, firmware, flash and cleaning.
    parts_ns: [u128; 5],
}

impl Watching {
    /// A read or write is done.
    #[inline]
    pub(crate) fn record(&mut self, completion: &Completion) {
        if !matches!(completion.op, Op::Read | Op::Write) {
            return;
        }
        let split = &completion.split;
        let parts = [split.queueing_ns, split.link_ns, split.firmware_ns, split.flash_ns, split.cleaning_ns];
        for (sum, part) in self.parts_ns.iter_mut().zip(parts) {
            *sum += u128::from(part);
        }
    }

    /// What has changed since this viewer's last look.
    pub(crate) fn look(&mut self, viewer: u64, drive: &Drive, latencies: &Latencies) -> Value {
        let mut tiles = match self.viewers.iter().position(|&(known, _)| known == viewer) {
            Some(place) => self.viewers.remove(place).1,
            None => Tiles::default(),
        };
        let engine = drive.engine();
        let changes = tiles.changes(engine);
        if self.viewers.len() == VIEWERS_MAX {
            self.viewers.remove(0);
        }
        self.viewers.push((viewer, tiles));
        let (bins, sum_ns) = latencies.transfers();
        let waiting = drive.queue_lengths();
        json!({
            "now_ns": drive.now_ns(),
            "count": changes.count,
            "whole": changes.is_whole,
            "valid_count": changes.valid_count,
            "next": changes.next_sequences,
            "worked_ns": changes.worked_ns,
            "blocks": hexadecimal(&changes.bytes),
            "counters": drive.counters(),
            "latency": {
                "bins": bins,
                "sum_ns": sum_ns as f64,
                "parts_ns": self.parts_ns.map(|part| part as f64),
            },
            "inside": engine.outstanding() - waiting.iter().sum::<u32>(),
            "waiting": waiting,
        })
    }
}

/// Where blocks are: those of a die follow each other, dies in this order.
pub(crate) fn layout(drive: &Drive) -> Value {
    let Inside { blocks, dies } = Inside::of(drive.engine());
    json!({
        "block_count": blocks.die.len(),
        "member": dies.member,
        "die": dies.die,
        "channel": dies.channel,
        "model": drive.model().name(),
        "title": drive.model().title(),
        "capacity_bytes": drive.capacity_sectors() * drivelab_controller::SECTOR_BYTES,
    })
}

/// The pages of a block; null if there is none.
pub(crate) fn block(request: &Value, drive: &Drive) -> Value {
    let number = |key: &str| request[key].as_u64().and_then(|number| u32::try_from(number).ok());
    let (Some(member), Some(die), Some(block)) = (number("member"), number("die"), number("block")) else {
        return Value::Null;
    };
    let pages = drive.engine().block_pages(member, die, block);
    pages.map_or(Value::Null, |pages| json!({ "states": pages.state, "units": pages.lpn }))
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::hexadecimal;

    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(hexadecimal(&[0, 10, 255]), "000aff");
    }
}
