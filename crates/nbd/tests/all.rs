//! The tests of this crate from outside, in one program: each program compiles and links the engine once more.

mod arbitrary;
mod client;
mod commands;
mod drive;
mod fuzz;
mod hostile;
mod options;
mod serving;
