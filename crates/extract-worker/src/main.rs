//! Standalone extraction worker.

fn main() -> std::process::ExitCode {
    extract_worker::run()
}
