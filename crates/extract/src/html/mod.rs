//! Web pages: the main content as markdown.

mod boilerplate;
mod charset;
mod code;
mod colour;
mod formula;
mod hidden;
mod inline;
mod linked_data;
mod links;
mod main_content;
mod measure;
mod metadata;
mod noscript;
mod render;
mod shape;
mod strip;
mod style_rules;
mod table;
mod title;

use dom_query::Document;

use crate::{ExtractError, ExtractRequest, Extracted, language, magic, names, tidy};

/// Pages above this are read as plain text: parsing a page takes some ten times its size in memory.
const MAX_TREE_BYTES: usize = 8 << 20;
/// Pages nested deeper are read as plain text: the time that content extraction takes grows with the square of the
/// depth (6 s at 5,000), and no page made by people comes near.
const MAX_DEPTH: usize = 400;
/// A page that keeps less than this weight without its navigation and the like is nothing but these.
const HARDLY_ANYTHING: f64 = 40.0;

/// One page. Its main content where there is any to tell apart, else all that is on it.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    if magic::is_disguised_text(bytes) {
        return Err(magic::wrong_type(request.kind, bytes));
    }
    let source =
        charset::decode(bytes, request.charset.as_deref()).ok_or_else(|| magic::wrong_type(request.kind, bytes))?;
    if source.len() > MAX_TREE_BYTES || shape::depth(&source, MAX_DEPTH) > MAX_DEPTH {
        return Ok(read_flat(request, &source));
    }
    let source = noscript::resolve(&source);
    let page = Document::from(&*source);
    let base = links::base(&page, request.base_url.as_deref());
    let metadata = metadata::read(&page, base.as_ref());
    let hidden_text = hidden::remove(&page);
    links::make_absolute(&page, base.as_ref());
    let markdown = content(&page, &source, request.base_url.is_some());
    // A page whose text scripts would have built says it in its structured data.
    let told = metadata.body.filter(|body| measure::weight(&markdown) < measure::weight(body) / 3.0);
    let markdown = told.map(|body| text_of(&body)).unwrap_or(markdown);
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

/// The content of an article; of any other page what is not navigation and the like; else all there is.
///
/// A page from the web stands among others of its site, and only its article is its own. A file was chosen by who put
/// it there: all of it is content but what is marked as navigation and the like.
fn content(page: &Document, source: &str, from_web: bool) -> String {
    let Some(body) = page.body() else { return String::new() };
    boilerplate::remove(&body);
    let content = if from_web { main_content::find(&body) } else { None };
    if let Some(content) = content {
        main_content::weed(&content);
    }
    let markdown = tidy::markdown(&render::markdown(&content.unwrap_or(body)));
    if measure::weight(&markdown) >= HARDLY_ANYTHING {
        return markdown;
    }
    let page = Document::from(source);
    hidden::remove(&page);
    page.body().map(|body| tidy::markdown(&render::markdown(&body))).unwrap_or_default()
}

/// Text of structured data, which may be HTML.
fn text_of(body: &str) -> String {
    let paragraphs: String = match body.contains("</") {
        true => body.to_owned(),
        false => body.lines().map(|line| format!("<p>{}</p>", line.replace('<', "&lt;"))).collect(),
    };
    let page = Document::from(paragraphs);
    page.body().map(|body| tidy::markdown(&render::markdown(&body))).unwrap_or_default()
}

/// A page too large or too deep to be taken apart: its text, by a linear scan.
fn read_flat(request: &ExtractRequest, source: &str) -> Extracted {
    let (text, title) = strip::text(source);
    Extracted {
        title: title.as_deref().and_then(names::one_line).or_else(|| names::title_of(&request.name)),
        language: language::detect(&text),
        markdown: text,
        ..Extracted::default()
    }
}
