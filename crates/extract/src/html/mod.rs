//! Reader for web pages: main content as markdown.

mod appearance;
mod attributes;
mod boilerplate;
mod boilerplate_parts;
mod buttons;
mod charset;
mod clutter;
mod code;
mod colour;
mod declarations;
mod dimension;
mod end_tag;
mod ending;
mod font_size;
mod forms;
mod formula;
mod hidden;
mod inline;
mod lead;
mod linked_data;
mod links;
mod main_content;
mod mark_words;
mod marks;
mod mathml;
mod measure;
mod media;
mod metadata;
mod node_map;
mod noscript;
mod numbers;
mod panels;
mod parse;
mod plain_text;
mod prompts;
mod raised;
mod recipe;
mod render;
mod shadow;
mod sink;
mod style_rules;
mod table;
mod teasers;
mod title;

pub use charset::decode;

use dom_query::Document;
use url::Url;

use crate::{ExtractError, ExtractRequest, Extracted, language, magic, names, tidy};

/// Minimum weight of content; a page with less after boilerplate removal consists of boilerplate.
const MIN_CONTENT_WEIGHT: f64 = 40.0;

/// Reads one page: its main content if there is one, otherwise all of it.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    if magic::is_disguised_text(bytes) {
        return Err(magic::wrong_type(request.kind, bytes));
    }
    let source =
        charset::decode(bytes, request.charset.as_deref()).ok_or_else(|| magic::wrong_type(request.kind, bytes))?;
    let resolved = noscript::resolve(&source);
    let Some(page) = parse::document(&resolved) else {
        return Ok(read_flat(request, &source));
    };
    let base = links::base(&page, request.base_url.as_deref());
    let metadata = metadata::read(&page, base.as_ref());
    let hidden_text = prepare(&page, base.as_ref());
    let markdown = content(&page, &resolved, base.as_ref(), request.base_url.is_some());
    // Pages built by scripts may have their text only in structured data.
    let structured_body = metadata.body.filter(|body| measure::weight(&markdown) < measure::weight(body) / 3.0);
    let markdown = structured_body.map(|body| render_body(&body, base.as_ref())).unwrap_or(markdown);
    Ok(Extracted {
        title: metadata.title.or_else(|| names::title_of(&request.name)),
        author: metadata.author,
        description: metadata.description,
        language: metadata.language.or_else(|| language::detect(&markdown)),
        published_at: metadata.published.map(|(at, _)| at),
        published_from: metadata.published.map(|(_, from)| from),
        canonical_link: metadata.canonical_link,
        page_starts: Vec::new(),
        labels: if hidden_text { vec!["hidden_text".to_owned()] } else { Vec::new() },
        markdown,
    })
}

/// Returns a formula of MathML as markdown. Returns `None` for a source without one.
pub(crate) fn mathml_formula(mathml: &str) -> Option<String> {
    let page = parse::document(mathml)?;
    page.select("math").nodes().first().map(formula::markdown)
}

/// Brings a parsed page into the form that is rendered. Every tree passes through here, also those of later attempts.
/// Returns true if the page hides running text.
fn prepare(page: &Document, base: Option<&Url>) -> bool {
    let hidden_text = hidden::remove(page);
    media::remove_messages(page);
    buttons::unwrap_headings(page);
    links::make_absolute(page, base);
    formula::replace_scripts(page);
    hidden_text
}

/// Returns the content of an article, otherwise the page without boilerplate, otherwise the whole page.
///
/// Only pages from the web are reduced to an article, since the rest is shared with other pages of the site. In a file
/// that a user chose, everything except marked boilerplate is content.
fn content(page: &Document, source: &str, base: Option<&Url>, from_web: bool) -> String {
    let Some(body) = page.body() else { return String::new() };
    boilerplate::remove(&body, from_web);
    let content = if from_web { main_content::find(&body) } else { None };
    if let Some(content) = content.as_ref().filter(|content| !content.is_list) {
        clutter::remove(&content.element);
    }
    let element = content.map_or(body, |content| content.element);
    let markdown = tidy::markdown(&render::markdown(&element));
    if measure::weight(&markdown) >= MIN_CONTENT_WEIGHT {
        return markdown;
    }
    let Some(page) = parse::document(source) else { return String::new() };
    prepare(&page, base);
    page.body().map(|body| tidy::markdown(&render::markdown(&body))).unwrap_or_default()
}

/// Renders text of structured data, which may be HTML.
fn render_body(body: &str, base: Option<&Url>) -> String {
    let paragraphs: String = match body.contains("</") {
        true => body.to_owned(),
        false => body.lines().map(|line| format!("<p>{}</p>", line.replace('<', "&lt;"))).collect(),
    };
    let Some(page) = parse::document(&paragraphs) else { return plain_text::text(&paragraphs).0 };
    prepare(&page, base);
    page.body().map(|body| tidy::markdown(&render::markdown(&body))).unwrap_or_default()
}

/// Reads the text of a page that is too large or too deep to parse, by a linear scan.
fn read_flat(request: &ExtractRequest, source: &str) -> Extracted {
    let (text, title) = plain_text::text(source);
    Extracted {
        title: title.as_deref().and_then(names::one_line).or_else(|| names::title_of(&request.name)),
        language: language::detect(&text),
        markdown: text,
        ..Extracted::default()
    }
}
