#![doc = include_str!("../README.md")]

mod guarded;
mod limits;
mod pace;
mod registry;
mod slot;

pub use guarded::Guarded;
pub use limits::{Limits, is_trusted, source};
pub use pace::{Pace, Waiting};
pub use slot::{Connections, Requests, Serving, Slot};
