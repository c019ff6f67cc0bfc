#![allow(clippy::unwrap_used)]

mod addresses;
mod secrets;

use std::path::Path;

use settings::{
    EmbedBackend, GenerateBackend, IndexBackend, OnFailure, Render, Sandbox, Settings, SettingsError, StorageBackend,
};

fn environment(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn load(toml: &str, pairs: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, toml).unwrap();
    Settings::load(Some(&path), environment(pairs))
}

/// Returns the message of a failed load.
fn load_error(toml: &str, pairs: &[(&str, &str)]) -> String {
    load(toml, pairs).unwrap_err().to_string()
}

#[test]
fn defaults_match_documentation() {
    let settings = Settings::load(None, []).unwrap();
    assert_eq!(settings.data_dir, Path::new("data"));
    assert_eq!(settings.server.bind.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.server.public_url, "http://127.0.0.1:8080");
    assert_eq!(settings.operations.bind.to_string(), "127.0.0.1:8081");
    assert_eq!(settings.storage.bind.to_string(), "127.0.0.1:8082");
    assert_eq!(settings.database.url.expose(), "sqlite:retrieval.db");
    assert_eq!(settings.index.backend, IndexBackend::Embedded);
    assert_eq!((settings.rate_limit.default_rps, settings.rate_limit.on_failure), (100, OnFailure::Open));
    assert_eq!((settings.fetch.max_bytes, settings.fetch.timeout_ms), (10_485_760, 10_000));
    assert_eq!((settings.fetch.render, settings.fetch.chromium_sandbox), (Render::Off, Sandbox::Required));
    assert_eq!((settings.captures.search_ttl_seconds, settings.captures.document_ttl_seconds), (900, 86_400));
    assert_eq!((settings.quotas.bytes_per_organization, settings.quotas.min_free_disk_bytes), (0, 1 << 30));
    assert_eq!((settings.retention.searches_days, settings.retention.feedback_days), (90, 0));
    assert_eq!((settings.files.max_object_bytes, settings.files.max_per_organization), (104_857_600, 100_000));
    assert_eq!((settings.billing.search_cents, settings.rerank.timeout_ms), (1, 800));
    assert_eq!((settings.embed.backend, settings.embed.dimensions), (EmbedBackend::None, 0));
    assert_eq!((settings.embed.batch, settings.embed.timeout_ms), (32, 200));
    assert_eq!(settings.generate.backend, GenerateBackend::None);
    assert_eq!((settings.generate.timeout_ms, settings.generate.max_tokens), (60_000, 4_096));
    assert!(settings.webhooks.allow_networks.is_empty());
    assert_eq!(settings.auth.oauth.organization_claim, "org_id");
}

#[test]
fn shipped_files_load() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config");
    let secrets = tempfile::tempdir().unwrap();
    for (name, secret) in [
        ("database_url", "postgres://retrieval:x@db.internal/retrieval\n"),
        ("redis_url", "redis://redis.internal:6379"),
        ("meilisearch_key", "x"),
        ("s3_access_key_id", "x"),
        ("s3_secret_access_key", "x"),
    ] {
        std::fs::write(secrets.path().join(name), secret).unwrap();
    }
    for file in [
        "default.toml",
        "production.example.toml",
        "deploy/container.toml",
        "deploy/compose/retrieval.toml",
        "deploy/kubernetes/settings.yaml",
    ] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let text = match text.split_once("settings.toml: |\n") {
            Some((_, block)) => block.lines().map(|line| format!("{}\n", line.trim_start())).collect(),
            None => text,
        };
        // The usual paths of the secrets of containers.
        let here = secrets.path().to_str().unwrap();
        let text = text.replace("/run/secrets/retrieval", here).replace("/run/secrets", here);
        load(&text, &[]).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}

#[test]
fn environment_overrides_file_and_file_overrides_defaults() {
    let file = "[server]\nbind = \"127.0.0.1:1\"\nworkers = 3\n";
    let settings = load(file, &[("RETRIEVAL__SERVER__BIND", "0.0.0.0:2"), ("PATH", "/bin")]).unwrap();
    assert_eq!(settings.server.bind.to_string(), "0.0.0.0:2");
    assert_eq!(settings.server.workers, 3);
    assert_eq!(settings.operations.bind.to_string(), "127.0.0.1:8081");
    assert_eq!(settings.server.public_url, "http://127.0.0.1:2", "it follows the listener unless it is set");
}

