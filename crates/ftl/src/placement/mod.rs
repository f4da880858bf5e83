//! Which write stream a page goes to: what is likely to be overwritten at the same time should lie in the same block. One
//! file per policy, with its state.
//!
//! A page goes to one stream as a whole. Where it holds several units, most of them decide.
//!
//! To add one: its file, with a type that is a `PlacementPolicy` (`policy.rs`), and here its `mod` and its line.
//! Everything else - parameters of models, blocks held back, tests over all policies - goes by this list.

mod hint;
mod host_and_cleaning;
mod hot_cold;
mod one_stream;
mod policy;
#[macro_use]
mod registry;
mod sepbit;
mod streams;

pub use hot_cold::HOT_WRITES_MAX;
pub use policy::PlacementSettings;
pub use streams::{STREAMS_MAX, Stream, StreamCounts};

placement_policies! {
    OneStream(one_stream::OneStream) = "one-stream": "host and cleaning together",
    HostAndCleaning(host_and_cleaning::HostAndCleaning) = "host-and-cleaning": "a stream each",
    HotCold(hot_cold::HotCold) = "hot-cold": "by how often a unit was written lately, host and cleaning apart",
    Sepbit(sepbit::Sepbit) = "sepbit": "by the age of what a unit overwrites, copies by their own",
    Hint(hint::Hint) = "hint": "by the hint that came with the write",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_titles_are_told_once_and_in_order() {
        for (&placement, &name) in Placement::ALL.iter().zip(Placement::NAMES) {
            assert_eq!(placement.name(), name);
            assert!(Placement::HELP.contains(&format!("; {name}: {}", placement.title())));
        }
    }

    #[test]
    fn every_policy_names_only_streams_that_it_has() {
        use drivelab_nand::{BlockIndex, Lpn};

        for hint_streams in [1, 3, STREAMS_MAX as u8] {
            let settings = PlacementSettings { user_units: 40, blocks: 6, hot_writes: 2, hint_streams };
            for &placement in Placement::ALL {
                let streams = placement.streams(&settings);
                assert!(0 < streams.host && streams.host <= streams.all, "{placement:?}");
                assert!(usize::from(streams.all) <= STREAMS_MAX, "{placement:?}");
                let mut policy = Placements::new(placement, &settings);
                for step in 0..400u32 {
                    let units = [step * step % 40, step % 7, step % 3].map(Lpn);
                    policy.hinted(step % 7..step % 7 + 3, (step % 11) as u8);
                    let host = policy.host_stream(&units);
                    assert!(host.0 < streams.host, "{placement:?}: the host's {host:?}");
                    let block = BlockIndex(step % 6);
                    let copies = policy.copy_stream(block, &units);
                    let allowed = if streams.host == streams.all { 0 } else { streams.host }..streams.all;
                    assert!(allowed.contains(&copies.0), "{placement:?}: {copies:?} of copies");
                    policy.emptied(block);
                    policy.opened(block, if step % 2 == 0 { host } else { copies });
                }
            }
        }
    }
}
