//! The API reference: an HTML page rendered from the document, its style and its script. It loads nothing else, and
//! without the script all of it can be read.

mod example;
mod fields;
mod markup;
mod operation;

use serde_json::Value;

use crate::Spec;
use crate::base_url::PLACEHOLDER;
use markup::{escape, prose};

/// The page's Content-Security-Policy: its own style and script, and nothing else.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; \
                                           form-action 'none'; frame-ancestors 'none'";

/// Served at `docs/reference.css`, relative to the base URL.
pub const STYLE: &str = include_str!("style.css");

/// Served at `docs/reference.js`, relative to the base URL.
pub const SCRIPT: &str = include_str!("script.js");

/// Search over the page; shown by the script.
const SEARCH: &str = "\
<div class=\"search\" role=\"search\" hidden>
<input id=\"find\" type=\"search\" placeholder=\"Search ( / )\" autocomplete=\"off\" spellcheck=\"false\" \
aria-label=\"Search operations, fields, errors and warnings\" aria-controls=\"found\">
<ul id=\"found\" aria-label=\"Search results\"></ul>
<p id=\"count\" class=\"hint\" role=\"status\"></p>
</div>
";

/// Renders the page of a document made by [`crate::document`], at `docs` relative to the base URL, which is a placeholder
/// for [`crate::BaseUrl::fill`].
pub fn page(document: &Value) -> String {
    let info = &document["info"];
    let title = escape(text(info, "title"));
    let tags = items(document, "tags");
    let navigation: String = tags.iter().map(|tag| navigation(document, tag)).collect();
    let sections: String = tags.iter().map(|tag| section(document, tag)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} reference</title>\n\
         <link rel=\"stylesheet\" href=\"docs/reference.css\">\n<script src=\"docs/reference.js\" defer></script>\n\
         </head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
         <nav aria-label=\"Operations\">\n<p class=\"brand\"><a href=\"#content\">{title}</a> \
         <span class=\"version\">{version}</span></p>\n{SEARCH}<div id=\"contents\">\n{navigation}\
         <p class=\"group\"><a href=\"#errors\">Errors</a></p>\n<p class=\"group\"><a href=\"#warnings\">Warnings</a></p>\n\
         <p class=\"group\"><a href=\"openapi/public.json\">OpenAPI 3.1 document</a></p>\n\
         <p class=\"group\"><a href=\"llms.txt\">llms.txt</a></p>\n\
         <p class=\"group\"><a href=\"console/\">Console</a></p>\n</div>\n</nav>\n\
         <main id=\"content\">\n<header>\n<h1>{title}</h1>\n{description}<p>The base URL is <code id=\"base-url\">{PLACEHOLDER}</code>. The examples read the API \
         key from the environment variable <code>RETRIEVAL_API_KEY</code>.</p>\n</header>\n{sections}{errors}{warnings}</main>\n\
         </body>\n</html>\n",
        version = escape(text(info, "version")),
        description = prose(text(info, "description")),
        errors = operation::all_errors(document),
        warnings = operation::all_warnings(document),
    )
}

/// Returns the page with a notice of an empty web index. `ways` are purposes and commands that fill it.
pub fn with_empty_web_index<'a>(page: &str, ways: impl Iterator<Item = (&'a str, String)>) -> String {
    let items: String = ways
        .map(|(purpose, command)| {
            format!("<li>{}\n<pre tabindex=\"0\"><code>{}</code></pre></li>\n", escape(purpose), escape(&command))
        })
        .collect();
    let notice = format!(
        "<div class=\"notice\" role=\"note\">\n<p><strong>The web index is empty.</strong> Searches of the web find nothing \
         before one of these commands has filled it, on the machine of the server:</p>\n<ul>\n{items}</ul>\n</div>\n"
    );
    page.replacen("</header>", &format!("{notice}</header>"), 1)
}

fn navigation(document: &Value, tag: &Value) -> String {
    let name = text(tag, "name");
    let links: String = operations_of(document, name)
        .map(|(operation, described)| {
            format!(
                "<li><a href=\"#{id}\"><span class=\"verb {class}\">{method}</span>{summary}</a></li>\n",
                id = escape(text(described, "operationId")),
                class = operation.method.key(),
                method = operation.method.as_str(),
                summary = escape(text(described, "summary")),
            )
        })
        .collect();
    format!("<p class=\"group\">{}</p>\n<ul>\n{links}</ul>\n", escape(name))
}

fn section(document: &Value, tag: &Value) -> String {
    let name = text(tag, "name");
    let operations: String = operations_of(document, name)
        .map(|(operation, described)| operation::article(document, operation, described))
        .collect();
    format!(
        "<section>\n<h2>{}</h2>\n<div class=\"lead\">{}</div>\n{operations}</section>\n",
        escape(name),
        prose(text(tag, "description"))
    )
}

/// The operations of a tag, in the order of the table, with their operation objects.
fn operations_of<'a>(document: &'a Value, tag: &'a str) -> impl Iterator<Item = (&'static Spec, &'a Value)> + 'a {
    crate::operations::all().filter_map(move |operation| {
        let described = &document["paths"][operation.path][operation.method.key()];
        (described["tags"][0] == tag).then_some((operation, described))
    })
}

/// Resolves a `$ref`, also of a schema that permits null besides; a value without one is returned as it is.
fn follow<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let value = match items(value, "anyOf") {
        [one, null] if null["type"] == "null" => one,
        _ => value,
    };
    let target = value["$ref"].as_str().and_then(|reference| document.pointer(reference.strip_prefix('#')?));
    target.unwrap_or(value)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn entries<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value[field].as_object().into_iter().flatten()
}