#[test]
fn environment_values_have_the_type_of_their_key() {
    let settings = load(
        "",
        &[
            ("RETRIEVAL__DATA_DIR", "/srv/x"),
            ("RETRIEVAL__INDEX__API_KEY", "123456"),
            ("RETRIEVAL__STORAGE__PATH_STYLE", "false"),
            ("RETRIEVAL__RATE_LIMIT__DEFAULT_RPS", "7"),
            ("RETRIEVAL__FETCH__ALLOW_NETWORKS", "10.0.0.0/8, fd00::/8"),
            ("RETRIEVAL__FETCH__ALLOW_PORTS", "81, 82"),
            ("RETRIEVAL__AUTH__OAUTH__ORGANIZATION_CLAIM", "true"),
            ("RETRIEVAL__TELEMETRY__SAMPLE_RATIO", "0.25"),
        ],
    )
    .unwrap();
    assert_eq!(settings.telemetry.sample_ratio, 0.25);
    assert_eq!(settings.index.api_key.expose(), "123456");
    assert!(!settings.storage.path_style);
    assert_eq!(settings.rate_limit.default_rps, 7);
    assert_eq!(settings.fetch.allow_networks.len(), 2);
    assert_eq!(settings.fetch.allow_ports, [81, 82]);
    for port in ["70000", "-1", "http"] {
        let message = load_error("", &[("RETRIEVAL__FETCH__ALLOW_PORTS", port)]);
        assert!(
            message.contains("fetch.allow_ports") && message.contains(&format!("`{port}` is not a port")),
            "{message}"
        );
    }
    assert_eq!(settings.auth.oauth.organization_claim, "true");
}

#[test]
fn unknown_keys_are_rejected() {
    let message = load_error("[server]\nbnid = \"x\"\n", &[]);
    assert!(message.starts_with("unknown key `server.bnid` in `"), "{message}");
    assert!(message.ends_with(": did you mean `server.bind`?"), "{message}");
    assert!(load_error("nope = 1\n", &[]).starts_with("unknown key `nope` in `"));
    for (name, near) in
        [("foo", None), ("a", None), ("", None), ("mpc", None), ("logg", Some("log")), ("serve", Some("server"))]
    {
        let message = load_error(&format!("\"{name}\" = 1\n"), &[]);
        let hint = message.split_once("did you mean ").map(|(_, hint)| hint);
        assert_eq!(hint, near.map(|near| format!("`{near}`?")).as_deref(), "{name}: {message}");
    }
    assert!(load_error("[auth.oauth]\nnope = 1\n", &[]).starts_with("unknown key `auth.oauth.nope` in `"));
    assert!(load_error("[server]\nbind_file = \"x\"\n", &[]).starts_with("unknown key `server.bind_file` in `"));
    assert_eq!(load_error("", &[("RETRIEVAL__SERVER__NOPE", "1")]), "unknown key `server.nope` in the environment");
    assert_eq!(
        load_error("", &[("RETRIEVAL__SERVER__BIND__X", "1")]),
        "unknown key `server.bind.x` in the environment"
    );
}

