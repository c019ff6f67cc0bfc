//! Operator commands: exit statuses, JSON output, settings.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;
use uuid::Uuid;

use crate::support::{Database, Server, command, finish, run, until};

on_both_databases!(
    admin_commands_print_json,
    commands_work_with_and_without_a_running_server,
    organization_is_deleted_by_a_running_server,
);

#[test]
fn errors_name_the_invalid_setting() {
    let server = Server::prepare(Database::sqlite(), "");
    assert_eq!(server.command(&["config", "check"]).object(), json!({ "valid": true }));
    let good = fs::read_to_string(server.settings_file()).unwrap();
    let cases = [
        ("[storage]\nbukket = \"x\"\n", "storage.bukket"),
        ("[fetch]\ntimeout_ms = \"soon\"\n", "fetch.timeout_ms"),
        ("[fetch]\nallow_networks = [\"10.0.0.0/99\"]\n", "fetch.allow_networks"),
        ("[index]\nbackend = \"elastic\"\n", "index.backend"),
        ("[rate_limit]\ndefault_rps = 0\n", "rate_limit.default_rps"),
        ("[nonsense]\nkey = 1\n", "nonsense"),
        ("[index\n", "settings.toml"),
    ];
    for (section, named) in cases {
        // Replaces a section of the test's settings, or appends one.
        let header = section.lines().next().unwrap();
        let rest = good.replace(&format!("{header}\n"), section);
        let text = if rest == good { format!("{good}{section}") } else { rest };
        fs::write(server.settings_file(), text).unwrap();
        for arguments in [&["config", "check"][..], &["serve"], &["admin", "org", "list"]] {
            let checked = server.command(arguments);
            assert_eq!((checked.code(), checked.stdout.as_str()), (Some(1), ""), "{section}: {checked:#?}");
            assert!(checked.stderr.contains(named), "{section}: {}", checked.stderr);
        }
    }
    fs::write(server.settings_file(), &good).unwrap();

    let with_environment = |name: &str, value: &str| {
        let mut check = command();
        check.args(["config", "check", "--config"]).arg(server.settings_file()).env(name, value);
        run(check, b"")
    };
    assert_eq!(with_environment("RETRIEVAL__SERVER__BIND", "127.0.0.1:9999").code(), Some(0));
    for (name, value, named) in [
        ("RETRIEVAL__SERVER__BINDD", "127.0.0.1:9999", "BINDD"),
        ("RETRIEVAL__SERVER__BIND", "nowhere", "BIND"),
        ("RETRIEVAL__NONSENSE", "1", "NONSENSE"),
    ] {
        let checked = with_environment(name, value);
        assert_eq!(checked.code(), Some(1), "{checked:#?}");
        assert!(checked.stderr.to_ascii_uppercase().contains(named), "{name}: {}", checked.stderr);
    }
    // Only the value, only the name, and variables of other programs.
    let latin1 = |text: &'static [u8]| OsStr::from_bytes(text);
    for (name, value, refused) in [
        (latin1(b"RETRIEVAL__STORAGE__SECRET_ACCESS_KEY"), latin1(b"sch\xfcssel"), Some("SECRET_ACCESS_KEY`")),
        (latin1(b"RETRIEVAL__ST\xd6RAGE"), latin1(b"x"), Some("`RETRIEVAL__ST")),
        (latin1(b"RETRIEVAL_CONFIG"), latin1(b"/home/gr\xfcn"), None),
        (latin1(b"GR\xdcN"), latin1(b"gr\xfcn"), None),
    ] {
        let mut check = command();
        check.args(["config", "check", "--config"]).arg(server.settings_file()).env(name, value);
        let checked = run(check, b"");
        assert_eq!(checked.code(), Some(i32::from(refused.is_some())), "{name:?}: {checked:#?}");
        let names = |named: &str| checked.stderr.contains(named) && checked.stderr.contains("is not valid UTF-8");
        assert!(refused.is_none_or(names), "{name:?}: {}", checked.stderr);
        assert!(!checked.stderr.contains("ssel"), "a value is not shown: {}", checked.stderr);
    }
    let mut missing = command();
    missing.args(["config", "check", "--config", "/nowhere/settings.toml"]);
    let missing = run(missing, b"");
    assert_eq!(missing.code(), Some(1));
    assert!(missing.stderr.contains("/nowhere/settings.toml"), "{}", missing.stderr);
}

