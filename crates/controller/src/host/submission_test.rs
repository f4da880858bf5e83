//! The order of fetching: of one queue always as submitted, among queues as the arbitration says.

use super::*;
use crate::command::Op;
use proptest::prelude::*;

fn queues(config: SubmissionConfig, classes: &[QueueClass]) -> SubmissionQueues {
    let mut queues = SubmissionQueues::new(config);
    queues.set_classes(classes);
    queues
}

fn submit(queues: &mut SubmissionQueues, queue: u16, tag: u32) {
    queues.submit(Command { queue, ..Command::new(tag, Op::Read, 0, 1) }, u64::from(tag));
}

/// Queues of the commands that are fetched.
fn order(queues: &mut SubmissionQueues) -> Vec<u16> {
    std::iter::from_fn(|| queues.fetch()).map(|fetched| fetched.command.queue).collect()
}

#[test]
fn round_robin_gives_every_queue_a_burst_a_turn() {
    let mut queues = queues(SubmissionConfig { queues: 3, burst: 2, ..SubmissionConfig::default() }, &[]);
    for queue in [0, 0, 0, 0, 0, 1, 2, 2, 2] {
        submit(&mut queues, queue, 0);
    }
    assert_eq!(order(&mut queues), [0, 0, 1, 2, 2, 0, 0, 2, 0]);
}

#[test]
fn urgent_queues_come_first_and_the_others_by_weight() {
    use QueueClass::{High, Low, Medium, Urgent};
    let config = SubmissionConfig {
        queues: 4,
        arbitration: Arbitration::WeightedRoundRobin,
        weights: [3, 2, 1],
        ..SubmissionConfig::default()
    };
    let mut queues = queues(config, &[Low, Medium, High, Urgent]);
    for queue in [0, 1, 2].repeat(7).into_iter().chain([3, 3]) {
        submit(&mut queues, queue, 0);
    }
    let found = order(&mut queues);
    assert_eq!(found[..2], [3, 3]);
    assert_eq!(found[2..14], [2, 2, 2, 1, 1, 0, 2, 2, 2, 1, 1, 0]);
    assert_eq!(found.len(), 23);
}

#[test]
fn a_round_robin_knows_no_classes() {
    let config = SubmissionConfig { queues: 2, ..SubmissionConfig::default() };
    let mut queues = queues(config, &[QueueClass::Low, QueueClass::Urgent]);
    for queue in [0, 0, 1, 1] {
        submit(&mut queues, queue, 0);
    }
    assert_eq!(order(&mut queues), [0, 1, 0, 1]);
}

proptest! {
    /// Every command is fetched once, those of a queue in their order, and none waits at the head of its queue for
    /// longer than the arbitration allows.
    #[test]
    fn no_queue_starves(
        count in 1u16..9,
        burst in 0u32..5,
        weights in prop::array::uniform3(1u32..5),
        is_weighted: bool,
        classes in prop::collection::vec(1usize..4, 8),
        steps in prop::collection::vec((0u16..8, any::<bool>()), 1..400),
    ) {
        let config = SubmissionConfig {
            queues: u32::from(count),
            arbitration: if is_weighted { Arbitration::WeightedRoundRobin } else { Arbitration::RoundRobin },
            burst,
            weights,
            ..SubmissionConfig::default()
        };
        let all = [QueueClass::Urgent, QueueClass::High, QueueClass::Medium, QueueClass::Low];
        let classes: Vec<_> = classes.into_iter().map(|class| all[class]).collect();
        let mut queues = queues(config, &classes);
        let mut plain: Vec<VecDeque<u32>> = vec![VecDeque::new(); usize::from(count)];
        let mut passed = vec![0u32; usize::from(count)];
        let others = u32::from(count) - 1;
        // Between two turns of a class: a round of the others' weights, and what was left of its own.
        let bound = if is_weighted { (others * burst + 2) * weights.iter().sum::<u32>() } else { others * burst };
        let mut tag = 0;
        let drain = std::iter::repeat_n((0, true), 400);
        for (queue, fetches) in steps.into_iter().chain(drain) {
            if !fetches {
                let queue = queue % count;
                submit(&mut queues, queue, tag);
                plain[usize::from(queue)].push_back(tag);
                tag += 1;
            } else if let Some(fetched) = queues.fetch() {
                let from = usize::from(fetched.command.queue);
                prop_assert_eq!(plain[from].pop_front(), Some(fetched.command.tag));
                for (queue, waits) in plain.iter().enumerate().filter(|(_, tags)| !tags.is_empty()) {
                    passed[queue] = if queue == from { 0 } else { passed[queue] + 1 };
                    if burst > 0 {
                        prop_assert!(passed[queue] <= bound, "queue {} of {} waits", queue, waits.len());
                    }
                }
                for (queue, tags) in plain.iter().enumerate() {
                    if tags.is_empty() {
                        passed[queue] = 0;
                    }
                }
            }
            prop_assert_eq!(queues.check(), Ok(()));
        }
        prop_assert_eq!(queues.waiting(), 0);
        prop_assert!(plain.iter().all(VecDeque::is_empty));
    }
}
