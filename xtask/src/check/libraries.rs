//! Which outside library may be used where.

use super::Breach;
use super::workspace::Crate;

/// An outside library that only some crates may use, so that it can be swapped there and its types stay inside.
struct Confined {
    /// Package name; a `*` at the end stands for any ending.
    library: &'static str,
    homes: &'static [&'static str],
    /// Programs below `bins/` may use it too.
    bins: bool,
}

const fn confined(library: &'static str, homes: &'static [&'static str]) -> Confined {
    Confined { library, homes, bins: false }
}

const fn with_bins(library: &'static str, homes: &'static [&'static str]) -> Confined {
    Confined { library, homes, bins: true }
}

/// Those who call other services over HTTP.
const HTTP_CLIENTS: &[&str] = &[
    "access-tokens",
    "blobs-s3",
    "engine-meilisearch",
    "fetcher",
    "models-http",
    "retrieval-client",
    "telemetry",
    "web-providers-http",
];

/// Those who speak HTTP at all, as server or as client. `docstore`, the use cases and the core are not among them.
const HTTP: &[&str] = &[
    "access-tokens",
    "blobs-s3",
    "engine-meilisearch",
    "fetcher",
    "http-actix",
    "models-http",
    // The browser's proxy.
    "renderer-chromium",
    "retrieval-client",
    "s3-server",
    "web-providers-http",
];

const CONFINED: &[Confined] = &[
    confined("diesel*", &["docstore"]),
    confined("libsqlite3-sys", &["docstore"]),
    confined("tokio-postgres*", &["docstore"]),
    with_bins("actix*", &["http-actix"]),
    confined("tantivy*", &["engine-tantivy"]),
    confined("meilisearch-sdk", &["engine-meilisearch"]),
    confined("qdrant-client", &["engine-qdrant"]),
    confined("tonic*", &["engine-qdrant"]),
    confined("prost*", &["engine-qdrant"]),
    confined("rusoto_*", &["blobs-s3"]),
    confined("s3s*", &["s3-server"]),
    confined("redis", &["rate-limit-redis"]),
    confined("candle-*", &["models-local"]),
    confined("tokenizers", &["models-local"]),
    confined("safetensors", &["models-local"]),
    confined("pdf_oxide", &["extract"]),
    confined("office_oxide", &["extract"]),
    // Processes and their jail.
    confined("landlock", &["extract-worker"]),
    confined("seccompiler", &["extract-worker"]),
    confined("rs-trafilatura", &["extract"]),
    confined("htmd", &["extract"]),
    with_bins("reqwest", HTTP_CLIENTS),
    with_bins("http", HTTP),
    with_bins("http-body*", HTTP),
    with_bins("hyper*", HTTP),
    confined("h2", &["fetcher"]),
    confined("tokio-tungstenite", &["renderer-chromium"]),
    with_bins("anyhow", &["xtask"]),
    with_bins("clap", &["xtask"]),
    with_bins("indicatif", &["xtask"]),
    with_bins("tracing-subscriber", &[]),
    with_bins("metrics-exporter-prometheus", &[]),
    confined("figment", &["settings"]),
    confined("mime", &["file-types"]),
];

/// Crates that may use these outside libraries and no others.
const ALLOW_LISTS: &[(&str, &[&str])] = &[
    // Text in, plain data out: no I/O, clock, async, HTTP, database or JSON.
    (
        "retrieval-core",
        &[
            "frostem",
            "percent-encoding",
            "thiserror",
            "unicode-normalization",
            "unicode-segmentation",
            "url",
            "uuid",
            "whatlang",
        ],
    ),
    ("model", &["uuid"]),
    ("file-types", &["mime", "serde", "unicode-normalization"]),
    ("openapi", &["serde_json", "uuid"]),
    ("api-types", &["schemars", "serde", "serde_json", "thiserror", "time", "url", "uuid", "validator"]),
];

/// Finds outside libraries used outside the crates they are confined to. Tests are free to use any.
pub fn check_confined(crates: &[Crate]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for krate in crates {
        for used in krate.built_with().filter(|used| !used.ours) {
            let Some(rule) = CONFINED.iter().find(|rule| matches(rule.library, &used.name)) else { continue };
            if rule.homes.contains(&krate.name.as_str()) || (rule.bins && krate.is_bin) {
                continue;
            }
            breaches.push(Breach::new(
                format!("`{}` uses `{}`", krate.name, used.name),
                format!("`{}` belongs in {}; reach it through that crate's own types", rule.library, homes(rule)),
            ));
        }
    }
    breaches
}

/// Finds libraries in pure crates that are not on their lists.
pub fn check_allow_lists(crates: &[Crate]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (name, allowed) in ALLOW_LISTS {
        let Some(krate) = crates.iter().find(|krate| krate.name == *name) else { continue };
        for used in krate.built_with().filter(|used| !used.ours) {
            if !allowed.contains(&used.name.as_str()) {
                breaches.push(Breach::new(
                    format!("`{name}` uses `{}`", used.name),
                    "do without it; if it is pure and worth its weight, add it to ALLOW_LISTS in \
                     xtask/src/check/libraries.rs",
                ));
            }
        }
    }
    breaches
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

fn homes(rule: &Confined) -> String {
    let mut places: Vec<String> = rule.homes.iter().map(|home| format!("`{home}`")).collect();
    if rule.bins {
        places.push("the programs below bins/".to_owned());
    }
    places.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::workspace::fake::{for_tests, library, outside, program};
    use super::*;

    fn confined_breaches(crates: &[Crate]) -> Vec<String> {
        check_confined(crates).into_iter().map(|breach| breach.what).collect()
    }

    #[test]
    fn a_library_outside_its_home_is_found() {
        let crates = [
            library("docstore", vec![outside("diesel-async"), outside("hyper")]),
            library("app", vec![outside("diesel"), outside("tokio")]),
            library("ingest", vec![outside("anyhow")]),
        ];
        assert_eq!(
            confined_breaches(&crates),
            ["`docstore` uses `hyper`", "`app` uses `diesel`", "`ingest` uses `anyhow`"]
        );
    }

    #[test]
    fn programs_may_use_what_is_theirs_and_no_more() {
        let crates = [program("retrieval-server", vec![outside("actix-web"), outside("anyhow"), outside("tantivy")])];
        assert_eq!(confined_breaches(&crates), ["`retrieval-server` uses `tantivy`"]);
    }

    #[test]
    fn tests_may_use_any_library() {
        assert_eq!(confined_breaches(&[library("app", vec![for_tests(outside("reqwest"))])]), Vec::<String>::new());
    }

    #[test]
    fn pure_crates_keep_to_their_lists() {
        let crates =
            [library("retrieval-core", vec![outside("tokio"), outside("uuid"), for_tests(outside("proptest"))])];
        let found: Vec<_> = check_allow_lists(&crates).into_iter().map(|breach| breach.what).collect();
        assert_eq!(found, ["`retrieval-core` uses `tokio`"]);
    }
}
