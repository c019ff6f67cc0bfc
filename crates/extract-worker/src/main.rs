//! The extraction worker as a program of its own.

fn main() -> std::process::ExitCode {
    extract_worker::run()
}
