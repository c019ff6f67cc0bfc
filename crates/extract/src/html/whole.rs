//! The whole page as markdown: for pages that are no article.

use dom_query::Document;
use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, HrStyle, Options};

use crate::ExtractError;

/// What stands on every page of a site, and what is no text.
const BOILERPLATE: &str = "script, style, template, noscript, svg, canvas, iframe, object, embed, nav, footer, \
     form, button, input, select, textarea, dialog, [role=navigation], [role=banner], [role=contentinfo], \
     [role=search], [role=dialog], body > header";

/// Everything on the page but [`BOILERPLATE`]; everything at all where that leaves nothing.
pub(super) fn convert(page: &Document) -> Result<String, ExtractError> {
    let copy = Document::from(page.html());
    copy.select(BOILERPLATE).remove();
    let body = copy.body().map(|body| body.html()).unwrap_or_default();
    let markdown = markdown(&body)?;
    if !markdown.trim().is_empty() {
        return Ok(markdown);
    }
    let body = page.body().map(|body| body.html()).unwrap_or_default();
    self::markdown(&body)
}

fn markdown(html: &str) -> Result<String, ExtractError> {
    let converter = HtmlToMarkdown::builder()
        .skip_tags(vec!["script", "style", "template", "noscript", "svg", "head", "iframe"])
        .options(Options {
            bullet_list_marker: BulletListMarker::Dash,
            hr_style: HrStyle::Dashes,
            ul_bullet_spacing: 1,
            ol_number_spacing: 1,
            ..Options::default()
        })
        .build();
    converter.convert(html).map_err(|error| ExtractError::corrupt(format!("unreadable page: {error}")))
}
