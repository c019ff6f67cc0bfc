use std::collections::BTreeSet;

use serde_json::{Value, json};
use settings::Settings;
use url::Url;

use super::proxies::upstreams;
use super::{AFTER_DRAIN, assert_command, document, path, read, secret_files, settings, strings};

const FOLDER: &str = "deploy/compose";

/// Servers of `production.yml` that end by themselves.
const ONE_SHOT: [&str; 2] = ["migrate", "doctor"];

/// Services that run the image of this project.
fn servers(compose: &Value) -> Vec<(&str, &Value)> {
    let services = compose["services"].as_object().unwrap().iter();
    services
        .filter(|(_, service)| service["image"] == "retrieval")
        .map(|(name, service)| (name.as_str(), service))
        .collect()
}

fn names(value: &Value) -> BTreeSet<&str> {
    match value {
        Value::Object(fields) => fields.keys().map(String::as_str).collect(),
        Value::Array(_) => strings(value).into_iter().collect(),
        _ => BTreeSet::new(),
    }
}

#[test]
fn services_refer_to_what_the_files_declare() {
    for file in ["single.yml", "production.yml"] {
        let compose = document(&format!("{FOLDER}/{file}"));
        let services = names(&compose["services"]);
        let mut used = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
        for (name, service) in compose["services"].as_object().unwrap() {
            for needed in names(&service["depends_on"]) {
                assert!(services.contains(needed), "{file}: {name} depends on {needed}");
            }
            used[0].extend(names(&service["networks"]));
            used[1].extend(names(&service["secrets"]));
            for volume in strings(&service["volumes"]) {
                let source = volume.split(':').next().unwrap();
                match source.strip_prefix("./") {
                    Some(mounted) => assert!(path(&format!("{FOLDER}/{mounted}")).is_file(), "{file}: {volume}"),
                    None => drop(used[2].insert(source)),
                }
            }
        }
        for (kind, used) in ["networks", "secrets", "volumes"].into_iter().zip(used) {
            assert_eq!(used, names(&compose[kind]), "{file}: {kind}");
        }
    }
}

#[test]
fn servers_are_confined_and_have_known_commands() {
    for (file, count) in [("single.yml", 1), ("production.yml", 5)] {
        let compose = document(&format!("{FOLDER}/{file}"));
        let servers = servers(&compose);
        assert_eq!(servers.len(), count, "{file}");
        for (name, service) in servers {
            assert_eq!(service["read_only"], true, "{name}");
            assert_eq!(strings(&service["cap_drop"]), ["ALL"], "{name}");
            assert_eq!(strings(&service["security_opt"]), ["no-new-privileges:true"], "{name}");
            let build = &service["build"];
            let dockerfile = format!("../{}", build["dockerfile"].as_str().unwrap());
            assert!(path(&dockerfile).is_file() && build["context"] == "../../..", "{name}: {build}");
            assert_command(&strings(&service["command"]));
        }
    }
}

#[test]
fn servers_have_time_to_stop() {
    let production = settings(&read(&format!("{FOLDER}/retrieval.toml")));
    for (file, settings) in [("single.yml", Settings::load(None, []).unwrap()), ("production.yml", production)] {
        for (name, service) in servers(&document(&format!("{FOLDER}/{file}"))) {
            let grace: u64 = service["stop_grace_period"].as_str().unwrap().strip_suffix('s').unwrap().parse().unwrap();
            assert!(grace >= settings.server.drain_seconds + AFTER_DRAIN, "{file}: {name}: {grace}");
        }
    }
}

#[test]
fn secrets_are_those_that_the_script_creates() {
    let (compose, script) = (document(&format!("{FOLDER}/production.yml")), read(&format!("{FOLDER}/secrets.sh")));
    let created: BTreeSet<&str> =
        script.lines().filter_map(|line| line.trim().strip_prefix("put ")?.split(' ').next()).collect();
    let files = compose["secrets"].as_object().unwrap().values().map(|secret| secret["file"].as_str().unwrap());
    let services = compose["services"].as_object().unwrap().values();
    let environments = services.flat_map(|service| strings(&service["env_file"]));
    let needed: BTreeSet<&str> =
        files.chain(environments).map(|file| file.strip_prefix("secrets/").unwrap_or(file)).collect();
    assert_eq!(created, needed);
    for (name, server) in servers(&compose) {
        let mounted = names(&server["secrets"]).into_iter().map(|secret| format!("/run/secrets/{secret}")).collect();
        assert_eq!(secret_files(&read(&format!("{FOLDER}/retrieval.toml"))), mounted, "{name}");
    }
}

#[test]
fn secrets_are_neither_in_images_nor_in_the_repository() {
    let (image, repository) = (read("deploy/Containerfile.dockerignore"), read("../.gitignore"));
    // The second one holds them while the script writes them.
    for folder in ["secrets", ".secrets.*"].map(|name| format!("config/{FOLDER}/{name}")) {
        assert!(image.lines().any(|line| line == folder), "{folder}");
        assert!(repository.lines().any(|line| line == format!("{folder}/")), "{folder}");
    }
}

