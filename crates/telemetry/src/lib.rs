#![doc = include_str!("../README.md")]

mod collector;
mod counts;
mod exporter;
mod options;
mod payload;
mod queue;
mod wall_time;

pub use collector::{CollectorError, probe};
pub use counts::register_metrics;
pub use exporter::Exporter;
pub use options::{ExporterOptions, OptionsError, Timing};
pub use queue::SpanQueue;

/// Checks the options, without connecting.
///
/// # Errors
/// Options that are no URL or no header.
pub fn check(options: &ExporterOptions) -> Result<(), OptionsError> {
    collector::Collector::new(options).map(drop)
}

/// Creates the queue of spans and the exporter, which is a task of the current runtime.
///
/// # Errors
/// Options that are no URL or no header.
pub fn open(options: ExporterOptions) -> Result<(SpanQueue, Exporter), OptionsError> {
    let collector = collector::Collector::new(&options)?;
    let (queue, spans) = queue::bounded(options.timing.queue);
    Ok((queue, Exporter::start(collector, spans, options)))
}
