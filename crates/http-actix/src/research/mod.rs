//! Research runs on the wire: conversion of requests and runs, and streams of events.

mod accept;
mod credential;
pub(crate) mod event_view;
pub(crate) mod request;
mod run_view;
pub(crate) mod stream;

pub(crate) use accept::wants_stream;
pub(crate) use run_view::{entry, run, usage};
