#![doc = include_str!("../README.md")]

mod browser;
mod chromium;
mod devtools;
mod options;
mod page;
mod process;
mod profile;
mod program;
mod proxy;
mod requests;

pub use chromium::Chromium;
pub use options::{BrowserSource, ChromiumOptions, Sandbox, StartError};
pub use program::{PROGRAMS, find_program};