#[test]
fn invalid_values_are_reported_with_their_key() {
    let cases = [
        ("[server]\nbind = \"here\"", "`server.bind`: `here` is not an address with a port such as `127.0.0.1:8080`"),
        ("[server]\nworkers = \"x\"", "`server.workers` = `x`: must be a whole number from 0 to 65535"),
        ("[server]\nworkers = \"4\"", "`server.workers` = `4`: must be a whole number from 0 to 65535, without quotes"),
        ("[server]\nworkers = -1", "`server.workers` = `-1`: must be a whole number from 0 to 65535"),
        (
            "[billing]\nsearch_cents = 4294967296",
            "`billing.search_cents` = `4294967296`: must be a whole number from 0 to 4294967295",
        ),
        ("[fetch]\nmax_bytes = -1", "`fetch.max_bytes` = `-1`: must be a whole number of 0 or more"),
        ("[storage]\npath_style = \"true\"", "`storage.path_style` = `true`: must be true or false, without quotes"),
        ("[server]\nmax_connections = 3", "`server.max_connections` = `3`: must be 0 or between 16 and 1000000"),
        (
            "[storage]\nmax_connections = 1000001",
            "`storage.max_connections` = `1000001`: must be 0 or between 16 and 1000000",
        ),
        ("server = 3", "`server` = `3`: is a section, not a value"),
        (
            "[index]\nbackend = \"solr\"",
            "`index.backend` = `solr`: must be one of `embedded`, `meilisearch`, `qdrant`, `none`",
        ),
        (
            "[index]\nbackend = \"meilisearch\"",
            "`index.url` = ``: must be an http or https URL such as `https://host.example`",
        ),
        (
            "[index]\nbackend = \"qdrant\"\nurl = \"http://a:6334, b:6334\"",
            "`index.url` = `b:6334`: must be an http or https URL such as `https://host.example`",
        ),
        ("[index]\nshards = 0", "`index.shards` = `0`: must be between 1 and 1024"),
        ("[index]\nreplicas = 1025", "`index.replicas` = `1025`: must be between 1 and 1024"),
        (
            "[generate]\nbackend = \"http\"",
            "`generate.url` = ``: must be an http or https URL such as `https://host.example`",
        ),
        (
            "[rerank]\nbackend = \"http\"\nurl = \"http://h/rerank?x=1\"",
            "`rerank.url` = `http://h/rerank?x=1`: must have no query and no fragment",
        ),
        (
            "[generate]\nbackend = \"http\"\nurl = \"http://h/#v1\"",
            "`generate.url` = `http://h/#v1`: must have no query and no fragment",
        ),
        ("[generate]\nbackend = \"openai\"", "`generate.backend` = `openai`: must be one of `none`, `http`"),
        (
            "[embed]\nbackend = \"http\"",
            "`embed.url` = ``: must be an http or https URL such as `https://host.example`",
        ),
        (
            "[embed]\nbackend = \"local\"",
            "`embed.dir` = ``: must be the folder of a model with `embed.backend` = `local`",
        ),
        ("[embed]\ndimensions = 8193", "`embed.dimensions` = `8193`: must be between 0 and 8192"),
        ("[embed]\nbatch = 0", "`embed.batch` = `0`: must be between 1 and 256"),
        ("[embed]\nbatch = 257", "`embed.batch` = `257`: must be between 1 and 256"),
        ("[embed]\ntimeout_ms = 0", "`embed.timeout_ms` = `0`: must be at least 1"),
        ("[generate]\nmax_tokens = 0", "`generate.max_tokens` = `0`: must be at least 1"),
        (
            "[telemetry]\notlp_url = \"collector:4317\"",
            "`telemetry.otlp_url` = `collector:4317`: must be an http or https URL such as `https://host.example`",
        ),
        ("[telemetry]\nsample_ratio = 1.5", "`telemetry.sample_ratio` = `1.5`: must be between 0.0 and 1.0"),
        ("[telemetry]\nsample_ratio = nan", "`telemetry.sample_ratio` = `NaN`: must be between 0.0 and 1.0"),
        ("[telemetry]\nsample_ratio = \"all\"", "`telemetry.sample_ratio` = `all`: must be a number"),
        ("[webhooks]\ntimeout_ms = 0", "`webhooks.timeout_ms` = `0`: must be at least 1"),
        (
            "[web]\nproviders = [\"google\"]",
            "`web.providers.0` = `google`: must be one of `index`, `searxng`, `brave`, `http`",
        ),
        ("[web]\nproviders = []", "`web.providers`: must name at least one of `index`, `searxng`, `brave` and `http`"),
        ("[web]\nproviders = [\"index\", \"index\"]", "`web.providers`: must name each provider once"),
        ("[web]\nread_top = 21", "`web.read_top` = `21`: must be at most 20"),
        ("[web]\nread_timeout_ms = 0", "`web.read_timeout_ms` = `0`: must be at least 1"),
        (
            "[web]\nproviders = [\"searxng\"]",
            "`web.searxng.url` = ``: must be an http or https URL such as `https://host.example`",
        ),
        ("[web]\nproviders = [\"brave\"]", "`web.brave.api_key`: must be set with `brave` in `web.providers`"),
        (
            "[web]\nproviders = [\"http\"]\n[web.http]\nurl = \"ftp://h\"",
            "`web.http.url`: must be an http or https URL such as `https://host.example/search?engine=7`",
        ),
        (
            "[web]\nproviders = [\"http\"]\n[web.http]\nurl = \"http://h/?a=1\"\nresults = \"items\"",
            "`web.http.results` = `items`: must be a JSON pointer such as `/results`",
        ),
        (
            "[web]\nproviders = [\"http\"]\n[web.http]\nurl = \"http://h\"\nresult_url = \"\"",
            "`web.http.result_url` = ``: must not be empty",
        ),
        (
            "[fetch]\nallow_networks = [\"10.0.0.1/8\"]",
            "`fetch.allow_networks`: `10.0.0.1/8` has bits set after the prefix: did you mean `10.0.0.0/8`?",
        ),
        (
            "[fetch]\nrender = \"chromium\"\nrenders_at_a_time = 0",
            "`fetch.renders_at_a_time` = `0`: must be between 1 and 64",
        ),
        (
            "[fetch]\nrender = \"chromium\"\nchromium_url = \"https://127.0.0.1:9222\"",
            "`fetch.chromium_url`: must be a DevTools address such as `http://127.0.0.1:9222` or \
             `ws://127.0.0.1:9222/devtools/browser/ID`",
        ),
        (
            "[fetch]\nrender = \"chromium\"\nchromium_url = \"http://h:9222\"\nchromium_proxy_bind = \"0.0.0.0:8083\"",
            "`fetch.chromium_proxy_address`: must be set to HOST:PORT, because `fetch.chromium_proxy_bind` = `0.0.0.0:8083` is \
             no address to connect to",
        ),
        (
            "[fetch]\nrender = \"chromium\"\nchromium_url = \"http://h:9222\"\nchromium_proxy_address = \"retrieval\"",
            "`fetch.chromium_proxy_address` = `retrieval`: must be HOST:PORT, such as `retrieval:8083`",
        ),
        (
            "[storage]\nbucket = \"No\"",
            "`storage.bucket` = `No`: must be 3 to 63 lowercase letters, digits, `-` or `.`, with a letter or digit at both ends",
        ),
        (
            "[operations]\nbind = \"127.0.0.1:8080\"",
            "`operations.bind` = `127.0.0.1:8080`: is already the address of `server.bind`",
        ),
        (
            "[server]\npublic_url = \"ftp://x\"",
            "`server.public_url` = `ftp://x`: must be an http or https URL such as `https://host.example`",
        ),
        (
            "[mcp]\nallow_origins = [\"https://app.example\", \"https://app.example/page\"]",
            "`mcp.allow_origins` = `https://app.example/page`: must be an origin such as `https://app.example` or `http://app.example:3000`",
        ),
        ("[rate_limit]\ndefault_rps = 0", "`rate_limit.default_rps` = `0`: must be at least 1"),
        (
            "[auth.oauth]\nissuer = \"https://i.example\"\njwks_url = \"https://i.example/keys\"",
            "`auth.oauth.audience` = ``: must not be empty",
        ),
    ];
    for (toml, expected) in cases {
        assert_eq!(load_error(toml, &[]), expected);
    }
    assert_eq!(
        load_error("", &[("RETRIEVAL__STORAGE__PATH_STYLE", "yes")]),
        "`storage.path_style` = `yes`: is not true or false"
    );
    assert_eq!(
        load_error("", &[("RETRIEVAL__TELEMETRY__SAMPLE_RATIO", "half")]),
        "`telemetry.sample_ratio` = `half`: is not a number"
    );
    assert_eq!(load("[telemetry]\nsample_ratio = 0", &[]).unwrap().telemetry.sample_ratio, 0.0);
    assert!(load_error("[server\n", &[]).contains("is not valid TOML"));
    let missing = Settings::load(Some(Path::new("/nowhere/at all.toml")), []).unwrap_err();
    assert_eq!(missing.to_string(), "cannot read the configuration file `/nowhere/at all.toml`");
}

