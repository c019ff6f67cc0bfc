//! Readers for text files: `txt` and `md`.

use crate::charset;
use crate::front_matter::FrontMatter;
use crate::{ExtractError, ExtractRequest, Extracted, language, magic, names, terminal};

/// Maximum length of a first line that can be a title, in characters.
const MAX_TITLE: usize = 200;

/// Reads a text file and normalizes its line ends to `\n`.
pub(crate) fn read_text(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    let text = decode(request, bytes)?;
    Ok(Extracted {
        title: first_line_title(&text).or_else(|| names::title_of(&request.name)),
        language: language::detect(&text),
        markdown: text,
        ..Extracted::default()
    })
}

/// Reads a markdown file. Known front matter properties go into fields. Front matter with other properties is kept as
/// a fenced block, because `---` below lines of text would turn them into a heading.
pub(crate) fn read_markdown(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    let text = decode(request, bytes)?;
    let (front, body) = FrontMatter::split(&text);
    let heading = first_heading(body);
    let detected = language::detect(body);
    let Some(front) = front else {
        return Ok(Extracted {
            title: heading.or_else(|| names::title_of(&request.name)),
            language: detected,
            markdown: text,
            ..Extracted::default()
        });
    };
    let markdown = match front.unrecognized() {
        Some(source) => format!("```{}\n{source}\n```\n\n{}", front.syntax(), body.trim_start_matches('\n')),
        None => body.trim_start_matches('\n').to_owned(),
    };
    Ok(Extracted {
        markdown,
        title: front.title.or(heading).or_else(|| names::title_of(&request.name)),
        author: front.author,
        description: front.description,
        language: front.language.or(detected),
        published_at: front.published_at,
        ..Extracted::default()
    })
}

fn decode(request: &ExtractRequest, bytes: &[u8]) -> Result<String, ExtractError> {
    if magic::is_disguised_text(bytes) {
        return Err(magic::wrong_type(request.kind, bytes));
    }
    let text = charset::decode(bytes, &charset::from_label(request.charset.as_deref()))
        .ok_or_else(|| magic::wrong_type(request.kind, bytes))?;
    Ok(charset::normalize_lines(&terminal::shown(&text)))
}

/// Returns a short first line as the title if a blank line separates it from more text.
fn first_line_title(text: &str) -> Option<String> {
    let (first, rest) = text.trim_start().split_once('\n')?;
    let title = first.trim();
    let apart = rest.lines().next().is_some_and(|line| line.trim().is_empty()) && !rest.trim().is_empty();
    let fit = title.chars().count() <= MAX_TITLE && title.chars().any(char::is_alphabetic);
    (apart && fit).then(|| title.to_owned())
}

/// Returns the first heading of level 1 or 2 outside fenced code, without markup.
fn first_heading(markdown: &str) -> Option<String> {
    let mut fence: Option<&str> = None;
    let mut previous = "";
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            match fence {
                Some(open) if open == mark => fence = None,
                None => fence = Some(mark),
                Some(_) => {}
            }
            previous = "";
            continue;
        }
        if fence.is_some() {
            continue;
        }
        let heading = trimmed.strip_prefix("# ").or_else(|| trimmed.strip_prefix("## "));
        if let Some(title) = heading.map(names::strip_markup).filter(|title| !title.is_empty()) {
            return Some(title);
        }
        let underline = !trimmed.is_empty() && trimmed.trim_end().chars().all(|c| c == '=');
        if underline && !previous.trim().is_empty() {
            return Some(names::strip_markup(previous));
        }
        previous = line;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExtractErrorKind, FileKind};

    fn request(kind: FileKind, name: &str) -> ExtractRequest {
        ExtractRequest { kind, name: name.into(), base_url: None, charset: None }
    }

    #[test]
    fn separated_first_line_is_title() {
        let read = |text: &str| {
            read_text(&request(FileKind::Txt, "notes-2024.txt"), text.as_bytes()).expect("text").title.expect("a title")
        };
        assert_eq!(read("Minutes of the board\r\n\r\nPresent: all."), "Minutes of the board");
        assert_eq!(read("One line follows\nanother at once."), "notes-2024");
        assert_eq!(read("---\n\nno letters"), "notes-2024");
        assert_eq!(read("only one line"), "notes-2024");
    }

    #[test]
    fn text_is_read_as_a_terminal_shows_it() {
        let log = b"N\x08NA\x08AM\x08ME\x08E\r\n  _\x08f_\x08i\n\x1b[32mOK\x1b[0m\n";
        for (kind, name) in [(FileKind::Txt, "a.txt"), (FileKind::Md, "a.md")] {
            let read = if kind == FileKind::Txt { read_text } else { read_markdown };
            assert_eq!(read(&request(kind, name), log).expect("text").markdown, "NAME\n  fi\nOK\n");
        }
    }

    #[test]
    fn empty_file_is_valid_text() {
        let read = read_text(&request(FileKind::Txt, "empty.txt"), b"").expect("text");
        assert_eq!((read.markdown.as_str(), read.title.as_deref()), ("", Some("empty")));
    }

    #[test]
    fn markdown_is_unchanged() {
        let source = "Intro\r\n\r\n```sh\r\n# a comment\r\n```\r\n\r\n# The *real* title #\r\n";
        let read = read_markdown(&request(FileKind::Md, "a.md"), source.as_bytes()).expect("markdown");
        assert_eq!(read.markdown, source.replace("\r\n", "\n"));
        assert_eq!(read.title.as_deref(), Some("The real title"));
    }

    #[test]
    fn underlined_line_is_a_heading() {
        let read = read_markdown(&request(FileKind::Md, "a.md"), b"Big Title\n=========\n\ntext").expect("markdown");
        assert_eq!(read.title.as_deref(), Some("Big Title"));
    }

    #[test]
    fn other_formats_are_rejected_as_text() {
        for bytes in [&b"%PDF-1.7\nabc"[..], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"{\\rtf1 abc}", b"PK\x03\x04\x14\0\0\0"]
        {
            let error = read_text(&request(FileKind::Txt, "a.txt"), bytes).expect_err("not text");
            assert_eq!(error.kind, ExtractErrorKind::WrongType);
        }
    }
}