#[test]
fn settings_name_the_services_and_their_ports() {
    let compose = document(&format!("{FOLDER}/production.yml"));
    let (script, caddy) = (read(&format!("{FOLDER}/secrets.sh")), read(&format!("{FOLDER}/Caddyfile")));
    let garage: toml::Table = read(&format!("{FOLDER}/garage.toml")).parse().unwrap();
    let settings = settings(&read(&format!("{FOLDER}/retrieval.toml")));
    let services = names(&compose["services"]);
    let endpoint = Url::parse(&settings.storage.endpoint).unwrap();
    let index = Url::parse(&settings.index.url).unwrap();
    for url in [&endpoint, &index] {
        assert!(services.contains(url.host_str().unwrap()), "{url}");
    }
    for url in script.lines().filter(|line| line.contains("_url \"")).map(|line| line.split('"').nth(1).unwrap()) {
        let url = Url::parse(&url.replace("$password", "x")).unwrap();
        assert!(services.contains(url.host_str().unwrap()), "{url}");
    }
    let s3 = garage["s3_api"].as_table().unwrap();
    assert_eq!(s3["s3_region"].as_str(), Some(settings.storage.region.as_str()));
    assert!(s3["api_bind_addr"].as_str().unwrap().ends_with(&format!(":{}", endpoint.port().unwrap())));
    assert!(script.contains(&format!("GARAGE_DEFAULT_BUCKET={}\"", settings.storage.bucket)));

    // Caddy: the sites of both public URLs, on published ports, in front of the instances and of the store.
    let published = strings(&compose["services"]["caddy"]["ports"]);
    for url in [&settings.server.public_url, &settings.storage.public_endpoint] {
        let url = Url::parse(url).unwrap();
        let port = url.port_or_known_default().unwrap();
        let site = url
            .port()
            .map_or_else(|| url.host_str().unwrap().to_owned(), |port| format!("{}:{port}", url.host_str().unwrap()));
        assert!(caddy.lines().any(|line| line == format!("{site} {{")), "{site}");
        assert!(published.contains(&format!("{port}:{port}").as_str()), "{port}");
    }
    let upstreams: BTreeSet<&str> = upstreams(&caddy).into_iter().collect();
    let api = settings.server.bind.port();
    let expected = [format!("api-1:{api}"), format!("api-2:{api}"), format!("garage:{}", endpoint.port().unwrap())];
    assert_eq!(upstreams, expected.iter().map(String::as_str).collect());
    assert!(caddy.contains(&format!("health_port {}", settings.operations.bind.port())));
    assert!(caddy.contains("health_uri /readyz"));
    // The console uploads from the origin of the API.
    let permitted = format!("header >Access-Control-Allow-Origin {}", settings.server.public_url);
    assert!(caddy.lines().any(|line| line.trim() == permitted), "{permitted}");
}

#[test]
fn doctor_reaches_the_public_urls_as_clients_do() {
    let compose = document(&format!("{FOLDER}/production.yml"));
    let doctor = &compose["services"]["doctor"];
    assert_eq!((&doctor["network_mode"], &doctor["networks"]), (&json!("service:caddy"), &Value::Null));
    assert_eq!(strings(&doctor["profiles"]), ["doctor"], "it is started by hand");
    assert_eq!((&doctor["restart"], &doctor["user"]), (&json!("no"), &json!("0:0")));
    let data = |service: &Value| {
        let volumes = strings(&service["volumes"]).into_iter();
        let mut found = volumes.filter_map(|volume| volume.strip_prefix("caddy:"));
        found.next().unwrap().to_owned()
    };
    assert_eq!(data(&compose["services"]["caddy"]), "/data");
    let mounted = data(doctor);
    let mounted = mounted.strip_suffix(":ro").unwrap();
    // Caddy stores below the folder `caddy` of its volume.
    let authority = format!("{mounted}/caddy/pki/authorities/local/root.crt");
    assert_eq!(doctor["environment"]["SSL_CERT_FILE"], authority);
}

#[test]
fn prometheus_scrapes_every_server() {
    let compose = document(&format!("{FOLDER}/production.yml"));
    let settings = settings(&read(&format!("{FOLDER}/retrieval.toml")));
    let prometheus = document("monitoring/prometheus.yml");
    let job = &prometheus["scrape_configs"][0];
    assert_eq!(job["job_name"], "retrieval");
    let targets: BTreeSet<&str> = strings(&job["static_configs"][0]["targets"]).into_iter().collect();
    let running = servers(&compose).into_iter().map(|(name, _)| name).filter(|name| !ONE_SHOT.contains(name));
    let port = settings.operations.bind.port();
    let expected: BTreeSet<String> = running.map(|name| format!("{name}:{port}")).collect();
    assert_eq!(targets, expected.iter().map(String::as_str).collect());
    for rules in strings(&prometheus["rule_files"]) {
        assert!(path(&format!("monitoring/{rules}")).is_file(), "{rules}");
    }
}
