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

#[test]
fn refused_values_are_named_with_their_range() {
    let key = "key create --org a4a70900-24e1-11df-8924-001ff3591711 --name x --limit-rps";
    let balance = "balance add --org a4a70900-24e1-11df-8924-001ff3591711 --cents";
    for (arguments, named) in [
        ("admin org create --name x --prepaid-cents -1".to_owned(), "'--prepaid-cents <N>': -1 is not in 0.."),
        (format!("admin {key} -1"), "'--limit-rps <N>': -1 is not in 1..=2147483647"),
        (format!("admin {key} 2147483648"), "'--limit-rps <N>': 2147483648 is not in 1..=2147483647"),
        (format!("admin {balance} -1"), "'--cents <N>': -1 is not in 0.."),
        ("admin audit --limit -1".to_owned(), "'--limit <N>': -1 is not in 1.."),
        ("web list --limit 0".to_owned(), "'--limit <N>': 0 is not in 1.."),
        ("web crawl https://e.com/ --limit -1".to_owned(), "'--limit <N>': -1 is not in 1.."),
        ("web crawl https://e.com/ --depth -1".to_owned(), "'--depth <N>': -1 is not in 0.."),
    ] {
        let refused = Cli::try_parse_from(["retrieval-server"].into_iter().chain(arguments.split(' '))).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert!(refused.to_string().contains(named), "{refused}");
    }
    for name in ["", " "] {
        let refused = Cli::try_parse_from(["retrieval-server", "admin", "org", "create", "--name", name]).unwrap_err();
        assert!(refused.to_string().contains("'--name <NAME>': the name must not be empty"), "{refused}");
    }
    let id = "a4a70900-24e1-11df-8924-001ff3591711";
    for name in ["", " ", "a\nb", &"x".repeat(101)] {
        let arguments = ["retrieval-server", "admin", "key", "create", "--org", id, "--name", name];
        let refused = Cli::try_parse_from(arguments).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert!(refused.to_string().contains("'--name <NAME>': name must have 1 to 100 characters"), "{refused}");
    }
}