#[test]
fn invalid_arguments_are_refused() {
    let server = Server::prepare(Database::sqlite(), "");
    for wrong in [
        &["nonsense"][..],
        &["admin"],
        &["admin", "org", "create"],
        &["admin", "org", "create", "--name", ""],
        &["admin", "org", "create", "--name", " "],
        &["admin", "org", "create", "--name", "x", "--prepaid-cents", "-5"],
        &["web", "crawl", "zz"],
        &["admin", "key", "create", "--org", "not-a-uuid", "--name", "x"],
        &["admin", "key", "create", "--org", "a4a70900-24e1-11df-8924-001ff3591711", "--name", "x", "--limit-rps", "0"],
        &[
            "admin",
            "key",
            "create",
            "--org",
            "a4a70900-24e1-11df-8924-001ff3591711",
            "--name",
            "x",
            "--expires-at",
            "soon",
        ],
        &["web", "import", "-", "--format", "csv"],
        &["serve", "--port", "1"],
    ] {
        let refused = server.command(wrong);
        assert_eq!((refused.code(), refused.stdout.as_str()), (Some(2), ""), "{wrong:?}: {refused:#?}");
        assert!(!refused.stderr.is_empty());
    }
    let mut version = command();
    version.arg("--version");
    let version = run(version, b"");
    assert_eq!(version.code(), Some(0));
    assert!(version.stdout.starts_with("retrieval-server "), "{version:#?}");
    // `--config` is accepted at any position.
    server.command(&["migrate"]).object();
    let settings = server.settings_file();
    let settings = settings.to_str().unwrap();
    for arguments in [
        ["--config", settings, "admin", "org", "list"],
        ["admin", "--config", settings, "org", "list"],
        ["admin", "org", "list", "--config", settings],
    ] {
        let mut list = command();
        list.args(arguments);
        assert_eq!(run(list, b"").lines(), [] as [serde_json::Value; 0]);
    }
}

fn admin_commands_print_json(database: Database) {
    let server = Server::prepare(database, "");
    if server.database.is_postgres() {
        let ran = server.command(&["migrate"]).object();
        assert!(ran["migrations_run"] != json!(0) && ran["migrations_run"] != json!([]), "{ran}");
    }
    let again = server.command(&["migrate"]);
    assert_eq!(again.code(), Some(0));
    let free = server.admin(&["org", "create", "--name", "acme"]);
    assert_eq!((&free["name"], &free["billed"]), (&"acme".into(), &false.into()));
    let billed = server.admin(&["org", "create", "--name", "Größe 東京", "--prepaid-cents", "0"]);
    assert_eq!((&billed["name"], &billed["billed"]), (&"Größe 東京".into(), &true.into()));
    let listed = server.command(&["admin", "org", "list"]).lines();
    assert_eq!(listed.len(), 2);
    assert!(listed.contains(&free) && listed.contains(&billed));

    let organization = free["organization_id"].as_str().unwrap();
    let created = server.admin(&[
        "key",
        "create",
        "--org",
        organization,
        "--name",
        "ci",
        "--limit-rps",
        "7",
        "--expires-at",
        "2030-01-31T00:00:00+01:00",
    ]);
    let key = created["key"].as_str().unwrap();
    assert!(key.len() >= 40 && key.starts_with(created["key_prefix"].as_str().unwrap()), "{created:#}");
    let shown = (&created["limit_rps"], &created["status"], &created["name"]);
    assert_eq!(shown, (&7.into(), &"active".into(), &"ci".into()));
    assert_eq!(created["expires_at"], "2030-01-30T23:00:00Z");
    let all = json!([
        "search:read",
        "document:read",
        "feedback:write",
        "files:read",
        "files:write",
        "usage:read",
        "research:read",
        "research:write",
        "keys:write",
        "webhooks:write"
    ]);
    assert_eq!(created["scopes"], all);

    let expired = ["--org", organization, "--name", "x", "--expires-at", "2020-01-01T00:00:00Z"];
    let refused = server.command(&[&["admin", "key", "create"][..], &expired].concat());
    assert_eq!((refused.code(), refused.stdout.as_str()), (Some(2), ""), "{refused:#?}");
    assert!(refused.stderr.contains("error: --expires-at must be in the future"), "{refused:#?}");

    let unknown = Uuid::new_v4().to_string();
    for arguments in [
        &["admin", "key", "create", "--org", &unknown, "--name", "x"][..],
        &["admin", "key", "list", "--org", &unknown],
    ] {
        let refused = server.command(arguments);
        assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""), "{arguments:?}: {refused:#?}");
        assert!(refused.stderr.starts_with("error: "), "{refused:#?}");
    }
}

