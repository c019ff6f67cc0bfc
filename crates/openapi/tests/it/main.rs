#![allow(clippy::unwrap_used)]

mod calls;
mod document;
mod llms;
mod reference;
