//! The examples of `docs/webhooks.md` verify what this crate signs.

use std::process::Command;

use model::{Clock, SystemClock};
use webhooks::{generate_secret, sign};

const PAGE: &str = include_str!("../../../../docs/webhooks.md");
const ID: &str = "0b0f1f6c-9f0e-4f1c-8a55-6f1f7f2e4a10";
const BODY: &str = r#"{"type": "run.completed", "data": {"name": "è"}}"#;

fn example(language: &str) -> &'static str {
    let start = format!("```{language}\n");
    let (_, rest) = PAGE.split_once(&start).unwrap();
    rest.split_once("\n```").unwrap().0
}

/// Runs the example with `call`, which gets secret, timestamp and signature as arguments and prints `true` or `false`. `None`
/// without the interpreter.
fn verified(program: &str, language: &str, call: &str, arguments: [&str; 3]) -> Option<bool> {
    let script = format!("{}\n{call}", example(language));
    let flag = if language == "python" { "-c" } else { "-e" };
    let separator = if language == "python" { None } else { Some("--") };
    let Ok(output) =
        Command::new(program).args([flag, &script]).args(separator).args(arguments).args([ID, BODY]).output()
    else {
        println!("NOT RUN: no `{program}`");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stdout).trim().to_lowercase();
    assert!(matches!(&*said, "true" | "false"), "{}", String::from_utf8_lossy(&output.stderr));
    Some(said == "true")
}

fn check(program: &str, language: &str, call: &str) {
    let now = SystemClock.now().as_millis() / 1_000;
    let (now, old) = (now.to_string(), (now - 3_600).to_string());
    let (secret, previous, other) = (generate_secret(), generate_secret(), generate_secret());
    let both = sign([secret.as_str(), &previous], ID, &now, BODY.as_bytes());
    let late = sign([secret.as_str()], ID, &old, BODY.as_bytes());
    for (arguments, expected) in [
        ([secret.as_str(), &now, &both], true),
        ([&previous, &now, &both], true),
        ([&other, &now, &both], false),
        ([&secret, &old, &late], false),
        ([&secret, &now, "v1,AAAA"], false),
    ] {
        let verified = verified(program, language, call, arguments);
        assert!(verified.is_none_or(|verified| verified == expected), "{language}: {arguments:?}");
    }
}

#[test]
fn python_example_verifies() {
    let call = "import sys\n_, secret, at, signature, id, body = sys.argv\n\
                print(verify(secret, {'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature}, body.encode()))";
    check("python3", "python", call);
}

#[test]
fn javascript_example_verifies() {
    let call = "const [secret, at, signature, id, body] = process.argv.slice(1);\n\
                const headers = {'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature};\n\
                console.log(verify(secret, headers, body));";
    check("node", "javascript", call);
}
