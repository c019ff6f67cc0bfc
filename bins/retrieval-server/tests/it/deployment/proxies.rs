use settings::Settings;

use super::read;

fn defaults() -> Settings {
    Settings::load(None, []).unwrap()
}

/// Returns the values of a directive of nginx.
fn directives<'a>(conf: &'a str, name: &str) -> Vec<&'a str> {
    let lines = conf.lines().filter_map(|line| line.trim().strip_suffix(';')?.strip_prefix(name));
    lines.filter(|value| value.starts_with(' ')).map(str::trim).collect()
}

/// Returns the upstreams of a Caddyfile.
pub(super) fn upstreams(caddy: &str) -> Vec<&str> {
    let lines = caddy.lines().filter_map(|line| line.trim().strip_prefix("reverse_proxy "));
    lines.flat_map(|line| line.trim_end_matches(" {").split(' ')).collect()
}

fn seconds(text: &str) -> u64 {
    text.strip_suffix('s').unwrap_or(text).parse().unwrap_or_else(|_| panic!("`{text}` is no time"))
}

#[test]
fn proxies_forward_to_the_default_ports() {
    let settings = defaults();
    let backends = [settings.server.bind, settings.storage.bind].map(|bind| bind.to_string());
    let caddy = read("deploy/proxy/Caddyfile");
    assert_eq!(upstreams(&caddy), backends);
    let nginx = read("deploy/proxy/nginx.conf");
    assert_eq!(directives(&nginx, "server"), backends);
    for (file, text) in [("Caddyfile", &caddy), ("nginx.conf", &nginx)] {
        let internal = format!(":{}", settings.operations.bind.port());
        assert!(!text.contains(&internal), "{file} exposes the internal listener");
        assert_eq!(text.matches('{').count(), text.matches('}').count(), "{file}");
        for name in ["retrieval.example.com", "uploads.example.com"] {
            assert!(text.contains(&format!("https://{name}\"")) && text.matches(name).count() > 1, "{file}: {name}");
        }
    }
}

#[test]
fn container_behind_a_proxy_has_the_names_of_the_proxy() {
    let (caddy, single) = (read("deploy/proxy/Caddyfile"), read("deploy/compose/single.yml"));
    for (section, key) in [("server", "public_url"), ("storage", "public_endpoint")] {
        let setting = format!("{section}.{key} = ");
        let url = caddy.lines().find_map(|line| line.split_once(&setting)).unwrap().1.trim_matches('"');
        let variable = format!("RETRIEVAL__{section}__{key}").to_uppercase();
        let line = format!("{variable}: {url}");
        assert!(single.lines().any(|text| text.trim_start_matches(['#', ' ']) == line), "{line}");
    }
}

#[test]
fn nginx_keeps_what_signatures_charges_and_timeouts_rely_on() {
    let (settings, nginx) = (defaults(), read("deploy/proxy/nginx.conf"));
    let hosts = directives(&nginx, "proxy_set_header").into_iter().filter(|value| value.starts_with("Host "));
    assert_eq!(hosts.collect::<Vec<_>>(), ["Host $http_host"; 2]);
    assert_eq!(directives(&nginx, "proxy_next_upstream"), ["off"; 2]);
    assert_eq!(directives(&nginx, "proxy_request_buffering"), ["off"]);
    let timeouts: Vec<u64> = directives(&nginx, "proxy_read_timeout").into_iter().map(seconds).collect();
    assert!(timeouts.iter().all(|timeout| timeout * 1_000 > settings.server.request_timeout_ms), "{timeouts:?}");
    // The API answers larger bodies itself: it reads up to 8 MiB of them (`MAX_DISCARDED` of `http-actix`). Files have any size.
    assert_eq!(directives(&nginx, "client_max_body_size"), ["9m", "0"]);
}

#[test]
fn proxies_close_idle_connections_before_the_servers_do() {
    let nginx = read("deploy/proxy/nginx.conf");
    let [proxy, compose] = ["deploy/proxy/Caddyfile", "deploy/compose/Caddyfile"].map(read);
    let caddy = |text: &str| -> Vec<u64> {
        text.lines().filter_map(|line| line.trim().strip_prefix("keepalive ")).map(seconds).collect()
    };
    let nginx = directives(&nginx, "keepalive_timeout").into_iter().map(seconds).collect();
    // The API closes them after 75 s, the embedded store after 60 s.
    for idle in [nginx, caddy(&proxy)] {
        assert!(idle.len() == 2 && idle[0] < 75 && idle[1] < 60, "{idle:?}");
    }
    // The store of the composition is another program.
    let idle = caddy(&compose);
    assert!(idle.len() == 1 && idle[0] < 75, "{idle:?}");
}
