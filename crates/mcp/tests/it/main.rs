#![allow(clippy::unwrap_used)]

mod connector;
mod fake;
mod limits;
mod protocol;
mod tools;
