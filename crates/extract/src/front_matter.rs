//! Front matter of markdown files: YAML between `---` lines, TOML between `+++` lines.

use crate::{dates, language, names};

/// Keys that map to fields and can be left out of the text.
const KNOWN: [&str; 9] =
    ["title", "author", "authors", "date", "published", "description", "summary", "lang", "language"];

/// Top-level `key: value` pairs that map to fields.
#[derive(Debug, Default)]
pub(crate) struct FrontMatter<'a> {
    pub title: Option<String>,
    pub author: Option<String>,
    pub description: Option<String>,
    pub language: Option<String>,
    pub published_at: Option<i64>,
    source: &'a str,
    toml: bool,
    all_known: bool,
}

impl<'a> FrontMatter<'a> {
    /// Splits text into front matter and body. Returns no front matter if the file does not start with it, or if a
    /// line in it is not part of a property, because `---` is also a horizontal rule.
    pub(crate) fn split(text: &'a str) -> (Option<Self>, &'a str) {
        let Some((mark, start)) =
            ["---\n", "+++\n"].into_iter().find_map(|mark| Some((mark, text.strip_prefix(mark)?)))
        else {
            return (None, text);
        };
        let fence = mark.trim_end();
        let mut end = 0;
        for line in start.split_inclusive('\n') {
            if line.trim_end() == fence || (fence == "---" && line.trim_end() == "...") {
                let front = Self::parse(start[..end].trim_end_matches('\n'), fence == "+++");
                return match front {
                    Some(front) => (Some(front), &start[end + line.len()..]),
                    None => (None, text),
                };
            }
            end += line.len();
        }
        (None, text)
    }

    fn parse(source: &'a str, toml: bool) -> Option<Self> {
        let mut front = FrontMatter { source, toml, all_known: true, ..FrontMatter::default() };
        let mut lines = source.lines().peekable();
        let mut properties = 0;
        while let Some(line) = lines.next() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if toml && line.starts_with('[') {
                front.all_known = false;
                properties += 1;
                continue;
            }
            // The rest of a value that is not understood.
            if line.starts_with([' ', '\t', '-', ']', '}']) {
                front.all_known = false;
                continue;
            }
            let (key, value) = line.split_once(if toml { '=' } else { ':' })?;
            let key = key.trim().trim_matches('"').to_ascii_lowercase();
            if key.is_empty() || key.split_whitespace().count() > 3 {
                return None;
            }
            properties += 1;
            let mut value = value.trim().to_owned();
            if value.starts_with('[') && !value.contains(']') {
                read_list(&mut value, &mut lines);
                // Comments and lists in lists.
                if !value.ends_with(']') || value.contains('#') || value.matches(['[', ']']).count() > 2 {
                    front.all_known = false;
                    continue;
                }
            }
            let is_list = value.is_empty();
            if is_block_header(&value) {
                value.clear();
            }
            // A list or folded text of YAML on the next lines belongs to the key, also behind blank lines and comments.
            while let Some(more) = lines.next_if(|line| !toml && is_continuation(line)) {
                // In text, an indented `#` is a character of it.
                let is_comment = more.starts_with('#') || (is_list && more.trim_start().starts_with('#'));
                if is_comment || more.trim().is_empty() {
                    continue;
                }
                if !value.is_empty() {
                    value.push_str(if key == "authors" || key == "author" { ", " } else { " " });
                }
                value.push_str(&unquoted(more.trim().trim_start_matches("- ")));
            }
            front.take(&key, &unquoted(&value));
        }
        (properties > 0).then_some(front)
    }

    fn take(&mut self, key: &str, value: &str) {
        if !KNOWN.contains(&key) {
            self.all_known = false;
            return;
        }
        if value.trim().is_empty() {
            return;
        }
        let text = names::one_line(value);
        let is_held = match key {
            "title" => hold(&mut self.title, text),
            "author" | "authors" => hold(&mut self.author, text),
            "description" | "summary" => hold(&mut self.description, text),
            "lang" | "language" => hold(&mut self.language, text.as_deref().and_then(language::from_tag)),
            _ => hold(&mut self.published_at, text.as_deref().and_then(dates::parse)),
        };
        self.all_known &= is_held;
    }

    /// Returns the whole source if it has properties that no field holds.
    pub(crate) fn unrecognized(&self) -> Option<&'a str> {
        (!self.all_known).then_some(self.source)
    }

    /// Returns the info string for a fenced block of the source.
    pub(crate) fn syntax(&self) -> &'static str {
        if self.toml { "toml" } else { "yaml" }
    }
}

/// Appends the next lines to a list in brackets up to the closing one. Leaves out blank lines and lines of comments.
fn read_list<'a>(value: &mut String, lines: &mut impl Iterator<Item = &'a str>) {
    for line in lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        value.push(' ');
        value.push_str(line);
        if line.contains(']') {
            return;
        }
    }
}

/// Matches lines that can belong to the value of the key above, and those that end none.
fn is_continuation(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with([' ', '\t', '-', '#'])
}

/// Matches the headers of block scalars (YAML 1.2, 8.1.1), such as `|`, `>-` and `|2+`.
fn is_block_header(value: &str) -> bool {
    let indicators = value.strip_prefix(['|', '>']);
    indicators.is_some_and(|rest| rest.chars().all(|c| matches!(c, '+' | '-' | '1'..='9')))
}

