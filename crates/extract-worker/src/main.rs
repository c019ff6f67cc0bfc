//! The extraction worker as a program of its own, for services that have no hidden subcommand for it.

fn main() -> std::process::ExitCode {
    extract::worker::run()
}
