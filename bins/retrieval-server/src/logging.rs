//! Log output on standard error, as text or JSON.

mod one_line;

use std::io::IsTerminal;

use anyhow::Context;
use settings::{Log, LogFormat};
use tracing_subscriber::EnvFilter;

use one_line::OneLine;

/// Libraries that log every malformed or refused request as an error, though the client is at fault, with the targets that do.
/// They stay silent unless the filter names the library. At `debug`, `s3s` also logs signatures, even the right one for a URL with
/// a wrong one.
const NOISY: [(&str, &[&str]); 2] = [
    ("actix_http", &["actix_http::h1::dispatcher", "actix_http::h1::decoder", "actix_http::h2::dispatcher"]),
    ("s3s", &["s3s"]),
];

/// Installs the log subscriber. `RUST_LOG` overrides the filter of the settings. Panics are logged too.
pub fn start(settings: &Log) -> anyhow::Result<()> {
    // A log that cannot be written, on a full disk, must not end the program: reporting that on standard error would panic.
    let builder = tracing_subscriber::fmt().with_env_filter(filter(settings)?).log_internal_errors(false);
    match settings.format {
        LogFormat::Text => {
            let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            builder.with_target(false).with_ansi(colours).with_writer(move || OneLine { colours }).init();
        }
        LogFormat::Json => {
            // A line has one span at most: that of its request, run or delivery.
            builder
                .json()
                .flatten_event(true)
                .with_span_list(false)
                .with_ansi(false)
                .with_writer(std::io::stderr)
                .init();
        }
    }
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// Returns the filter of the environment, or that of the settings.
///
/// # Errors
/// The filter is invalid.
pub fn filter(settings: &Log) -> anyhow::Result<EnvFilter> {
    match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(filter) if !filter.is_empty() => quiet(&filter).context(EnvFilter::DEFAULT_ENV),
        _ => quiet(&settings.filter).context("log.filter"),
    }
}

/// Returns the filter, without what the libraries of [`NOISY`] log about requests.
fn quiet(filter: &str) -> anyhow::Result<EnvFilter> {
    let mut parsed = EnvFilter::try_new(filter)?;
    let silent = NOISY.into_iter().filter(|(library, _)| !filter.contains(*library));
    for target in silent.flat_map(|(_, targets)| targets) {
        parsed = parsed.add_directive(format!("{target}=off").parse()?);
    }
    Ok(parsed)
}

/// Logs a panic like any other event: its message may quote a document.
fn log_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string).unwrap_or_default();
    let message = panic.payload_as_str().unwrap_or("no message");
    let backtrace = std::backtrace::Backtrace::capture();
    match backtrace.status() {
        std::backtrace::BacktraceStatus::Captured => tracing::error!(location, panic = message, %backtrace, "panic"),
        _ => tracing::error!(location, panic = message, "panic"),
    }
}

/// Returns the text without control characters, for messages that quote foreign text.
pub fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    text.chars().for_each(|c| one_line::push_visible(&mut line, c));
    line
}

#[cfg(test)]
mod tests {
    use super::quiet;

    #[test]
    fn libraries_are_silent_unless_the_filter_names_them() {
        for (filter, expected) in [
            ("debug", (true, true)),
            ("warn,app=debug", (true, true)),
            ("info,actix_http=debug", (false, true)),
            ("info,s3s=debug", (true, false)),
            ("info,s3s::ops=trace,actix_http=warn", (false, false)),
        ] {
            let directives = quiet(filter).expect("a valid filter").to_string();
            let has = |directive: &str| directives.split(',').any(|own| own == directive);
            assert_eq!((has("actix_http::h1::decoder=off"), has("s3s=off")), expected, "{filter}: {directives}");
        }
    }
}
