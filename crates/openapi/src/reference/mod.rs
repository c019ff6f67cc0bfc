//! The API reference: one HTML page rendered from the document, without scripts or external resources.

mod example;
mod fields;
mod markup;
mod operation;

use serde_json::Value;

use crate::Method;
use markup::{escape, prose};

/// The page's Content-Security-Policy: inline styles and nothing else.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                                           form-action 'none'; frame-ancestors 'none'";

const STYLE: &str = include_str!("style.css");

/// Renders the page of a document made by [`crate::document`].
pub fn page(document: &Value) -> String {
    let info = &document["info"];
    let title = escape(text(info, "title"));
    let tags = items(document, "tags");
    let navigation: String = tags.iter().map(|tag| navigation(document, tag)).collect();
    let sections: String = tags.iter().map(|tag| section(document, tag)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} reference</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
         <nav aria-label=\"Operations\">\n<p class=\"brand\"><a href=\"#content\">{title}</a> \
         <span class=\"version\">{version}</span></p>\n{navigation}\
         <p class=\"group\"><a href=\"#errors\">Errors</a></p>\n<p class=\"group\"><a href=\"#warnings\">Warnings</a></p>\n\
         <p class=\"group\"><a href=\"/openapi/public.json\">OpenAPI 3.1 document</a></p>\n</nav>\n\
         <main id=\"content\">\n<header>\n<h1>{title}</h1>\n{description}</header>\n{sections}{errors}{warnings}</main>\n\
         </body>\n</html>\n",
        version = escape(text(info, "version")),
        description = prose(text(info, "description")),
        errors = operation::all_errors(document),
        warnings = operation::all_warnings(document),
    )
}

fn navigation(document: &Value, tag: &Value) -> String {
    let name = text(tag, "name");
    let links: String = operations_of(document, name)
        .map(|(method, _, described)| {
            format!(
                "<li><a href=\"#{id}\"><span class=\"verb {class}\">{method}</span>{summary}</a></li>\n",
                id = escape(text(described, "operationId")),
                class = method.key(),
                method = method.as_str(),
                summary = escape(text(described, "summary")),
            )
        })
        .collect();
    format!("<p class=\"group\">{}</p>\n<ul>\n{links}</ul>\n", escape(name))
}

fn section(document: &Value, tag: &Value) -> String {
    let name = text(tag, "name");
    let operations: String = operations_of(document, name)
        .map(|(method, path, described)| operation::article(document, method.as_str(), path, described))
        .collect();
    format!(
        "<section>\n<h2>{}</h2>\n<div class=\"lead\">{}</div>\n{operations}</section>\n",
        escape(name),
        prose(text(tag, "description"))
    )
}

/// The operations of a tag, in the order of the table: method, path, operation object.
fn operations_of<'a>(
    document: &'a Value,
    tag: &'a str,
) -> impl Iterator<Item = (Method, &'static str, &'a Value)> + 'a {
    crate::operations::all().filter_map(move |operation| {
        let described = &document["paths"][operation.path][operation.method.key()];
        (described["tags"][0] == tag).then_some((operation.method, operation.path, described))
    })
}

/// Resolves a `$ref`; a value without one is returned as it is.
fn follow<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
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
