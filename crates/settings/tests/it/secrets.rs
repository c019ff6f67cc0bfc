//! Secrets: their files, and errors without them.

use settings::Settings;

use crate::{environment, load, load_error};

#[test]
fn secrets_are_read_from_files_and_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "hunter2\n").unwrap();
    let name = path.to_str().unwrap();

    let settings = load(&format!("[index]\napi_key_file = \"{name}\""), &[]).unwrap();
    assert_eq!(settings.index.api_key.expose(), "hunter2");
    assert!(!format!("{settings:?}").contains("hunter2"));

    let nested = load(&format!("[web.brave]\napi_key_file = \"{name}\""), &[]).unwrap();
    assert_eq!(nested.web.brave.api_key.expose(), "hunter2");
    let nested = load("", &[("RETRIEVAL__WEB__HTTP__API_KEY_FILE", name)]).unwrap();
    assert_eq!(nested.web.http.api_key.expose(), "hunter2");
    assert!(!format!("{nested:?}").contains("hunter2"));

    // The file of the environment overrides the value of the settings file, as every later source does.
    let settings = load("[index]\napi_key = \"old\"", &[("RETRIEVAL__INDEX__API_KEY_FILE", name)]).unwrap();
    assert_eq!(settings.index.api_key.expose(), "hunter2");

    let twice = load_error(&format!("[index]\napi_key = \"x\"\napi_key_file = \"{name}\""), &[]);
    assert!(twice.ends_with("sets both `index.api_key` and `index.api_key_file`: remove one"), "{twice}");
    let missing = load_error("[index]\napi_key_file = \"/nowhere/key\"", &[]);
    assert_eq!(missing, "cannot read the file `/nowhere/key` of `index.api_key_file`");
}

#[test]
fn errors_never_contain_secrets() {
    for (toml, key) in [
        ("[index]\napi_key = 987654", "index.api_key"),
        ("[generate]\napi_key = 987654", "generate.api_key"),
        ("[embed]\napi_key = 987654", "embed.api_key"),
        ("[web.brave]\napi_key = 987654", "web.brave.api_key"),
        ("[database]\nurl = \"mysql://u:987654@h/d\"", "database.url"),
        ("[rate_limit]\nbackend = \"redis\"\nurl = \"http://u:987654@h\"", "rate_limit.url"),
    ] {
        let message = load_error(toml, &[]);
        assert!(message.starts_with(&format!("`{key}`: ")) && !message.contains("987654"), "{message}");
    }
}

#[test]
fn errors_never_contain_secrets_in_the_wrong_place() {
    let url = "postgres://u:hunter2@h/d";
    for section in ["database", "index", "web", "web.brave", "telemetry"] {
        let message = load_error(&format!("{section} = {url:?}"), &[]);
        assert_eq!(message, format!("`{section}`: is a section, not a value"));
        let variable = format!("RETRIEVAL__{}", section.replace('.', "__").to_uppercase());
        assert_eq!(load_error("", &[(&variable, url)]), format!("`{section}`: is a section, not a value"));
    }
    let below = [("RETRIEVAL__DATABASE__URL", "sqlite:x.db"), ("RETRIEVAL__DATABASE__URL__PASSWORD", "hunter2")];
    let message = load_error("", &below);
    assert_eq!(message, "`database.url.password`: is below a key that is not a section");
    // Sections without secrets are quoted.
    assert_eq!(load_error("captures = 5", &[]), "`captures` = `5`: is a section, not a value");
}

#[test]
fn errors_of_syntax_have_the_position_but_not_the_line() {
    for (toml, position) in [
        ("[index]\napi_key = hunter2", "line 2, column 11: "),
        ("[index]\napi_key = \"hunter2", "line 2, column 19: "),
        ("# é\r\n[index]\r\napi_key = 'hunter2' x", "line 3, column "),
        ("[index]\napi_key = \"hunter2\"\napi_key = \"hunter2\"", "line 3, column 1: "),
        ("hunter2", "line 1, column "),
    ] {
        let message = load_error(toml, &[]);
        assert!(message.contains(&format!("` is not valid TOML: {position}")), "{message}");
        assert!(!message.contains("hunter2") && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn errors_quote_addresses_without_their_credentials() {
    let message = load_error("[storage]\nendpoint = \"ftp://u:hunter2@h/\"", &[]);
    assert!(message.starts_with("`storage.endpoint` = `ftp://h/`: must be an http or https URL"), "{message}");
    let of_index = |backend: &str, url: &str| format!("[index]\nbackend = \"{backend}\"\nurl = \"{url}\"");
    for (toml, quoted) in [
        (of_index("meilisearch", "http://admin:hunter2@meili:77000"), "`http://meili:77000`"),
        (of_index("meilisearch", "admin:hunter2@meili:7700"), "`meili:7700`"),
        (of_index("meilisearch", "hunter2@meili:7700"), "`meili:7700`"),
        (of_index("meilisearch", "http://u:hunter2,hunter2@meili:77000"), "`http://meili:77000`"),
        (of_index("qdrant", "http://u:hunter2@a:6334,http://u:hunter2@b:66334"), "`http://b:66334`"),
        (
            "[rerank]\nbackend = \"http\"\nurl = \"https://u:hunter2@rerank host/rerank\"".to_owned(),
            "`https://rerank host/rerank`",
        ),
        ("[server]\nbind = \"u:hunter2@127.0.0.1:8080\"".to_owned(), "`127.0.0.1:8080`"),
        ("[fetch]\nallow_networks = [\"u:hunter2@10.0.0.0/8\"]".to_owned(), "`10.0.0.0/8`"),
        ("index = \"http://u:hunter2@meili:7700\"".to_owned(), "`index`"),
        (
            "[server]\npublic_url = \"https://search.acme.com\"\n\
             [storage]\npublic_endpoint = \"http://u:hunter2@127.0.0.1:9000\""
                .to_owned(),
            "cannot upload to `http://127.0.0.1:9000/`",
        ),
    ] {
        let message = load_error(&toml, &[]);
        assert!(message.contains(quoted) && !message.contains("hunter2"), "{toml}: {message}");
    }
}

#[test]
fn warnings_quote_addresses_without_their_credentials() {
    let toml = "[auth.oauth]\nissuer = \"https://i.example\"\naudience = \"a\"\njwks_url = \"http://u:hunter2@i.example/keys\"";
    let warnings = load(toml, &[]).unwrap().warnings();
    assert!(warnings[0].contains("`http://i.example/keys`") && !warnings[0].contains("hunter2"), "{warnings:?}");
}

#[test]
fn token_of_a_browser_is_in_no_copy_and_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let section = |url: &str| format!("[fetch]\nrender = \"chromium\"\nchromium_url = \"{url}\"\n");
    std::fs::write(&path, section("ws://browser:3000/?token=hunter2")).unwrap();
    let effective = Settings::effective_toml(Some(&path), environment(&[])).unwrap();
    assert!(effective.contains("# chromium_url: may contain a secret"), "{effective}");
    assert!(!effective.contains("hunter2"), "{effective}");
    for url in ["wss://browser/?token=hunter2", "http://browser:3000/?token=hunter2", "browser?token=hunter2"] {
        let message = load_error(&section(url), &[]);
        assert!(message.starts_with("`fetch.chromium_url`: must be "), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}
