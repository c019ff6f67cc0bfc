//! Addresses: their canonical form, and who reaches them.

use std::path::Path;

use settings::Settings;

use crate::{environment, load};

#[test]
fn public_url_is_stored_in_its_canonical_form() {
    let load = |url: &str| load("", &[("RETRIEVAL__SERVER__PUBLIC_URL", url), ("RETRIEVAL__STORAGE__BACKEND", "s3")]);
    for (written, canonical) in [
        ("https://search.acme.com", "https://search.acme.com"),
        ("https://köln.acme.com", "https://xn--kln-sna.acme.com"),
        ("HTTPS://Search.ACME.com:443", "https://search.acme.com"),
        (" https://search.acme.com \n", "https://search.acme.com"),
        ("https://search.acme.com/suche/ü", "https://search.acme.com/suche/%C3%BC"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ] {
        assert_eq!(load(written).unwrap().server.public_url, canonical, "{written:?}");
    }
    for (refused, reason) in [
        ("https://search.acme.com/", "must not end with a slash"),
        ("https://search.acme.com/ ", "must not end with a slash"),
        ("https://u:hunter2@search.acme.com", "must consist of scheme, host, port and a path"),
        ("https://search.acme.com/a;b", "must consist of scheme, host, port and a path"),
        ("https://search.acme.com/it's", "must consist of scheme, host, port and a path"),
        ("https://search.acme.com/$(id)", "must consist of scheme, host, port and a path"),
        ("https://search.acme.com?q", "must have no query and no fragment"),
    ] {
        let message = load(refused).unwrap_err().to_string();
        assert!(message.contains(reason) && !message.contains("hunter2"), "{refused:?}: {message}");
    }
}

#[test]
fn storage_must_be_reachable_for_clients_of_the_public_url() {
    let check = |public_url: &str, storage: &str| {
        load(&format!("[server]\npublic_url = \"{public_url}\"\n[storage]\n{storage}\n"), &[])
    };
    let endpoint = |url: &str| format!("public_endpoint = \"{url}\"");
    let s3 = |url: &str| format!("backend = \"s3\"\nendpoint = \"{url}\"");
    for (public_url, storage) in [
        ("https://search.example.com", String::new()),
        ("https://search.example.com", "bind = \"0.0.0.0:8082\"".to_owned()),
        ("https://search.example.com", endpoint("http://localhost:8082")),
        ("https://search.example.com", endpoint("http://[::1]:8082")),
        ("https://search.example.com", endpoint("http://10.1.2.3:8082")),
        ("https://search.example.com", endpoint("http://minio:9000")),
        ("https://search.example.com", s3("http://127.0.0.1:9000")),
        ("https://203.0.113.7", endpoint("http://192.168.0.4:8082")),
        ("http://192.168.0.4:8080", String::new()),
        ("http://retrieval:8080", endpoint("http://0.0.0.0:8082")),
    ] {
        let message = check(public_url, &storage).unwrap_err().to_string();
        assert!(message.starts_with("`storage.public_endpoint` = `"), "{public_url} {storage}: {message}");
        assert!(message.contains(public_url), "{message}");
    }
    for (public_url, storage) in [
        ("http://127.0.0.1:8080", String::new()),
        ("http://localhost:8080", "bind = \"0.0.0.0:8082\"".to_owned()),
        ("https://search.example.com", endpoint("https://uploads.example.com")),
        ("https://search.example.com", "bind = \"198.51.100.7:8082\"".to_owned()),
        ("https://search.example.com", "backend = \"s3\"".to_owned()),
        ("http://192.168.0.4:8080", endpoint("http://192.168.0.4:8082")),
        ("http://search.corp:8080", endpoint("http://10.1.2.3:8082")),
        ("http://127.0.0.1:8080", endpoint("https://uploads.example.com")),
    ] {
        check(public_url, &storage).unwrap();
    }
}

#[test]
fn public_endpoint_of_the_embedded_store_has_no_path() {
    let storage = |backend: &str, url: &str| {
        load(&format!("[storage]\nbackend = \"{backend}\"\npublic_endpoint = \"{url}\"\n"), &[])
    };
    for url in ["https://x.example/uploads", "https://x.example/uploads/", "https://u:hunter2@x.example:8443//a"] {
        let message = storage("embedded", url).unwrap_err().to_string();
        assert!(message.starts_with("`storage.public_endpoint` = `https://"), "{message}");
        assert!(message.contains("must have no path") && !message.contains("hunter2"), "{message}");
        storage("s3", url).unwrap();
    }
    for url in ["", "https://x.example", "https://x.example/", "https://x.example:8443"] {
        storage("embedded", url).unwrap();
    }
}

#[test]
fn effective_settings_keep_every_address_of_a_list_and_what_is_no_address() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let text = "data_dir = \"/srv/a@b\"\n[fetch]\ncontact = \"mailto:ops@example.com\"\n\
                [index]\nbackend = \"qdrant\"\nurl = \"http://u:hunter2@a:6334,http://u:hunter2@b:6334\"\n";
    std::fs::write(&path, text).unwrap();
    let effective = Settings::effective_toml(Some(&path), environment(&[])).unwrap();
    assert!(!effective.contains("hunter2"), "{effective}");
    let again = load(&effective, &[]).unwrap();
    assert_eq!(again.index.url, "http://a:6334/,http://b:6334/");
    assert_eq!(
        (again.data_dir.as_path(), again.fetch.contact.as_str()),
        (Path::new("/srv/a@b"), "mailto:ops@example.com")
    );
}

#[test]
fn default_public_url_has_the_port_of_the_listener() {
    for (bind, url) in [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("0.0.0.0:9090", "http://127.0.0.1:9090"),
        ("[::]:9090", "http://127.0.0.1:9090"),
        ("[::1]:9090", "http://[::1]:9090"),
        ("127.0.0.2:80", "http://127.0.0.2"),
        ("127.0.0.1:0", "http://127.0.0.1:8080"),
        ("192.0.2.7:9090", "http://127.0.0.1:8080"),
    ] {
        let file = format!("[server]\nbind = \"{bind}\"\n");
        assert_eq!(load(&file, &[]).unwrap().server.public_url, url, "{bind}");
        assert_eq!(load("", &[("RETRIEVAL__SERVER__BIND", bind)]).unwrap().server.public_url, url, "{bind}");
        // Also if it is the default one.
        for set in ["http://127.0.0.1:8080", "https://search.example"] {
            let file =
                format!("{file}public_url = \"{set}\"\n[storage]\npublic_endpoint = \"https://files.example\"\n");
            assert_eq!(load(&file, &[]).unwrap().server.public_url, set, "{bind}");
        }
    }
}
