//! Imports of folders, and of zip archives of folders.

use std::io::{Cursor, Write};
use std::path::Path;

use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::{Database, Server};

on_both_databases!(pages_of_a_folder_are_searchable, pages_of_a_zip_archive_are_searchable, inputs_without_an_address);

const BASE: &str = "https://docs.example.com/v2";

const WALRUS: &str = "<html lang=en><title>Walrus</title><body><nav>Start</nav><main><h1>Walrus</h1>\
    <p>The walrus lives in cold seas and eats what it finds on the ground, clams above all.</p></main></body></html>";
const NARWHAL: &str = "# Narwhal\n\nThe tusk of the narwhal is a tooth that grows through its lip.\n";
/// Files that are no pages, or whose names are hidden.
const OTHERS: [&str; 4] = ["logo.png", "data.json", ".git/notes.md", ".hidden.md"];

fn pages() -> [(&'static str, &'static str); 3] {
    [
        ("animals/index.html", WALRUS),
        ("animals/über uns?.md", NARWHAL),
        ("plain.txt", "Puffins nest in burrows that they dig with their feet."),
    ]
}

fn write(folder: &Path, name: &str, content: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn pages_of_a_folder_are_searchable(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let folder = server.settings_file().with_file_name("site");
    for (name, content) in pages() {
        write(&folder, name, content);
    }
    for name in OTHERS {
        write(&folder, name, "walrus");
    }
    // Neither followed nor imported, so a loop ends.
    std::os::unix::fs::symlink(&folder, folder.join("loop")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", folder.join("host.txt")).unwrap();
    let arguments = ["web", "import", folder.to_str().unwrap(), "--base-url", BASE];
    let imported = server.command(&arguments);
    assert_eq!(imported.object(), json!({ "read": 3, "imported": 3, "unchanged": 0, "failed": 0 }), "{imported:#?}");
    for (words, address) in [
        ("clams in cold seas", "/animals/"),
        ("tusk of the narwhal", "/animals/%C3%BCber%20uns%3F.md"),
        ("burrows of puffins", "/plain.txt"),
    ] {
        let found = client.search_web(words);
        assert_eq!(found["results"][0]["canonical_url"], format!("{BASE}{address}"), "{words}");
    }
    assert_eq!(server.command(&arguments).object()["unchanged"], 3);
}

fn pages_of_a_zip_archive_are_searchable(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, content: &[u8]| {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    };
    for (name, content) in pages() {
        add(name, content.as_bytes());
    }
    for name in OTHERS {
        add(name, b"walrus");
    }
    add("__MACOSX/animals/._index.html", b"attributes");
    add("../../outside.md", b"A page that is not below its base.");
    // A thousandth of its size in the archive.
    add("bomb.txt", &vec![b' '; (64 << 20) + 1]);
    let bytes = archive.finish().unwrap().into_inner();
    let path = server.settings_file().with_file_name("site.bin");
    std::fs::write(&path, &bytes).unwrap();

    let imported = server.command(&["web", "import", path.to_str().unwrap(), "--base-url", BASE]);
    assert_eq!(imported.object(), json!({ "read": 5, "imported": 3, "unchanged": 0, "failed": 2 }), "{imported:#?}");
    for expected in
        ["entry 9 (`../../outside.md`): the path leaves its folder", "entry 10 (`bomb.txt`): more than 67108864 bytes"]
    {
        assert!(imported.stderr.contains(expected), "{}", imported.stderr);
    }
    let found = client.search_web("tusk of the narwhal");
    assert_eq!(found["results"][0]["canonical_url"], format!("{BASE}/animals/%C3%BCber%20uns%3F.md"));

    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let cut = server.command(&["web", "import", path.to_str().unwrap(), "--base-url", BASE]);
    assert!(cut.code() == Some(1) && cut.stderr.contains("reading the zip archive"), "{cut:#?}");
    let piped = server.command_with_input(&["web", "import", "-", "--base-url", BASE], bytes);
    assert!(piped.code() == Some(1) && piped.stderr.contains("a zip archive must be a file"), "{piped:#?}");
}

fn inputs_without_an_address(database: Database) {
    let server = Server::start(database);
    let folder = server.settings_file().with_file_name("site");
    write(&folder, "a.md", NARWHAL);
    let folder = folder.to_str().unwrap();
    for (arguments, code, expected) in [
        (vec![folder], 2, "add --base-url"),
        (vec![folder, "--base-url", "docs"], 2, "--base-url `docs`"),
        (vec![folder, "--base-url", "file:///srv"], 2, "--base-url `file:///srv` must begin with http:// or https://"),
        (vec![folder, "--base-url", BASE, "--format", "warc"], 2, "is a folder"),
        (vec!["-", "--base-url", BASE], 2, "--base-url is for folders and zip archives"),
        (vec!["/nowhere"], 1, "opening `/nowhere`"),
    ] {
        let arguments = [&["web", "import"][..], &arguments].concat();
        let failed = server.command_with_input(&arguments, "{}\n");
        assert!(failed.code() == Some(code) && failed.stderr.contains(expected), "{arguments:?}: {failed:#?}");
    }
}
