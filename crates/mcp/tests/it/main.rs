#![allow(clippy::unwrap_used)]

mod arguments;
mod connector;
mod fake;
mod files;
mod protocol;
mod reading;
mod researching;
mod searching;
mod tools;