fn commands_work_with_and_without_a_running_server(database: Database) {
    let mut server = Server::start(database);
    let page = |n: u8| json!({ "url": format!("https://example.com/{n}"), "text": "The walrus eats clams." });
    let client = server.tenant("running");
    server.import(&[page(1)]);
    assert_eq!(server.stop().code(), Some(0));
    let without = server.tenant("stopped");
    server.import(&[page(2)]);
    server.command(&["index", "rebuild"]).lines();
    server.resume();
    assert_eq!(client.get("/v1/files").status, 200);
    assert_eq!(without.search_web("walrus")["results"].as_array().unwrap().len(), 1, "exact duplicates are collapsed");
    assert_eq!(without.document(json!({ "canonical_url": "https://example.com/2" })).status, 200);
}

#[test]
fn commands_in_the_wrong_folder_create_nothing() {
    let server = Server::prepare(Database::sqlite(), "");
    let folder = server.data_folder();
    let id = "a4a70900-24e1-11df-8924-001ff3591711";
    for arguments in [
        &["admin", "org", "list"][..],
        &["admin", "key", "create", "--org", id, "--name", "x"],
        &["admin", "key", "list", "--org", id],
        &["admin", "key", "revoke", id],
        &["admin", "balance", "add", "--org", id, "--cents", "1"],
        &["admin", "balance", "show", "--org", id],
        &["admin", "feedback", "export"],
        &["admin", "audit"],
        &["admin", "run", "show", id],
        &["web", "list"],
        &["web", "stats"],
        &["web", "crawls"],
        &["web", "crawl-show", "x"],
        &["index", "rebuild"],
        &["verify"],
        &["backup", "anywhere"],
        &["config", "check"],
    ] {
        let ended = server.command(arguments);
        assert!(!folder.exists(), "{arguments:?} created the data folder");
        if arguments[0] != "config" {
            assert_eq!((ended.code(), ended.stdout.as_str()), (Some(1), ""), "{arguments:?}: {ended:#?}");
            let database = folder.join("retrieval.db").display().to_string();
            assert!(ended.stderr.contains(&database) && ended.stderr.contains("data_dir"), "{}", ended.stderr);
        }
    }
    // The first command of an installation says where it creates the database.
    let created = server.command(&["admin", "org", "create", "--name", "acme"]);
    assert_eq!(created.code(), Some(0), "{created:#?}");
    assert!(created.stderr.contains(&format!("created the database `{}", folder.display())), "{}", created.stderr);
    let second = server.command(&["admin", "org", "create", "--name", "other"]);
    assert!(!second.stderr.contains("created"), "{}", second.stderr);
    let listed = server.command(&["admin", "org", "list"]);
    assert_eq!(listed.lines().len(), 2);
    // Commands that only read name the folder.
    server.command(&["web", "crawl", "https://docs.example.com", "--name", "docs"]).object();
    let web = [&["web", "list"][..], &["web", "stats"], &["web", "crawls"], &["web", "crawl-show", "docs"]];
    for read in [listed].into_iter().chain(web.map(|arguments| server.command(arguments))) {
        assert_eq!(read.code(), Some(0), "{read:#?}");
        assert!(read.stderr.contains(&format!("data folder: {}", folder.display())), "{read:#?}");
    }

    let other = Server::prepare(Database::sqlite(), "");
    let imported =
        other.command_with_input(&["web", "import", "-"], "{\"url\": \"https://example.com/\", \"text\": \"x\"}");
    assert_eq!(imported.object()["imported"], 1);
    assert!(imported.stderr.contains(&other.data_folder().display().to_string()), "{}", imported.stderr);
}

