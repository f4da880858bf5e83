//! The tests of this crate from outside, in one program: each program compiles and links the engine once more.

mod medium;
