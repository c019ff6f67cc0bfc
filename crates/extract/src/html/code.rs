//! Code blocks of a page.

use dom_query::NodeRef;

use super::declarations::Declarations;

/// Returns a fenced block with the language from the element's class.
pub(super) fn code_block(element: &NodeRef) -> String {
    let mut text = String::new();
    code_text(element, &mut text);
    let text = text.trim_matches('\n').trim_end();
    if text.trim().is_empty() {
        return String::new();
    }
    let longest =
        text.lines().map(|line| line.trim_start().bytes().take_while(|byte| *byte == b'`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let language = language(element).unwrap_or_default();
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Appends the text of code, with a line break for each `br` and before each element that is a line.
pub(super) fn code_text(element: &NodeRef, out: &mut String) {
    for child in element.children_it(false) {
        if child.is_text() {
            out.push_str(&child.text());
        } else if child.has_name("br") {
            out.push('\n');
        } else if child.is_element() && !is_line_number(&child) {
            // Highlighters wrap each line in an element.
            let line = child.has_name("div") || child.has_name("p") || child.has_name("li") || child.has_name("tr");
            if line && !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            code_text(&child, out);
        }
    }
}

fn is_line_number(element: &NodeRef) -> bool {
    let classes = element.attr("class").unwrap_or_default();
    let has_class = |signs: &[&str]| classes.split_whitespace().any(|class| signs.contains(&class));
    if has_class(&["lineno", "linenos", "line-number", "linenumber", "hljs-ln-numbers"]) {
        return true;
    }
    // Chroma, the highlighter of Hugo. Both signs are also those of other text: of a token, and of a prompt.
    (has_class(&["ln", "lnt"]) || cannot_be_selected(element)) && is_number(&element.text())
}

fn cannot_be_selected(element: &NodeRef) -> bool {
    let style = element.attr("style").unwrap_or_default().to_ascii_lowercase();
    let declarations = Declarations::parse(&style);
    ["user-select", "-webkit-user-select"].iter().any(|name| declarations.get(name) == Some("none"))
}

/// Returns true for digits, with white space around and between them.
fn is_number(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| !c.is_whitespace()).peekable();
    letters.peek().is_some() && letters.all(|c| c.is_ascii_digit())
}

/// Returns the language from the classes that highlighters set on the block, its `code` or its ancestors:
/// `language-x`, `lang-x`, `highlight-source-x` (GitHub), `highlight-x` (Sphinx), `brush: x`, `sourceCode x` (Pandoc),
/// `src src-x` (Org), `hljs x`.
fn language(element: &NodeRef) -> Option<String> {
    let inner = element.descendants_it().filter(|inner| inner.has_name("code")).take(1);
    for node in std::iter::once(*element).chain(inner).chain(element.ancestors_it(Some(2))) {
        if let Some(language) = node.attr("data-lang").or_else(|| node.attr("data-language")) {
            return plain_name(&language);
        }
        let classes = node.attr("class").unwrap_or_default().to_lowercase().replace(": ", ":");
        let tokens: Vec<&str> = classes.split_whitespace().collect();
        let prefixed = tokens.iter().find_map(|token| {
            let prefixes = ["language-", "lang-", "highlight-source-", "highlight-", "brush:"];
            prefixes.iter().find_map(|prefix| token.strip_prefix(prefix)).and_then(plain_name)
        });
        let beside = |mark: &str| {
            let at = tokens.iter().position(|token| *token == mark)?;
            let others = tokens.iter().enumerate().filter(|(place, _)| *place != at);
            others.map(|(_, token)| token.strip_prefix("src-").unwrap_or(token)).find_map(plain_name)
        };
        let found = prefixed.or_else(|| ["hljs", "sourcecode", "src"].into_iter().find_map(beside));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn plain_name(name: &str) -> Option<String> {
    let name = name.trim_end_matches(';').to_lowercase();
    let fits = !name.is_empty()
        && name.len() <= 20
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '.'));
    (fits && !matches!(name.as_str(), "none" | "plaintext" | "text" | "plain" | "default" | "nohighlight"))
        .then_some(name)
}
