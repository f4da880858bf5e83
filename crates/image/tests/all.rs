//! The tests of this crate from outside, in one program: each program compiles and links the engine once more.

mod faults;
mod fuzz;
mod images;
mod kept_flash;
mod kills;
mod small;
