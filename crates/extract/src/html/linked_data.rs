//! JSON-LD metadata of a page (schema.org): type, dates and people of its main entity.

use dom_query::Document;
use serde_json::Value;

use crate::{dates, names};

/// Maximum nesting examined.
const MAX_DEPTH: usize = 6;
/// Maximum script length, in bytes.
const MAX_SCRIPT: usize = 512 * 1024;

#[derive(Debug, Default)]
pub(super) struct LinkedData {
    pub headline: Option<String>,
    pub author: Option<String>,
    /// Name of the site or its publisher.
    pub site: Option<String>,
    pub description: Option<String>,
    pub published_at: Option<i64>,
    /// `articleBody`, unless it is for subscribers only.
    pub body: Option<String>,
}

/// Reads the first article-like entity of the page's scripts, otherwise the first entity with a date.
pub(super) fn read(page: &Document) -> LinkedData {
    let mut data = LinkedData::default();
    for script in page.select("script[type='application/ld+json' i]").nodes() {
        let text = script.text();
        if text.len() > MAX_SCRIPT {
            continue;
        }
        // Publishers leave line breaks in strings, which JSON forbids.
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if let Ok(value) = serde_json::from_str::<Value>(text.trim().trim_end_matches(';')) {
            visit(&value, MAX_DEPTH, &mut data);
        }
    }
    data
}

fn visit(value: &Value, depth: usize, data: &mut LinkedData) {
    match value {
        Value::Array(items) if depth > 0 => items.iter().take(200).for_each(|item| visit(item, depth - 1, data)),
        Value::Object(fields) if depth > 0 => {
            if fields.get("@type").is_some_and(is_work) {
                take(fields, data);
            }
            if fields.get("@type").and_then(Value::as_str) == Some("WebSite") {
                data.site = data.site.take().or_else(|| fields.get("name").and_then(people));
            }
            for inner in ["@graph", "mainEntity", "mainEntityOfPage"].iter().filter_map(|name| fields.get(*name)) {
                visit(inner, depth - 1, data);
            }
        }
        _ => {}
    }
}

fn is_work(kind: &Value) -> bool {
    let is = |name: &str| {
        ["Article", "Posting", "Report", "Review", "Recipe", "WebPage", "Product", "Question", "HowTo", "Book", "Event"]
            .iter()
            .any(|work| name.ends_with(work))
    };
    match kind {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => false,
    }
}

fn take(fields: &serde_json::Map<String, Value>, data: &mut LinkedData) {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).and_then(names::one_line);
    data.headline = data.headline.take().or_else(|| text("headline"));
    data.description = data.description.take().or_else(|| text("description"));
    let date = || text("datePublished").or_else(|| text("dateCreated")).as_deref().and_then(dates::parse);
    data.published_at = data.published_at.or_else(date);
    let free = fields.get("isAccessibleForFree").is_none_or(|free| {
        free.as_bool() != Some(false) && !free.as_str().is_some_and(|free| free.eq_ignore_ascii_case("false"))
    });
    let body = || fields.get("articleBody").filter(|_| free).and_then(Value::as_str).map(str::to_owned);
    data.body = data.body.take().or_else(body);
    data.author = data.author.take().or_else(|| fields.get("author").and_then(people));
}

/// Returns a name from a string, an entity with a name, or a list of these.
fn people(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => names::one_line(name).filter(|name| !name.starts_with("http")),
        Value::Object(person) => person.get("name").and_then(people),
        Value::Array(several) => {
            let several: Vec<String> = several.iter().take(10).filter_map(people).collect();
            (!several.is_empty()).then(|| several.join(", "))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_found_in_graphs() {
        let page = Document::from(
            r#"<script type="application/ld+json">{"@graph": [{"@type": "Organization", "name": "Acme"},
            {"@type": ["NewsArticle"], "headline": "A
            head", "datePublished": "2024-03-01T00:00:00Z", "author": [{"@type": "Person", "name": "Ann"}, "Bob"]}]}</script>
            <script type="application/ld+json">not json</script>"#,
        );
        let data = read(&page);
        assert_eq!(data.headline.as_deref(), Some("A head"));
        assert_eq!(data.author.as_deref(), Some("Ann, Bob"));
        assert_eq!(data.published_at, Some(1_709_251_200_000));
    }
}
