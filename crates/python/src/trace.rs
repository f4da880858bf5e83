//! Recorded traces.