#[test]
fn providers_with_their_keys_are_accepted() {
    let toml = "[web]\nproviders = [\"index\", \"searxng\", \"brave\", \"http\"]\nread_top = 3\n\
                [web.searxng]\nurl = \"http://127.0.0.1:8888\"\n[web.brave]\napi_key = \"k\"\n\
                [web.http]\nurl = \"https://h/s?cx=1\"\nquery_pointer = \"/q\"\nbody = '{\"n\": 1}'\n";
    let web = load(toml, &[]).unwrap().web;
    assert_eq!((web.providers.len(), web.read_top, web.searxng.url.as_str()), (4, 3, "http://127.0.0.1:8888"));
    let bad = load_error(&toml.replace("{\"n\": 1}", "[1]"), &[]);
    assert!(bad.starts_with("`web.http.body`: must be a JSON object: "), "{bad}");
}

#[test]
fn database_urls_are_checked() {
    let url = |text: &str| load(&format!("[database]\nurl = \"{text}\""), &[]);
    for good in ["sqlite:x.db", "sqlite:///abs/x.db", "postgresql://u:p@h/d"] {
        assert!(url(good).is_ok(), "{good}");
    }
    for bad in ["", "sqlite:", "sqlite::memory:", "x.db"] {
        assert!(url(bad).is_err(), "{bad}");
    }
}

