//! Files of the console as served.

use std::borrow::Cow;

/// Path of the page.
pub const INDEX: &str = "index.html";

/// A file below `/console/`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct File {
    /// Path without a leading slash.
    pub path: &'static str,
    /// Value of `Content-Type`.
    pub media_type: &'static str,
    pub text: Cow<'static, str>,
}

/// Lists the files of `static/` with their texts.
macro_rules! sources {
    ($($path:literal,)+) => {
        &[$(($path, include_str!(concat!("../static/", $path))),)+]
    };
}

#[rustfmt::skip]
const SOURCES: &[(&str, &str)] = sources![
    "app.js",
    "core/address.js",
    "core/api.js",
    "core/connection.js",
    "core/csv.js",
    "core/events.js",
    "core/faults.js",
    "core/focus.js",
    "core/format.js",
    "core/html.js",
    "core/load.js",
    "core/places.js",
    "core/poll.js",
    "core/route.js",
    "core/scopes.js",
    "core/session.js",
    "core/store.js",
    "core/words.js",
    "icon.svg",
    "index.html",
    "markdown/blocks.js",
    "markdown/direction.js",
    "markdown/inline.js",
    "markdown/offsets.js",
    "markdown/render.js",
    "parts/chart.js",
    "parts/copy.js",
    "parts/dialog.js",
    "parts/fields.js",
    "parts/filling.js",
    "parts/icons.js",
    "parts/options.js",
    "parts/states.js",
    "parts/warnings.js",
    "style/base.css",
    "style/controls.css",
    "style/layout.css",
    "style/views.css",
    "vendor/hooks.mjs",
    "vendor/htm.LICENSE",
    "vendor/htm.mjs",
    "vendor/preact.LICENSE",
    "vendor/preact.mjs",
    "views/app.js",
    "views/files/drop.js",
    "views/files/dropzone.js",
    "views/files/history.js",
    "views/files/listing.js",
    "views/files/outcomes.js",
    "views/files/runs.js",
    "views/files/status.js",
    "views/files/table.js",
    "views/files/uploads.js",
    "views/files/view.js",
    "views/keys.js",
    "views/read/document.js",
    "views/read/marks.js",
    "views/read/side.js",
    "views/read/view.js",
    "views/research/form.js",
    "views/research/report.js",
    "views/research/run.js",
    "views/research/steps.js",
    "views/research/view.js",
    "views/search/answers.js",
    "views/search/code.js",
    "views/search/explain.js",
    "views/search/feedback.js",
    "views/search/form.js",
    "views/search/panel.js",
    "views/search/passage.js",
    "views/search/request.js",
    "views/search/result.js",
    "views/search/view.js",
    "views/signin.js",
    "views/start.js",
    "views/usage/figures.js",
    "views/usage/view.js",
    "views/web/crawl.js",
    "views/web/crawls.js",
    "views/web/form.js",
    "views/web/hosts.js",
    "views/web/pages.js",
    "views/web/state.js",
    "views/web/view.js",
];

/// Place in the page where its modules are named, so that the browser loads them at once instead of one level at a time.
const MODULES: &str = "<!-- modules -->\n";

/// Place in the page for the folder of the other files.
const FOLDER: &str = "{{FOLDER}}";

/// Returns all files.
pub fn files() -> impl Iterator<Item = File> {
    SOURCES.iter().map(|&(path, source)| File { path, media_type: media_type(path), text: served(path, source) })
}

/// Returns the page for an address at which the other files are below `folder`, which is empty or ends with `/`.
pub fn page(folder: &str) -> String {
    let modules = SOURCES.iter().map(|(path, _)| *path).filter(|path| path.ends_with("js"));
    let links: String = modules.map(|path| format!("<link rel=\"modulepreload\" href=\"{FOLDER}{path}\">\n")).collect();
    include_str!("../static/index.html").replace(MODULES, &links).replace(FOLDER, folder)
}

fn served(path: &str, source: &'static str) -> Cow<'static, str> {
    match path {
        INDEX => Cow::Owned(page("")),
        // Vendored files are kept as published. Browsers resolve a bare name only with an inline import map.
        "vendor/hooks.mjs" => Cow::Owned(source.replace("from\"preact\"", "from\"./preact.mjs\"")),
        _ => Cow::Borrowed(source),
    }
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}