#[test]
fn import_without_a_valid_line_fails() {
    let server = Server::prepare(Database::sqlite(), "");
    let import = |lines: &str| {
        let ended = server.command_with_input(&["web", "import", "-"], lines);
        let report: serde_json::Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
        (ended.code(), report)
    };
    let good = "{\"url\": \"https://example.com/\", \"text\": \"walrus\"}\n";
    let report = |read, imported, unchanged, failed| json!({ "read": read, "imported": imported, "unchanged": unchanged, "failed": failed });
    assert_eq!(import("x\n{}\n"), (Some(1), report(2, 0, 0, 2)));
    assert_eq!(import(&format!("x\n{good}")), (Some(0), report(2, 1, 0, 1)));
    assert_eq!(import(&format!("x\n{good}")), (Some(0), report(2, 0, 1, 1)));
    assert_eq!(import(""), (Some(0), report(0, 0, 0, 0)));
}

#[test]
fn every_invalid_setting_is_reported() {
    let server = Server::prepare(Database::sqlite(), "[index]\nbackend = \"solr\"\n[fetch]\ntimeout_ms = 0\n");
    let mut check = command();
    check.args(["config", "check", "--config"]).arg(server.settings_file()).env("RETRIEVAL_SERVER_BIND", "127.0.0.1:1");
    let checked = run(check, b"");
    assert_eq!((checked.code(), checked.stdout.as_str()), (Some(1), ""), "{checked:#?}");
    let lines: Vec<&str> = checked.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    for named in ["`RETRIEVAL__SERVER__BIND`", "`index.backend`", "`fetch.timeout_ms`"] {
        assert!(lines.iter().any(|line| line.starts_with("error: ") && line.contains(named)), "{named}: {lines:#?}");
    }

    // Values that only the adapters understand.
    let server = Server::prepare(
        Database::sqlite(),
        "[rate_limit]\nbackend = \"redis\"\nurl = \"redis://u:hunter2@h:99999\"\n[rerank]\nbackend = \"http\"\nurl = \"http://h\"\napi_key = \"\\n\"\n\
         [embed]\nbackend = \"http\"\nurl = \"http://h\"\napi_key = \"\\n\"\n\
         [generate]\nbackend = \"http\"\nurl = \"http://h\"\napi_key = \"\\n\"\n[log]\nfilter = \"info,app=verbose\"\n\
         [telemetry]\notlp_url = \"http://h\"\notlp_api_key = \"hunter2\"\notlp_api_key_header = \"X Api Key\"\n",
    );
    let checked = server.command(&["config", "check"]);
    assert_eq!(checked.code(), Some(1), "{checked:#?}");
    for section in ["rate_limit.url", "rerank.", "embed.", "generate.", "log.filter", "telemetry.otlp_api_key_header"] {
        assert!(checked.stderr.contains(section), "{section}: {}", checked.stderr);
    }
    assert!(!checked.stderr.contains("hunter2"), "{}", checked.stderr);

    // Both kinds together, each value once.
    let server = Server::prepare(
        Database::sqlite(),
        "[rate_limit]\nbackend = \"redis\"\nurl = \"http://h\"\n[rerank]\nbackend = \"http\"\nurl = \"http://h\"\napi_key = \"\\n\"\n\
         [log]\nformat = \"xml\"\nfilter = \"a=b=c\"\n",
    );
    let checked = server.command(&["config", "check"]);
    assert_eq!((checked.code(), checked.stdout.as_str()), (Some(1), ""), "{checked:#?}");
    let lines: Vec<&str> = checked.stderr.lines().collect();
    for named in ["`rate_limit.url`", "`log.format`", "rerank.api_key", "log.filter"] {
        assert_eq!(lines.iter().filter(|line| line.contains(named)).count(), 1, "{named}: {lines:#?}");
    }
    assert_eq!(lines.len(), 4, "{lines:#?}");
    // Other commands stop at the settings.
    let refused = server.command(&["admin", "org", "list"]);
    assert_eq!((refused.code(), refused.stderr.lines().count()), (Some(1), 2), "{refused:#?}");
}

