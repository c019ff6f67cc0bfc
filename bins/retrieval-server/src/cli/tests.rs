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
        assert!(matches!(parsed, Command::Serve(Serve { print_key: true, role: None })), "{arguments:?}: {parsed:?}");
    }
    assert!(matches!(command(&["serve"]).unwrap(), Command::Serve(Serve { print_key: false, role: None })));
}

#[test]
fn option_of_serve_is_refused_by_other_commands() {
    let refused = command(&["--print-key", "migrate"]).unwrap_err();
    assert_eq!((refused.kind(), refused.exit_code()), (ErrorKind::ArgumentConflict, 2));
    assert!(refused.to_string().contains("`--print-key` is an option of `serve`"), "{refused}");
}

#[test]
fn role_is_accepted_before_and_after_serve() {
    for (arguments, expected) in [
        (&["--role", "worker"][..], Some(Role::Worker)),
        (&["--role", "api", "serve"], Some(Role::Api)),
        (&["serve", "--role", "all"], Some(Role::All)),
        (&["serve"], None),
    ] {
        let parsed = command(arguments).unwrap();
        assert!(matches!(parsed, Command::Serve(Serve { role, .. }) if role == expected), "{arguments:?}: {parsed:?}");
    }
    let refused = command(&["--role", "api", "migrate"]).unwrap_err();
    assert!(refused.to_string().contains("`--role` is an option of `serve`"), "{refused}");
}
