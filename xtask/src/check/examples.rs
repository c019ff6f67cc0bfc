//! Commands in the documentation work as they are written: those that send a body to the API state its type.

use super::Breach;
use crate::shell;
use std::path::Path;

/// Searches every tracked Markdown file below `root`.
///
/// # Errors
///
/// When git cannot list the tracked files.
pub fn check(root: &Path) -> anyhow::Result<Vec<Breach>> {
    let listed = shell::output(shell::git().args(["ls-files", "-z", "--", "*.md"]))?;
    let mut breaches = Vec::new();
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        // A tracked file may be deleted in the work tree.
        let Ok(text) = std::fs::read_to_string(root.join(name)) else { continue };
        for number in untyped(&text) {
            breaches.push(Breach::new(
                format!("{name}:{number} sends a body that curl declares as a form, which the API refuses"),
                "add `-H \"Content-Type: application/json\"`",
            ));
        }
    }
    Ok(breaches)
}

/// Returns the lines at which curl commands begin that send a body to the API without its type.
fn untyped(markdown: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut lines = markdown.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let mut command = line.to_owned();
        while command.ends_with('\\') {
            command.pop();
            command.push_str(lines.next().map_or("", |(line, _)| line));
        }
        let sends_body = command.split_whitespace().any(|word| word.starts_with("-d") || word.starts_with("--data"));
        let is_call = command.contains("curl") && command.contains("/v1/");
        if is_call && sends_body && !command.to_ascii_lowercase().contains("content-type: application/json") {
            found.push(number);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::untyped;

    #[test]
    fn bodies_for_the_api_need_their_type() {
        let typed = "curl \"$URL/v1/search\" -H \"Content-Type: application/json\" \\\n  -d '{}'\n";
        let other = "curl -T a.md \"$url\"\ncurl \"$URL/v1/files\"\ncurl -d x https://example.com/\n";
        assert_eq!(untyped(&format!("{typed}{other}")), [] as [usize; 0]);
        let untyped_ones = "text\n\ncurl \"$URL/v1/search\" \\\n  -d '{}'\ncurl --data-raw '{}' $URL/v1/search \\";
        assert_eq!(untyped(untyped_ones), [3, 5]);
    }
}
