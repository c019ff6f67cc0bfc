//! Files that are missing, broken or replaced.

use server_tls::{Reload, ServerTls};

use crate::pair::{BEGIN, DAY, Folder, pair};

fn refusal(folder: &Folder) -> String {
    ServerTls::load(folder.files()).err().unwrap().to_string()
}

#[test]
fn faults_are_named_with_their_file() {
    let (ours, other) = (pair(), pair());
    let folder = Folder::with(&ours);
    ServerTls::load(folder.files()).unwrap();
    for (name, text, expected) in [
        ("cert.pem", "", "has no certificate"),
        ("cert.pem", &ours.key, "has no certificate"),
        ("cert.pem", "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n", "not a valid PEM file"),
        ("cert.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be used"),
        ("key.pem", "no key", "has no private key"),
        ("key.pem", &ours.certificate, "has no private key"),
        (
            "key.pem",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "not encrypted",
        ),
        ("key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "cannot be used"),
        ("key.pem", &other.key, "does not belong"),
    ] {
        folder.write(name, text);
        let refused = refusal(&folder);
        assert!(refused.contains(name) && refused.contains(expected), "{refused}");
        folder.write("cert.pem", &ours.certificate);
        folder.write("key.pem", &ours.key);
    }
    folder.remove("key.pem");
    let refused = refusal(&folder);
    assert!(refused.contains("key.pem") && refused.contains("cannot be read"), "{refused}");
}

#[test]
fn replaced_pair_is_taken_over_once_both_files_are_there() {
    let folder = Folder::with(&pair());
    let tls = ServerTls::load(folder.files()).unwrap();
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged);
    let new = pair();
    folder.write("cert.pem", &new.certificate);
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged, "the key may follow");
    folder.write("key.pem", &new.key);
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged);
    assert_eq!(tls.poll().unwrap(), Reload::Replaced);
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged);
}

#[test]
fn broken_pair_is_reported_once_and_not_taken_over() {
    let ours = pair();
    let folder = Folder::with(&ours);
    let tls = ServerTls::load(folder.files()).unwrap();
    folder.write("key.pem", &pair().key);
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged);
    assert!(tls.poll().unwrap_err().to_string().contains("does not belong"));
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged);
    folder.remove("key.pem");
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged, "the fault is known");
    assert!(tls.reload().is_err(), "asked for explicitly");
    folder.write("key.pem", &ours.key);
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged);
    folder.remove("cert.pem");
    assert!(tls.poll().unwrap_err().to_string().contains("cert.pem"));
}

#[test]
fn pair_is_taken_over_if_it_could_not_be_read_between_two_looks() {
    let folder = Folder::with(&pair());
    let tls = ServerTls::load(folder.files()).unwrap();
    let new = pair();
    folder.write("cert.pem", &new.certificate);
    folder.write("key.pem", &new.key);
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged);
    folder.remove("key.pem");
    assert!(tls.poll().unwrap_err().to_string().contains("key.pem"));
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged, "the fault is known");
    folder.write("key.pem", &new.key);
    assert_eq!(tls.poll().unwrap(), Reload::Unchanged);
    assert_eq!(tls.poll().unwrap(), Reload::Replaced);
}

#[test]
fn signal_takes_a_pair_over_at_once() {
    let folder = Folder::with(&pair());
    let tls = ServerTls::load(folder.files()).unwrap();
    let new = pair();
    folder.write("cert.pem", &new.certificate);
    folder.write("key.pem", &new.key);
    assert_eq!(tls.reload().unwrap(), Reload::Replaced);
    assert_eq!(tls.reload().unwrap(), Reload::Unchanged);
}

#[test]
fn end_of_the_certificate_is_a_problem_two_weeks_before() {
    let tls = ServerTls::load(Folder::with(&pair()).files()).unwrap();
    assert_eq!(tls.expires_at(), Some(BEGIN + 365 * DAY));
    for (day, expected) in
        [(0, None), (350, None), (352, Some("expires in 13 days")), (367, Some("expired 2 days ago"))]
    {
        let problem = tls.problem(BEGIN + day * DAY);
        match expected {
            None => assert_eq!(problem, None),
            Some(expected) => assert!(problem.as_deref().unwrap().contains(expected), "{problem:?}"),
        }
    }
    assert!(tls.problem(BEGIN - DAY).unwrap().contains("not valid yet"));
}
