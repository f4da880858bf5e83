//! The rules a job must keep. Each message names the job, the key, the value and what is allowed.

use drivelab_controller::SECTOR_BYTES;

use super::{BlockSize, Job, RateProcess, ReplayPacing, Source};
use crate::distribution::DistributionSpec;
use crate::error::WorkloadError;
use crate::random_map::BLOCKS_MAX;

/// Largest block: 1 GiB, so that rate arithmetic stays within 64 bits.
const BLOCK_BYTES_MAX: u64 = 1 << 30;
/// Most requests one job may keep outstanding.
const QUEUE_DEPTH_MAX: u32 = 65_536;
/// One request per nanosecond: the resolution of virtual time.
const RATE_IOPS_MAX: u64 = 1_000_000_000;
/// fio allows 20; more are no problem here, but a typo should not fill a disk.
const PERCENTILES_MAX: usize = 1000;

impl Job {
    /// Checks every value, for a drive of `capacity_bytes`.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] for the first value that is not allowed.
    pub fn validate(&self, capacity_bytes: u64) -> Result<(), WorkloadError> {
        if self.name.is_empty() {
            return Err(WorkloadError::invalid("job name", "''", "must not be empty"));
        }
        let check = Check { job: self };
        check.times_and_counts()?;
        check.percents()?;
        self.data.validate(|key, value, allowed| check.refuse(key, value, allowed))?;
        match self.source {
            Source::Generated {} => {
                check.sizes()?;
                check.region(capacity_bytes)?;
                check.randomness()
            }
            Source::Requests { pacing, idle_cap_ns } => check.replay(pacing, idle_cap_ns),
        }
    }
}

struct Check<'j> {
    job: &'j Job,
}