/// Fills an empty field. Returns true if the field then holds the value.
fn hold<T: PartialEq>(field: &mut Option<T>, value: Option<T>) -> bool {
    if field.is_none() {
        *field = value;
        return field.is_some();
    }
    *field == value
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.replace("\\\"", "\"").replace("''", "'");
        }
    }
    match value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        // A comma may follow the last item.
        Some(list) => {
            let items = list.split(',').map(|item| unquoted(item.trim())).filter(|item| !item.is_empty());
            items.collect::<Vec<_>>().join(", ")
        }
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_fields_are_parsed_and_unknown_ones_kept() {
        let text = "---\ntitle: \"A: B\"\nauthors:\n  - Ann\n  - Bob\ndate: 2024-03-01\nowner: ops\n---\n# Body\n";
        let (front, body) = FrontMatter::split(text);
        let front = front.expect("front matter");
        assert_eq!(front.title.as_deref(), Some("A: B"));
        assert_eq!(front.author.as_deref(), Some("Ann, Bob"));
        assert_eq!(front.published_at, Some(1_709_251_200_000));
        assert!(front.unrecognized().expect("unrecognized").contains("owner: ops"));
        assert_eq!(body, "# Body\n");
    }

    #[test]
    fn toml_is_parsed_and_known_keys_leave_no_rest() {
        let (front, body) = FrontMatter::split("+++\ntitle = 'T'\ntags = [\"a\"]\n+++\nx");
        let front = front.expect("front matter");
        assert_eq!((front.title.as_deref(), front.syntax(), body), (Some("T"), "toml", "x"));
        let (front, _) = FrontMatter::split("---\ntitle: T\nlang: pt-BR\n---\nx");
        let front = front.expect("front matter");
        assert_eq!((front.unrecognized(), front.language.as_deref()), (None, Some("pt")));
    }

    #[test]
    fn values_that_no_field_holds_are_kept() {
        for (source, is_kept) in [
            ("date: March 1, 2024", true),
            ("lang: German (Austria)", true),
            ("description: a\nsummary: b", true),
            ("date: 2024-03-01\npublished: 2024-03-02", true),
            ("date: 2024-03-01\npublished: 2024-03-01", false),
            ("title: T\ndescription:", false),
            ("description: |\n  First.\n\n  # Second\ntitle: T", false),
            ("authors:\n\n  # comment\n  - Ann\n# comment\n  - Bob\ntitle: T", false),
            ("authors: [\n  Ann,\n  Bob\n]\ntitle: T", false),
            ("authors: [\n  Ann, # comment\n  Bob\n]\ntitle: T", true),
            ("authors: [\n  [Ann],\n  Bob\n]\ntitle: T", true),
            ("title: T\nauthors: [\n  Ann", true),
            ("title: T\nauthor: {\n  name: Ann\n}", true),
            ("  stray text\ntitle: T", true),
        ] {
            let text = format!("---\n{source}\n---\nx");
            let (front, _) = FrontMatter::split(&text);
            assert_eq!(front.expect("front matter").unrecognized(), is_kept.then_some(source), "{source}");
        }
    }

    #[test]
    fn values_extend_over_blank_lines_and_comments() {
        for (source, author, description) in [
            ("---\ndescription: |\n  First.\n\n  # Second\nauthor: Ann\n---\n", "Ann", "First. # Second"),
            ("---\ndescription: \"First.\n\n  # Second\"\nauthor: Ann\n---\n", "Ann", "First. # Second"),
            ("---\nsummary: >2+\n  First.\n\n\n  Last.\n\nauthors: Ann\n---\n", "Ann", "First. Last."),
            ("---\nauthors:\n\n  # comment\n  - Ann\n# comment\n\n  - Bob\nsummary: S\n---\n", "Ann, Bob", "S"),
            ("---\nauthors: [\n\n  \"Ann\",\n  Bob,\n]\nsummary: S\n---\n", "Ann, Bob", "S"),
            ("+++\nauthors = [\n  \"Ann\",\n  # comment\n  \"Bob\",\n]\nsummary = 'S'\n+++\n", "Ann, Bob", "S"),
        ] {
            let front = FrontMatter::split(source).0.expect("front matter");
            assert_eq!(front.author.as_deref(), Some(author), "{source}");
            assert_eq!(front.description.as_deref(), Some(description), "{source}");
            assert_eq!(front.unrecognized(), None, "{source}");
        }
    }

    #[test]
    fn indented_lines_of_toml_are_no_continuation() {
        let (front, _) = FrontMatter::split("+++\ntitle = 'T'\n\n  [params]\n  x = 1\n+++\n");
        let front = front.expect("front matter");
        assert_eq!(front.title.as_deref(), Some("T"));
        assert!(front.unrecognized().is_some_and(|source| source.contains("x = 1")));
    }

    #[test]
    fn horizontal_rule_is_not_front_matter() {
        for text in
            ["---\nJust a sentence here.\n---\nmore", "---\nunclosed: yes\n", "text\n---\na: b\n---\n", "---\n---\n"]
        {
            let (front, body) = FrontMatter::split(text);
            assert!(front.is_none(), "{text}");
            assert_eq!(body, text);
        }
    }
}
