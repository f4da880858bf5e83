//! Drives that are broken on purpose, to show that the tests that look after every step can fail.
//!
//! Only tests are built with the feature `sabotage`; without it [`is`] is `false` at compile time, and nothing of this is
//! in the product. What is broken is a matter of the thread, so that tests beside one another don't see it.

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// Pages of the map journal wait until there are a thousand.
    JournalWaits,
    /// Pages of the map journal wait for cleaning, however many there are.
    JournalComesLast,
    /// Every trimmed unit counts as many updates of the map, which nobody puts together.
    TrimsPileUp,
    /// Cleaning begins when the host has no room left.
    CleaningTooLate,
    /// A program's end gives no token back.
    TokenLost,
    /// A program's end gives two tokens back.
    TokenInvented,
    /// Copies that are made stay owed.
    CopiesStayOwed,
    /// A page that is not full does not wait.
    HoldIgnored,
    /// A page that is not full waits without an end.
    HoldAlarmLost,
    /// What comes after a die's job is not looked for.
    DieNotWoken,
    /// A write passes one that waits for buffer space.
    AdmissionSwapped,
    /// Writes that wait for buffer space are forgotten when there is some.
    StallForgotten,
    /// A flush waits for pages that are in flash.
    FlushForgets,
    /// The time on the link is told twice.
    LinkToldTwice,
    /// The time of the firmware is told as waiting.
    FirmwareHidden,
    /// A command is completed before another that was done before.
    CompletionsSwapped,
    /// A command is never completed.
    CompletionLost,
    /// A command is completed twice.
    CompletionTwice,
    /// A command that has left keeps its place.
    SlotKept,
    /// The limit on writes limits reads, too.
    ReadsGoverned,
    /// Units in flash keep their space in the write buffer.
    BufferLeaks,
    /// A read keeps its die for long after its data has left.
    ReadHoldsDie,
    /// The firmware never comes out of a merge.
    MergeNeverEnds,
    /// A group that has waited long enough stays in the buffer.
    GroupForgotten,
    /// A disk writes only when the host waits for it.
    DiskNeverWrites,
    /// An array forgets a piece of a command.
    PieceLost,
    /// Of a superblock that is full only one block is.
    SuperblockHalfClosed,
    /// Data goes where parity should.
    ParityForgotten,
    /// What has had the first of two passes is taken for programmed.
    CoarseTakenAsWhole,
    /// A block is erased though what supersedes its data has had only the first of two passes. Not among those that latency
    /// tells of.
    CoarseFencesNothing,
}

impl Sabotage {
    /// All that are seen without a power cut.
    pub const ALL: [Self; 29] = [
        Self::JournalWaits,
        Self::JournalComesLast,
        Self::TrimsPileUp,
        Self::CleaningTooLate,
        Self::TokenLost,
        Self::TokenInvented,
        Self::CopiesStayOwed,
        Self::HoldIgnored,
        Self::HoldAlarmLost,
        Self::DieNotWoken,
        Self::AdmissionSwapped,
        Self::StallForgotten,
        Self::FlushForgets,
        Self::LinkToldTwice,
        Self::FirmwareHidden,
        Self::CompletionsSwapped,
        Self::CompletionLost,
        Self::CompletionTwice,
        Self::SlotKept,
        Self::ReadsGoverned,
        Self::BufferLeaks,
        Self::ReadHoldsDie,
        Self::MergeNeverEnds,
        Self::GroupForgotten,
        Self::DiskNeverWrites,
        Self::PieceLost,
        Self::SuperblockHalfClosed,
        Self::ParityForgotten,
        Self::CoarseTakenAsWhole,
    ];
}

#[cfg(feature = "sabotage")]
thread_local! {
    static BROKEN: std::cell::Cell<Option<Sabotage>> = const { std::cell::Cell::new(None) };
}

/// Breaks the drives of this thread, or mends them.
#[cfg(feature = "sabotage")]
pub fn set(what: Option<Sabotage>) {
    BROKEN.set(what);
}

/// Whether this is broken.
#[cfg(feature = "sabotage")]
#[inline]
#[must_use]
pub fn is(what: Sabotage) -> bool {
    BROKEN.get() == Some(what)
}

/// Whether this is broken: never.
#[cfg(not(feature = "sabotage"))]
#[inline(always)]
#[allow(clippy::inline_always, reason = "nothing of it is to be left in the product")]
#[must_use]
pub const fn is(_: Sabotage) -> bool {
    false
}
