//! Lists and lines: `- one`, `2. two`.

/// A query taken apart into lines.
pub(super) struct Lines<'a> {
    /// Lines before, between and after the items.
    pub prose: Vec<&'a str>,
    pub items: Vec<&'a str>,
}

/// Splits a text into prose and list items. A single item is prose.
pub(super) fn lines(text: &str) -> Lines<'_> {
    let mut lines = Lines { prose: Vec::new(), items: Vec::new() };
    let mut first_item_at = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match item(line) {
            Some(item) => {
                if lines.items.is_empty() {
                    first_item_at = lines.prose.len();
                }
                lines.items.push(item);
            }
            None => lines.prose.push(line),
        }
    }
    if lines.items.len() == 1 {
        lines.prose.insert(first_item_at, lines.items.remove(0));
    }
    lines
}

/// Returns the text of a list item without its mark.
fn item(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix(['-', '*', '•', '+', '–', '·']) {
        Some(rest) => rest,
        None => numbered(line)?,
    };
    let text = rest.trim_start();
    (text.len() < rest.len() && !text.is_empty()).then_some(text)
}

fn numbered(line: &str) -> Option<&str> {
    let line = line.strip_prefix('(').unwrap_or(line);
    let letters = line.chars().take_while(|c| c.is_ascii_alphanumeric()).count();
    let mark = &line[..letters];
    let digits = !mark.is_empty() && letters <= 3 && mark.bytes().all(|byte| byte.is_ascii_digit());
    let letter = letters == 1 && mark.bytes().all(|byte| byte.is_ascii_lowercase());
    (digits || letter).then(|| line[letters..].strip_prefix(['.', ')'])).flatten()
}
