//! All short sequences of commands on some drives of every family with a map.

use drivelab_drive::Family;

use super::sequences;

/// Values of a model.
type Numbers<'a> = &'a [(&'a str, u64)];
/// Values of a model that are no numbers.
type Words<'a> = &'a [(&'a str, &'a str)];

/// What superblocks ask for.
const ONE_CHANNEL: Numbers<'static> = &[("flash.channel_count", 1), ("flash.dies_per_channel", 2)];

/// All short sequences on some drives of a family.
fn try_sequences(family: Family, drives: &[(Numbers<'_>, Words<'_>)]) {
    for (numbers, words) in drives {
        let (sequences, cuts) = sequences::try_all(family, numbers, words);
        println!("{sequences} sequences, {cuts} power cuts: {numbers:?} {words:?}");
    }
}

#[test]
fn short_sequences_on_a_page_map() {
    try_sequences(
        Family::PageMap,
        &[
            (&[], &[]),
            (
                &[("ftl.map_unit_bytes", 512), ("write_buffer.hold_ns", 1_000_000)],
                &[("write_buffer.coalesce", "false")],
            ),
            (&[("ftl.map_unit_bytes", 2048)], &[("write_buffer.capacitor", "true")]),
            // Every die has a block that is always of the cache, and another.
            (
                &[
                    ("flash.blocks_per_plane", 9),
                    ("flash.slc_read_ns", 20_000),
                    ("flash.slc_program_ns", 80_000),
                    ("slc_cache.max_bytes", 8 * 1024),
                    ("slc_cache.static_bytes", 4 * 1024),
                ],
                &[("flash.cell", "mlc"), ("flash.one_shot", "true"), ("slc_cache.when_full", "wait")],
            ),
            (&[("flash.blocks_per_plane", 15), ("ftl.hint_streams", 6)], &[("ftl.placement", "hint")]),
        ],
    );
}

#[test]
fn short_sequences_on_a_superblock_map() {
    try_sequences(Family::SuperblockMap, &[(ONE_CHANNEL, &[])]);
}

#[test]
fn short_sequences_on_a_log_block_map() {
    try_sequences(Family::LogBlockMap, &[(ONE_CHANNEL, &[])]);
}

#[test]
fn short_sequences_on_a_compressed_map() {
    let values = &[("ftl.granule_bytes", 512), ("flash.page_bytes", 4096)];
    try_sequences(Family::CompressedMap, &[(values, &[])]);
}