#[test]
fn s3_needs_both_parts_of_the_access_key() {
    let file = "[storage]\nbackend = \"s3\"\naccess_key_id = \"a\"\n";
    assert_eq!(load_error(file, &[]), "`storage.secret_access_key`: must be set too: an access key has two parts");
    let settings = load(&format!("{file}secret_access_key = \"b\"\n"), &[]).unwrap();
    assert_eq!(settings.storage.backend, StorageBackend::S3);
}

#[test]
fn every_error_is_reported() {
    let file = "nope = 1\n[server]\nbind = \"here\"\nworkers = -1\npublic_url = \"x\"\n\
                [fetch]\nallow_ports = [80, \"y\"]\ntimeout_ms = 0\n\
                [storage]\nbucket = \"No\"\nregion = \"\"\nsecret_access_key_file = \"/nowhere/key\"\n";
    let error = load(file, &[("RETRIEVAL__STORAGE__PATH_STYLE", "yes"), ("RETRIEVAL_SERVER_BIND", "x")]).unwrap_err();
    let messages: Vec<String> = error.into_list().iter().map(SettingsError::to_string).collect();
    let named = [
        "unknown key `nope`",
        "`/nowhere/key` of `storage.secret_access_key_file`",
        "`storage.path_style` = `yes`",
        "`RETRIEVAL_SERVER_BIND`",
        "`server.bind`",
        "`server.workers` = `-1`",
        "`server.public_url` = `x`",
        "`fetch.allow_ports",
        "`fetch.timeout_ms` = `0`",
        "`storage.bucket` = `No`",
        "`storage.region` = ``",
    ];
    for name in named {
        assert_eq!(messages.iter().filter(|message| message.contains(name)).count(), 1, "{name}: {messages:#?}");
    }
    assert_eq!(messages.len(), named.len(), "{messages:#?}");
    let pairs = environment(&[("RETRIEVAL__LOG__FORMAT", "xml"), ("RETRIEVAL__LOG__FILTER", "x")]);
    let (settings, errors) = Settings::load_with_errors(None, pairs).unwrap();
    assert_eq!(errors.iter().map(SettingsError::key).collect::<Vec<_>>(), [Some("log.format")]);
    assert_eq!(settings.log.filter, "x", "valid values are kept");
    let lines = load("[server]\nbind = 1\nworkers = -1\n", &[]).unwrap_err().to_string();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    let broken = load("[server\n", &[("RETRIEVAL__SERVER__BIND", "nowhere")]).unwrap_err().to_string();
    assert!(broken.contains("is not valid TOML") && broken.contains("nowhere"), "{broken}");
}

#[test]
fn variables_that_match_no_key_are_rejected() {
    for (name, near) in [
        ("RETRIEVAL_SERVER_BIND", "RETRIEVAL__SERVER__BIND"),
        ("RETRIEVAL_SERVER__BIND", "RETRIEVAL__SERVER__BIND"),
        ("RETRIEVAL_SERVER_BNID", "RETRIEVAL__SERVER__BIND"),
        ("RETRIEVAL_DATA_DIR", "RETRIEVAL__DATA_DIR"),
        ("RETRIEVAL_RATE_LIMIT_DEFAULT_RPS", "RETRIEVAL__RATE_LIMIT__DEFAULT_RPS"),
        ("RETRIEVAL_AUTH_OAUTH_ISSUER", "RETRIEVAL__AUTH__OAUTH__ISSUER"),
        ("RETRIEVAL_INDEX_API_KEY_FILE", "RETRIEVAL__INDEX__API_KEY_FILE"),
    ] {
        let message = load_error("", &[(name, "x")]);
        assert_eq!(message, format!("unknown environment variable `{name}`: did you mean `{near}`?"));
    }
    assert_eq!(
        load_error("", &[("RETRIEVAL_COLOUR_OF_THE_SKY", "blue")]),
        "unknown environment variable `RETRIEVAL_COLOUR_OF_THE_SKY`: variables of settings are `RETRIEVAL__SECTION__KEY`"
    );
    assert_eq!(
        load_error("", &[("RETRIEVAL__SERVER_BIND", "x")]),
        "unknown key `server_bind` in the environment: did you mean `RETRIEVAL__SERVER__BIND`?"
    );
    assert!(!load_error("", &[("RETRIEVAL_INDEX_APIKEY", "hunter2")]).contains("hunter2"));
}

