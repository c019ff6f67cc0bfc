//! Served files.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use console::{File, INDEX, files};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

const MAX_COMPRESSED_BYTES: usize = 150_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("static")
}

fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            let relative = path.strip_prefix(self::folder()).unwrap().to_str().unwrap().to_owned();
            found.insert(relative);
        }
    }
}

fn file(path: &str) -> File {
    files().find(|file| file.path == path).unwrap()
}

#[test]
fn every_file_of_the_folder_is_served() {
    let mut found = BTreeSet::new();
    collect(&folder(), &mut found);
    found.remove("vendor/SHA256SUMS");
    let served: BTreeSet<String> = files().map(|file| file.path.to_owned()).collect();
    assert_eq!(served, found);
}

#[test]
fn vendored_files_are_as_published() {
    let sums = fs::read_to_string(folder().join("vendor/SHA256SUMS")).unwrap();
    let listed: BTreeSet<String> = sums
        .lines()
        .map(|line| {
            let (sum, name) = line.split_once("  ").unwrap();
            let bytes = fs::read(folder().join("vendor").join(name)).unwrap();
            assert_eq!(hex::encode(Sha256::digest(&bytes)), sum, "{name}");
            name.to_owned()
        })
        .collect();
    let mut found = BTreeSet::new();
    collect(&folder().join("vendor"), &mut found);
    let found: BTreeSet<String> = found
        .iter()
        .filter_map(|path| path.strip_prefix("vendor/"))
        .filter(|name| *name != "SHA256SUMS")
        .map(str::to_owned)
        .collect();
    assert_eq!(listed, found);
    for library in ["preact", "htm"] {
        assert!(listed.contains(&format!("{library}.LICENSE")), "{library}");
    }
}

#[test]
fn all_files_together_are_small() {
    let size: usize = files()
        .filter(|file| !file.path.ends_with("LICENSE"))
        .map(|file| {
            // The level of the server.
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(file.text.as_bytes()).unwrap();
            encoder.finish().unwrap().len()
        })
        .sum();
    assert!(size < MAX_COMPRESSED_BYTES, "{size} bytes");
}

#[test]
fn page_has_no_inline_code_and_names_existing_files() {
    let page = file(INDEX).text;
    let markup = page.to_lowercase();
    assert!(!markup.contains("<style") && !markup.contains(" style=") && !markup.contains("javascript:"), "{page}");
    for script in markup.split("<script").skip(1) {
        let (tag, rest) = script.split_once('>').unwrap();
        assert!(tag.contains(" src=") && rest.starts_with("</script>"), "{script}");
    }
    let is_handler = |word: &str| word.starts_with("on") && word.contains('=');
    assert!(!markup.split_whitespace().any(is_handler), "{page}");
    let served: BTreeSet<&str> = files().map(|file| file.path).collect();
    let links =
        page.split(['"']).filter(|part| part.ends_with(".js") || part.ends_with(".mjs") || part.ends_with(".css"));
    let named: BTreeSet<&str> = links.collect();
    assert!(named.is_subset(&served), "{named:?}");
    let modules = served.iter().filter(|path| path.ends_with("js"));
    assert!(modules.clone().count() > 30 && modules.clone().all(|path| named.contains(path)), "{named:?}");
}

/// Addresses elsewhere and dangerous functions have no place in the modules.
#[test]
fn modules_load_nothing_from_elsewhere() {
    let own = files().filter(|file| file.path.ends_with("js") && !file.path.starts_with("vendor/"));
    for file in own {
        for forbidden in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "localStorage",
            "document.cookie",
        ] {
            assert!(!file.text.contains(forbidden), "{}: {forbidden}", file.path);
        }
        let imports = file.text.split("from \"").skip(1).filter_map(|rest| rest.split('"').next());
        for import in imports.filter(|import| !import.contains(' ')) {
            assert!(import.starts_with("./") || import.starts_with("../"), "{}: {import}", file.path);
        }
    }
    let hooks = file("vendor/hooks.mjs").text;
    assert!(hooks.contains("from\"./preact.mjs\"") && !hooks.contains("from\"preact\""));
}
