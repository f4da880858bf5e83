//! The tests of this crate from outside, in one program: each program compiles and links the engine once more.

mod bench_runs;
mod busy_time;
mod data;
mod jobs;
mod loops;
mod pacing;
mod pieces;
mod queues;
mod server;
mod session;
mod trace_formats;
mod traces;
