//! The renderer with the Chromium of this machine. Without one the tests say so, and so does `cargo xtask test`.
#![expect(clippy::unwrap_used, reason = "tests")]

mod confinement;
mod hostile;
mod lifecycle;
mod pages;
mod proxy;
mod remote;
mod site;
mod support;
