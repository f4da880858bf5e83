//! Which submission queue each job uses, and what class the host gives it.

use drivelab_controller::{Device, QueueClass};

use crate::error::WorkloadError;
use crate::requests::Task;

/// The queue of each task and the class of each queue: a job that names none has one of its own as long as there are
/// enough that nobody named, as operating systems give each processor one; then they share these in turn.
///
/// # Errors
/// A queue that the drive doesn't have, or one that two jobs want in different classes.
pub(super) fn arrange(
    drive: &impl Device,
    tasks: &[Task<'_>],
) -> Result<(Vec<u16>, Vec<QueueClass>), WorkloadError> {
    let count = drive.queue_count();
    let mut classes: Vec<Option<QueueClass>> = vec![None; count.min(1 << 16) as usize];
    let mut queues = Vec::with_capacity(tasks.len());
    let named: Vec<u32> = tasks.iter().filter_map(|task| task.job.queue.map(u32::from)).collect();
    let free: Vec<u32> = (0..count).filter(|queue| !named.contains(queue)).take(tasks.len()).collect();
    let mut in_turn = (if free.is_empty() { (0..count).collect() } else { free }).into_iter().cycle();
    for task in tasks {
        let job = &task.job;
        let key = |name: &str| format!("job '{}': {name}", job.name);
        if let Some(queue) = job.queue.filter(|&queue| u32::from(queue) >= count) {
            let allowed = format!("must be less than {count}, the drive's submission queues");
            return Err(WorkloadError::invalid(key("queue"), queue, allowed));
        }
        let queue = match job.queue {
            Some(queue) => queue,
            None => in_turn.next().unwrap_or(0) as u16,
        };
        let class = classes[usize::from(queue)].get_or_insert(job.queue_class);
        if *class != job.queue_class {
            let allowed = format!("must be {}, as of another job on queue {queue}", class.name());
            return Err(WorkloadError::invalid(key("queue_class"), job.queue_class.name(), allowed));
        }
        queues.push(queue);
    }
    Ok((queues, classes.into_iter().map(Option::unwrap_or_default).collect()))
}
