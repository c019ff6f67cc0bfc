//! Pages that are empty without scripts, with the Chromium of this machine.

use renderer_chromium::find_program;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Page, Server, Site};

const SETTINGS: &str = "[fetch]\nrender = \"chromium\"\nallow_networks = [\"127.0.0.1/32\"]\n\
                        chromium_sandbox = \"best_effort\"\ntimeout_ms = 20000\n";

fn has_chromium() -> bool {
    let found = find_program(&std::env::var_os("PATH").unwrap_or_default()).is_some();
    if !found {
        println!("NOT TESTED: no Chromium on the PATH");
    }
    found
}

fn app(site: &Site, path: &str, text: &str) -> String {
    site.put(
        "/app.js",
        Page::of("text/javascript", "fetch('/data').then(r => r.text()).then(t => root.innerHTML = t)"),
    );
    site.put("/data", Page::of("text/html", text));
    site.put(path, Page::html("<div id=root></div><script src=/app.js></script>"))
}

#[test]
fn text_of_scripts_is_read_and_crawled() {
    if !has_chromium() {
        return;
    }
    let site = Site::start();
    let text = "<h1>Tides</h1><p>Spring tides follow the new moon and the full moon by one to two days.</p>\
                <a href=/second>second</a>";
    let url = app(&site, "/app", text);
    site.put("/second", Page::html("<p>The second page needs no scripts and speaks of neap tides.</p>"));
    let server = Server::start_with(Database::sqlite(), SETTINGS);
    let client = server.tenant("acme");
    let body = json!({ "canonical_url": url, "content": { "selection": "full_document" } });
    let read = client.document(body).ok();
    assert!(read["content"]["text"].as_str().unwrap_or_default().contains("Spring tides follow"), "{read:#}");
    assert_eq!(site.hits("/app"), 1, "the browser does not request the page again");

    let ready = Client::new(&server.operations(), None, Uuid::nil()).get("/readyz").ok();
    let renderer = ready["dependencies"].as_array().unwrap().iter().find(|one| one["name"] == "renderer").unwrap();
    assert_eq!((&renderer["state"], &renderer["required"]), (&json!("up"), &json!(false)), "{renderer}");
    let doctor = server.command(&["doctor", "--json"]);
    assert!(doctor.stdout.lines().any(|line| line.contains("renderer") && line.contains("responds")), "{doctor:#?}");

    let crawled = server.command(&["web", "crawl", &url, "--name", "app", "--wait"]).object();
    assert_eq!(crawled["pages"], 2, "the link that a script wrote is followed: {crawled}");
    let found: Value = client.search_web("spring tides new moon");
    assert_eq!(found["results"][0]["canonical_url"], url, "{found:#}");
}

#[test]
fn server_without_a_browser_does_not_start() {
    let server = Server::prepare(Database::sqlite(), SETTINGS);
    let refused = server.command_without_path(&["serve"]);
    assert_eq!(refused.code(), Some(1), "{refused:#?}");
    for named in ["fetch.render", "`chromium`", "apt-get install chromium", "fetch.chromium_url"] {
        assert!(refused.stderr.contains(named), "{}", refused.stderr);
    }
}
