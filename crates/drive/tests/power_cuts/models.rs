//! Tiny drives of every family: the random models of the other tests, with flash so small that every operation can be
//! cut and every sector read in microseconds.

use drivelab_drive::{Family, Model};
use drivelab_sim::Stream;

use crate::values::{self, Random, Values};

/// Erase blocks of a tiny drive, about.
const BLOCKS: u64 = 24;

fn number(values: &Values, key: &str) -> Option<u64> {
    values.iter().find(|(name, _)| name == key)?.1.parse().ok()
}

fn set(values: &mut Values, key: &str, value: u64) {
    match values.iter_mut().find(|(name, _)| name == key) {
        Some(known) => known.1 = value.to_string(),
        None => values.push((key.to_owned(), value.to_string())),
    }
}

/// At most a handful of dies, and some twenty blocks in all.
fn shrink(values: &mut Values, random: &mut Random) {
    let planes = number(values, "flash.planes_per_die").unwrap_or(1);
    let lockstep = number(values, "flash.lockstep_channels").unwrap_or(1);
    let channels = number(values, "flash.channel_count").unwrap_or(1) / lockstep;
    let dies = number(values, "flash.dies_per_channel").unwrap_or(1);
    let (channels, dies) = if channels * dies > 4 { (2, 2) } else { (channels, dies) };
    set(values, "flash.channel_count", channels * lockstep);
    set(values, "flash.dies_per_channel", dies);
    let most = (BLOCKS / (channels * dies * planes)).max(4);
    let blocks = number(values, "flash.blocks_per_plane").unwrap_or(1);
    if blocks > 1 {
        set(values, "flash.blocks_per_plane", random.between(4.min(most), most));
    }
}

fn parse(values: &Values) -> Result<Model, drivelab_drive::ModelError> {
    Model::parse("name = 'tiny'\ntitle = 'Tiny'", "tiny", values)
}

/// A drive of two dies, with these values beside or in place of its own.
pub fn fixed(family: Family, numbers: &[(&str, u64)], words: &[(&str, &str)]) -> Model {
    let mut values = vec![("family".to_owned(), family.word().to_owned())];
    values.extend(words.iter().map(|&(key, word)| (key.to_owned(), word.to_owned())));
    let own = [
        ("flash.channel_count", 2),
        ("flash.dies_per_channel", 1),
        ("flash.planes_per_die", 1),
        ("flash.blocks_per_plane", 7),
        ("flash.pages_per_block", 4),
        ("flash.page_bytes", 1024),
        ("flash.read_ns", 50_000),
        ("flash.program_ns", 200_000),
        ("flash.erase_ns", 700_000),
        ("flash.bus_bytes_per_s", 40_000_000),
        ("link.bytes_per_s", 200_000_000),
        ("ftl.map_unit_bytes", 1024),
        ("write_buffer.size_bytes", 4096),
        ("user_capacity_bytes", 16 * 1024),
    ];
    for &(key, value) in own.iter().chain(numbers) {
        set(&mut values, key, value);
    }
    match parse(&values) {
        Ok(model) => model,
        Err(error) => panic!("{error}"),
    }
}

/// The model of a seed: the first of some random ones that makes a drive.
pub fn model(seed: u64, family: Family) -> Option<Model> {
    (0..20).find_map(|attempt| attempted(seed + (attempt << 32), family))
}

/// A capacity that is too large is replaced by the largest that the message allows.
fn attempted(seed: u64, family: Family) -> Option<Model> {
    let mut values = values::of_seed(seed, family);
    if values.iter().any(|(_, value)| value == "rewrite-in-place") {
        return None;
    }
    shrink(&mut values, &mut Random(Stream::new(seed, 7)));
    match parse(&values) {
        Ok(model) => Some(model),
        Err(error) => {
            let message = error.to_string();
            let (_, limit) = message.split_once("bytes) to ")?;
            let most = limit.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()?;
            set(&mut values, "user_capacity_bytes", most);
            parse(&values).ok()
        }
    }
}