#[test]
fn variables_of_other_programs_are_ignored() {
    let others = [
        ("RETRIEVAL_API_KEY", "x"),
        ("RETRIEVAL_BASE_URL", "x"),
        ("RETRIEVAL_SERVER_BIN", "x"),
        ("RETRIEVAL_SERVER_OLD_BIN", "x"),
        ("RETRIEVAL_NOT_CHECKED", ""),
        ("RETRIEVER_BIND", "x"),
        // Kubernetes sets these for services named `retrieval` and `retrieval-server`.
        ("RETRIEVAL_SERVICE_HOST", "10.0.0.1"),
        ("RETRIEVAL_SERVICE_PORT_HTTP", "8080"),
        ("RETRIEVAL_PORT", "tcp://10.0.0.1:8080"),
        ("RETRIEVAL_SERVER_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("RETRIEVAL_SERVER_PORT_8080_TCP_ADDR", "10.0.0.1"),
    ];
    load("", &others).unwrap();
}

#[test]
fn effective_settings_load_again_and_contain_no_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let text = "data_dir = \"a \\\"b\\\\c\"\n[index]\napi_key = \"hunter2\"\n[fetch]\nallow_ports = [81, 82]\n\
                [database]\nurl = \"postgres://u:hunter2@h/d\"\n[rerank]\nurl = \"https://u:hunter2@h/rerank\"\n\
                [web.searxng]\nurl = \"https://hunter2@h/\"\n\
                [web.http]\nurl = \"https://h/?key=hunter2\"\nbody = '{\"key\": \"hunter2\"}'\n";
    std::fs::write(&path, text).unwrap();
    let effective = Settings::effective_toml(Some(&path), environment(&[("RETRIEVAL__SERVER__WORKERS", "3")])).unwrap();
    assert!(!effective.contains("hunter2"), "{effective}");
    let again = load(&effective, &[]).unwrap();
    assert_eq!(again.data_dir, Path::new("a \"b\\c"));
    assert_eq!((again.server.workers, again.fetch.allow_ports), (3, vec![81, 82]));
    assert_eq!(again.database.url.expose(), "sqlite:retrieval.db", "a secret keeps its default");
}

#[test]
fn certificate_and_key_belong_together_and_make_urls_secure() {
    let pair = "[server]\ntls_cert = \"c.pem\"\ntls_key = \"k.pem\"\n";
    let settings = load(pair, &[]).unwrap();
    assert!(settings.has_tls());
    assert_eq!((settings.server.public_url.as_str(), settings.scheme()), ("https://127.0.0.1:8080", "https"));
    let storage = "[storage]\npublic_endpoint = \"http://localhost:8082\"\n";
    assert_eq!(load(&format!("{pair}{storage}"), &[]).unwrap().storage.public_endpoint, "https://localhost:8082");
    let shouted = format!("{pair}[storage]\npublic_endpoint = \"HTTP://files.example.com:8082\"\n");
    assert_eq!(load(&shouted, &[]).unwrap().storage.public_endpoint, "https://files.example.com:8082");
    let external = load(&format!("{pair}{storage}backend = \"s3\"\n"), &[]).unwrap();
    assert_eq!(external.storage.public_endpoint, "http://localhost:8082", "another server's");
    let plain = Settings::load(None, []).unwrap();
    assert!(!plain.has_tls() && plain.scheme() == "http");
    for (line, missing) in [("tls_cert = \"c.pem\"", "server.tls_key"), ("tls_key = \"k.pem\"", "server.tls_cert")] {
        let message = load_error(&format!("[server]\n{line}\n"), &[]);
        assert!(message.contains(missing) && message.contains("belong together"), "{message}");
    }
}
