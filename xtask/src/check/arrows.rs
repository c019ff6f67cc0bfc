//! Which crate of the workspace may use which: the layers of `docs/architecture.md`.

use super::Breach;
use super::workspace::Crate;

/// A crate and the workspace crates that its library may use. Programs below `bins/` may use any.
///
/// A new arrow is a decision about the design: add it here with the change that needs it, and say why there.
const MAY_USE: &[(&str, &[&str])] = &[
    // Pure: other services link these without a server, a database or a runtime.
    ("model", &[]),
    ("retrieval-core", &["model"]),
    ("api-types", &[]),
    // The typed table of operations, which the server and its clients share.
    ("openapi", &["api-types", "model"]),
    // The same operations as MCP tools, for the server and for `retrieval mcp`.
    ("mcp", &["api-types", "model", "openapi"]),
    // The same operations in the formats of other services.
    ("compat", &["api-types"]),
    ("error-causes", &[]),
    // The marks of text direction, which names of files must not have.
    ("file-types", &["model"]),
    // Seams and what stands on its own.
    ("access-tokens", &["error-causes"]),
    ("admission", &["model"]),
    ("engine", &["model", "retrieval-core"]),
    ("blobs", &[]),
    ("docstore", &["model", "trace-context"]),
    ("extract", &["file-types"]),
    // Workers serve organizations in turn.
    ("extract-worker", &["admission", "extract", "model"]),
    ("fetcher", &["admission", "error-causes", "file-types", "model"]),
    ("models", &[]),
    ("rate-limit", &[]),
    ("connections", &[]),
    // Read by the edge, sent by adapters.
    ("trace-context", &[]),
    // Sends the spans that others measure.
    ("telemetry", &["model", "trace-context"]),
    ("console", &[]),
    ("server-tls", &[]),
    ("s3-server", &["connections", "server-tls"]),
    // Dimensions of vectors have one maximum, that of the seam.
    ("settings", &["models"]),
    ("skills", &[]),
    ("warc", &[]),
    // Addresses of results are canonical.
    ("web-providers", &["model", "retrieval-core"]),
    // Adapters: one outside library each, behind their seam.
    ("engine-tantivy", &["engine", "model", "retrieval-core"]),
    ("engine-meilisearch", &["engine", "model", "retrieval-core", "trace-context"]),
    ("engine-qdrant", &["engine", "model", "retrieval-core", "trace-context"]),
    ("blobs-s3", &["blobs", "error-causes", "trace-context"]),
    ("rate-limit-redis", &["rate-limit"]),
    ("models-http", &["models", "trace-context"]),
    ("models-local", &["models"]),
    ("web-providers-http", &["model", "web-providers"]),
    // The browser connects where the fetcher may, and its pages take turns.
    ("renderer-chromium", &["admission", "error-causes", "fetcher", "model"]),
    // The docstore keeps the queue of deliveries; the fetcher knows which addresses are permitted.
    ("webhooks", &["docstore", "fetcher", "model", "trace-context"]),
    // Use cases.
    (
        "ingest",
        &[
            "admission",
            "blobs",
            "docstore",
            "engine",
            "error-causes",
            "extract",
            "extract-worker",
            "fetcher",
            "file-types",
            "model",
            // Vectors of passages.
            "models",
            "retrieval-core",
            // Runs are traces.
            "trace-context",
            // Events of runs.
            "webhooks",
        ],
    ),
    // Crawls keep their frontier in the docstore, and their pages are documents like those of ingest.
    (
        "crawler",
        &["docstore", "extract", "extract-worker", "fetcher", "file-types", "ingest", "model", "retrieval-core"],
    ),
    (
        "app",
        &[
            "admission",
            "blobs",
            // Management of crawls.
            "crawler",
            "docstore",
            "engine",
            // Reasons for being down, in readiness.
            "error-causes",
            "file-types",
            "ingest",
            "model",
            "models",
            "rate-limit",
            "retrieval-core",
            // Stages of searches.
            "trace-context",
            "web-providers",
            "webhooks",
        ],
    ),
    // Research runs: their steps are use cases.
    (
        "research",
        &["app", "docstore", "error-causes", "model", "models", "retrieval-core", "trace-context", "webhooks"],
    ),
    // The edge.
    (
        "http-actix",
        &[
            "admission",
            "api-types",
            "app",
            "compat",
            "connections",
            "console",
            "error-causes",
            "mcp",
            "model",
            "openapi",
            "rate-limit",
            "research",
            "retrieval-core",
            "server-tls",
            "skills",
            "trace-context",
        ],
    ),
    ("xtask", &["api-types", "openapi"]),
    // The application with test doubles behind its seams.
    (
        "test-support",
        &[
            "admission",
            "app",
            "blobs",
            "docstore",
            "engine",
            "extract-worker",
            "fetcher",
            "ingest",
            "model",
            "models",
            "rate-limit",
            "research",
            "retrieval-core",
            "web-providers",
            "webhooks",
        ],
    ),
    // The other side of the wire.
    ("retrieval-client", &["api-types", "error-causes", "openapi"]),
];

