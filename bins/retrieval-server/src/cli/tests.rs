#![expect(clippy::unwrap_used, reason = "tests")]
use super::*;

fn command(arguments: &[&str]) -> Result<Command, clap::Error> {
    Cli::try_parse_from([&["retrieval-server"], arguments].concat()).unwrap().into_command()
}

#[test]
fn command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn print_key_is_accepted_before_and_after_serve() {
    for arguments in [&["--print-key"][..], &["--print-key", "serve"], &["serve", "--print-key"]] {
        let parsed = command(arguments).unwrap();
        assert!(matches!(parsed, Command::Serve(Serve { print_key: true })), "{arguments:?}: {parsed:?}");
    }
    assert!(matches!(command(&["serve"]).unwrap(), Command::Serve(Serve { print_key: false })));
}

#[test]
fn option_of_serve_is_refused_by_other_commands() {
    let refused = command(&["--print-key", "migrate"]).unwrap_err();
    assert_eq!((refused.kind(), refused.exit_code()), (ErrorKind::ArgumentConflict, 2));
    assert!(refused.to_string().contains("`--print-key` is an option of `serve`"), "{refused}");
}