impl Check<'_> {
    fn refuse(&self, key: &str, value: impl ToString, allowed: impl Into<String>) -> WorkloadError {
        WorkloadError::invalid(format!("job '{}': {key}", self.job.name), value, allowed)
    }

    fn require(
        &self,
        good: bool,
        key: &str,
        value: impl ToString,
        allowed: impl Into<String>,
    ) -> Result<(), WorkloadError> {
        if good { Ok(()) } else { Err(self.refuse(key, value, allowed)) }
    }

    fn times_and_counts(&self) -> Result<(), WorkloadError> {
        let job = self.job;
        self.require(
            (1..=QUEUE_DEPTH_MAX).contains(&job.queue_depth),
            "queue_depth",
            job.queue_depth,
            format!("must be 1 to {QUEUE_DEPTH_MAX}"),
        )?;
        for (key, value) in [
            ("io_bytes", job.io_bytes),
            ("io_requests", job.io_requests),
            ("runtime_ns", job.runtime_ns),
            ("rate_bytes_per_s", job.rate_bytes_per_s),
            ("loops", Some(job.loops)),
            ("thinktime_blocks", Some(job.thinktime_blocks)),
            ("series_interval_ns", Some(job.series_interval_ns)),
        ] {
            self.require(value != Some(0), key, 0, "must be at least 1")?;
        }
        if let Some(rate) = job.rate_iops {
            let allowed = format!("must be 1 to {RATE_IOPS_MAX}");
            self.require((1..=RATE_IOPS_MAX).contains(&rate), "rate_iops", rate, allowed)?;
        }
        self.require(
            job.rate_process == RateProcess::Linear || job.rate_iops.or(job.rate_bytes_per_s).is_some(),
            "rate_process",
            "poisson",
            "needs rate_iops or rate_bytes_per_s, which says how many come",
        )?;
        self.require(
            !job.time_based || job.runtime_ns.is_some(),
            "time_based",
            true,
            "needs runtime_ns, which says when the job ends",
        )
    }

    fn percents(&self) -> Result<(), WorkloadError> {
        let job = self.job;
        for (key, value) in [("read_percent", job.read_percent), ("random_percent", job.random_percent)] {
            self.require((0.0..=100.0).contains(&value), key, value, "must be 0 to 100")?;
        }
        let count = job.percentiles.len();
        let allowed = format!("has {count} entries; at most {PERCENTILES_MAX} are allowed");
        self.require(count <= PERCENTILES_MAX, "percentiles", "[...]", allowed)?;
        for (index, &percent) in job.percentiles.iter().enumerate() {
            let key = format!("percentiles[{index}]");
            self.require(
                percent > 0.0 && percent <= 100.0,
                &key,
                percent,
                "must be above 0 and at most 100",
            )?;
            let twice = job.percentiles[..index].iter().any(|&other| other.to_bits() == percent.to_bits());
            self.require(!twice, &key, percent, "is in the list already; each may be there once")?;
        }
        Ok(())
    }

    fn sizes(&self) -> Result<(), WorkloadError> {
        let job = self.job;
        self.size_list("block_sizes", &job.block_sizes)?;
        if let Some(sizes) = &job.write_block_sizes {
            self.size_list("write_block_sizes", sizes)?;
        }
        if let Some(sizes) = &job.trim_block_sizes {
            self.size_list("trim_block_sizes", sizes)?;
        }
        let Some(align) = job.align_bytes else { return Ok(()) };
        let good = align > 0 && align.is_multiple_of(SECTOR_BYTES);
        self.require(good, "align_bytes", align, "must be null or a multiple of 512, at least 512")
    }

    fn size_list(&self, key: &str, sizes: &[BlockSize]) -> Result<(), WorkloadError> {
        self.require(!sizes.is_empty(), key, "[]", "needs at least one size")?;
        for (index, size) in sizes.iter().enumerate() {
            let good = (1..=BLOCK_BYTES_MAX).contains(&size.bytes) && size.bytes.is_multiple_of(SECTOR_BYTES);
            let allowed = format!("must be a multiple of 512 from 512 to {BLOCK_BYTES_MAX}");
            self.require(good, &format!("{key}[{index}].bytes"), size.bytes, allowed)?;
            let good = size.weight > 0.0 && size.weight.is_finite();
            self.require(good, &format!("{key}[{index}].weight"), size.weight, "must be above 0")?;
        }
        Ok(())
    }

    fn region(&self, capacity_bytes: u64) -> Result<(), WorkloadError> {
        let job = self.job;
        let offset = job.offset_bytes;
        let good = offset.is_multiple_of(SECTOR_BYTES) && offset < capacity_bytes;
        let allowed =
            format!("must be a multiple of 512 below the drive's capacity of {capacity_bytes} bytes");
        self.require(good, "offset_bytes", offset, allowed)?;
        let span = job.span_bytes_on(capacity_bytes);
        let largest_span = capacity_bytes - offset;
        let good = (1..=largest_span).contains(&span) && span.is_multiple_of(SECTOR_BYTES);
        let allowed = format!(
            "must be a multiple of 512 from 512 to {largest_span}, which is the drive's capacity of \
             {capacity_bytes} bytes less offset_bytes = {offset}"
        );
        self.require(good, "span_bytes", span, allowed)?;
        for (key, sizes) in job.sizes_by_key() {
            for size in sizes {
                let allowed = format!("must fit into the region of {span} bytes");
                self.require(size.bytes <= span, key, size.bytes, allowed)?;
            }
            self.map(sizes, span)?;
        }
        Ok(())
    }

    /// Where requests are of several sizes, every block is remembered that a pass has reached.
    fn map(&self, sizes: &[BlockSize], span: u64) -> Result<(), WorkloadError> {
        let job = self.job;
        if !job.random_map || !job.has_several_sizes() {
            return Ok(());
        }
        let smallest = sizes.iter().map(|size| size.bytes).min().unwrap_or(SECTOR_BYTES);
        let align = job.align_bytes.unwrap_or(smallest);
        let allowed = format!(
            "must be left out, or the smallest block ({smallest}), with random_map and several sizes"
        );
        self.require(align == smallest, "align_bytes", align, allowed)?;
        let blocks = span / smallest;
        let allowed = format!(
            "must be false (norandommap=1 of a fio job) with several block sizes and a region of {blocks} blocks of the \
             smallest; a map has {BLOCKS_MAX} at most"
        );
        self.require(blocks <= BLOCKS_MAX, "random_map", true, allowed)
    }

    fn randomness(&self) -> Result<(), WorkloadError> {
        let job = self.job;
        let uniform = matches!(job.distribution, DistributionSpec::Uniform {});
        job.distribution.validate(|key, value, allowed| self.refuse(key, value, allowed))?;
        if !job.rw.is_random() {
            let kind = job.distribution.kind();
            self.require(uniform, "distribution.kind", kind, "must be uniform when rw is sequential")?;
            let percent = job.random_percent;
            return self.require(
                percent >= 100.0,
                "random_percent",
                percent,
                "must be 100 (its default) when rw is sequential; use a random rw to mix both",
            );
        }
        self.require(
            uniform || !job.random_map,
            "random_map",
            true,
            format!("must be false with distribution {}, which repeats blocks", job.distribution.kind()),
        )
    }

    fn replay(&self, pacing: ReplayPacing, idle_cap_ns: Option<u64>) -> Result<(), WorkloadError> {
        let job = self.job;
        match (pacing, idle_cap_ns) {
            (ReplayPacing::Capped, None) => {
                return Err(self.refuse("source.idle_cap_ns", "null", "must be given with pacing capped"));
            }
            (ReplayPacing::Arrival | ReplayPacing::Closed | ReplayPacing::Think, Some(cap)) => {
                return Err(self.refuse("source.idle_cap_ns", cap, "is allowed with pacing capped only"));
            }
            _ => {}
        }
        self.require(job.loops == 1, "loops", job.loops, "must be 1 when requests are handed over")?;
        let allowed = "must be false when requests are handed over; their number ends the job";
        self.require(!job.time_based, "time_based", true, allowed)?;
        self.require(job.io_requests.is_none(), "io_requests", job.io_requests.unwrap_or_default(), allowed)?;
        let allowed = "must be false when requests are handed over; a flush can be the last of them";
        self.require(!job.flush_at_end, "flush_at_end", true, allowed)?;
        if job.is_open_loop() || job.thinks() {
            let allowed = "must be absent when requests come at recorded times or after processor time (pacing arrival, capped or think)";
            let think = (job.thinktime_ns > 0).then_some(job.thinktime_ns);
            for (key, value) in [
                ("rate_iops", job.rate_iops),
                ("rate_bytes_per_s", job.rate_bytes_per_s),
                ("thinktime_ns", think),
            ] {
                self.require(value.is_none(), key, value.unwrap_or_default(), allowed)?;
            }
        }
        Ok(())
    }
}