/// Crates that only tests may use.
const DEV_ONLY: &[&str] = &["test-support"];

/// Crates whose tests, too, must do without the rest of the workspace: they are made to be taken elsewhere.
const ALONE_IN_TESTS: &[&str] = &["retrieval-core", "api-types"];

/// Compares every arrow between crates with the table.
pub fn check(crates: &[Crate]) -> Vec<Breach> {
    let mut breaches = dev_only(crates);
    for krate in crates.iter().filter(|krate| !krate.is_bin) {
        let name = &krate.name;
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| known == name) else {
            breaches.push(Breach::new(
                format!("`{name}` is not in the table of layers"),
                "add a row for it to MAY_USE in xtask/src/check/arrows.rs",
            ));
            continue;
        };
        for used in krate.dependencies.iter().filter(|dependency| dependency.ours) {
            if used.name == *name || allowed.contains(&used.name.as_str()) {
                continue;
            }
            if !used.dev {
                breaches.push(Breach::new(
                    format!("`{name}` uses `{}`", used.name),
                    format!("`{name}` may use {}; take the dependency out, or pass what is needed in", list(allowed)),
                ));
            } else if ALONE_IN_TESTS.contains(&name.as_str()) {
                breaches.push(Breach::new(
                    format!("the tests of `{name}` use `{}`", used.name),
                    format!("move the test to `{}`, or to a crate that may use both", used.name),
                ));
            }
        }
    }
    breaches
}

fn dev_only(crates: &[Crate]) -> Vec<Breach> {
    let uses = crates.iter().flat_map(|krate| krate.built_with().map(move |used| (krate, used)));
    uses.filter(|(_, used)| used.ours && DEV_ONLY.contains(&used.name.as_str()))
        .map(|(krate, used)| {
            let what = format!("`{}` is built with `{}`", krate.name, used.name);
            Breach::new(what, "move it to [dev-dependencies]: it is for tests")
        })
        .collect()
}

fn list(names: &[&str]) -> String {
    if names.is_empty() {
        return "no crate of the workspace".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::workspace::fake::{for_tests, library, ours, outside, program};
    use super::*;

    fn broken(crates: &[Crate]) -> Vec<String> {
        check(crates).into_iter().map(|breach| breach.what).collect()
    }

    #[test]
    fn arrows_of_the_table_hold() {
        let crates = [
            library("ingest", vec![ours("docstore"), ours("engine"), outside("tokio")]),
            program("retrieval-server", vec![ours("engine-tantivy"), ours("http-actix")]),
        ];
        assert_eq!(broken(&crates), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_upwards_is_found() {
        let crates = [library("docstore", vec![ours("app")]), library("http-actix", vec![ours("docstore")])];
        assert_eq!(broken(&crates), ["`docstore` uses `app`", "`http-actix` uses `docstore`"]);
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        assert_eq!(broken(&[library("helpers", vec![])]), ["`helpers` is not in the table of layers"]);
    }

    #[test]
    fn test_support_outside_of_dev_dependencies_is_found() {
        let crates = [
            library("app", vec![for_tests(ours("test-support"))]),
            program("retrieval-server", vec![ours("test-support")]),
        ];
        assert_eq!(broken(&crates), ["`retrieval-server` is built with `test-support`"]);
    }

    #[test]
    fn tests_may_use_more_but_not_those_of_the_core() {
        let crates = [
            library("http-actix", vec![for_tests(ours("docstore"))]),
            library("retrieval-core", vec![for_tests(ours("engine"))]),
        ];
        assert_eq!(broken(&crates), ["the tests of `retrieval-core` use `engine`"]);
    }
}