/// Returns the line of the organization in `admin org list`.
fn listed(server: &Server, organization: Uuid) -> serde_json::Value {
    let lines = server.command(&["admin", "org", "list", "--json"]).lines();
    lines.into_iter().find(|line| line["organization_id"] == organization.to_string()).unwrap()
}

fn organization_is_deleted_by_a_running_server(database: Database) {
    let server = Server::start(database);
    let (leaver, stayer) = (server.tenant("leaver"), server.tenant("stayer"));
    for client in [&leaver, &stayer] {
        client.upload("a.txt", "The walrus eats clams.");
        client.index();
        assert_eq!(client.search_workspace("walrus")["results"].as_array().unwrap().len(), 1);
    }
    let line = listed(&server, leaver.organization);
    let size = (&line["state"], &line["files"], &line["bytes"], &line["documents"]);
    assert_eq!(size, (&"active".into(), &1.into(), &22.into(), &1.into()));
    let id = leaver.organization.to_string();
    let unconfirmed = server.command(&["admin", "org", "delete", &id]);
    assert_eq!(unconfirmed.code(), Some(1), "{unconfirmed:#?}");
    assert!(unconfirmed.stderr.contains("--yes"), "{}", unconfirmed.stderr);
    let unknown = server.command(&["admin", "org", "delete", &Uuid::new_v4().to_string(), "--yes"]);
    assert_eq!(unknown.code(), Some(1), "{unknown:#?}");
    server.admin(&["org", "delete", &id, "--yes"]);
    let patience = std::time::Duration::from_secs(30);
    until("the key is refused", patience, || (leaver.get("/v1/me").status == 401).then_some(()));
    let gone = until("the data is gone", patience, || {
        Some(listed(&server, leaver.organization)).filter(|line| line["state"] == "deleted")
    });
    assert_eq!((&gone["files"], &gone["bytes"], &gone["documents"]), (&0.into(), &0.into(), &0.into()));
    let again = server.command(&["admin", "org", "delete", &id, "--yes"]).object();
    assert_eq!(again["state"], "deleted");
    assert_eq!(stayer.search_workspace("walrus")["results"].as_array().unwrap().len(), 1);
    assert_eq!(listed(&server, stayer.organization)["bytes"], 22);
    let audit = server.command(&["admin", "audit", "--org", &id, "--action", "organization.deleted"]).lines();
    assert_eq!(audit.len(), 1);
}

#[test]
fn organization_is_deleted_without_a_server() {
    let mut server = Server::start(Database::sqlite());
    let leaver = server.tenant("leaver");
    leaver.upload("a.txt", "The walrus eats clams.");
    leaver.index();
    assert_eq!(server.stop().code(), Some(0));
    // The command serves no clients.
    let _occupied = std::net::TcpListener::bind(server.storage_address()).unwrap();
    let done = server.command(&["admin", "org", "delete", &leaver.organization.to_string(), "--yes"]).object();
    assert_eq!((&done["state"], &done["documents"]), (&"deleted".into(), &0.into()));
    let verified = server.command(&["verify"]);
    assert_eq!(verified.code(), Some(0), "{verified:#?}");
}

/// A server that starts meanwhile takes over what the command waits for, and needs the objects.
#[test]
fn deletion_without_a_server_leaves_the_object_store_before_it_waits_for_the_index() {
    let mut server = Server::start(Database::sqlite());
    let leaver = server.tenant("leaver");
    leaver.upload("a.txt", "The walrus eats clams.");
    leaver.index();
    assert_eq!(server.stop().code(), Some(0));
    let claim = fs::File::create(server.data_folder().join("index.lock")).unwrap();
    claim.lock().unwrap();
    let id = leaver.organization.to_string();
    let mut deletion = server.start_command(&["admin", "org", "delete", &id, "--yes"], "");
    let patience = std::time::Duration::from_secs(30);
    until("the data is gone", patience, || {
        Some(()).filter(|()| listed(&server, leaver.organization)["state"] == "deleted")
    });
    until("the object store is free", patience, || {
        fs::File::create(server.data_folder().join("objects/lock")).unwrap().try_lock().ok()
    });
    assert!(deletion.child.try_wait().unwrap().is_none(), "the command waits for the index");
    drop(claim);
    assert_eq!(finish(deletion).object()["state"], "deleted");
}
