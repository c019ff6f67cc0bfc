//! The answer of `list_files`: one page of the list.

use api_types::FileEntry;
use serde::Serialize;

use super::hits::day;
use super::size::{Size, json_chars};
use super::text::{json_line, line};
use super::{Answer, Tail};
use crate::Failure;

/// A page of the list before it is measured.
pub(crate) struct FilePage<'a> {
    /// At most as many files as requested.
    pub files: &'a [FileEntry],
    /// Number of files before the page.
    pub start: usize,
    /// Number of files of the whole list.
    pub total: usize,
}

#[derive(Serialize)]
struct Files<'a> {
    files: &'a [FileEntry],
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(flatten)]
    tail: &'a Tail,
}

/// Builds a page within `limit` characters in each form. The cursor of the next page is the name of its last file.
///
/// # Errors
/// The answer cannot be serialized.
pub(crate) fn files(page: &FilePage<'_>, limit: usize, mut tail: Tail) -> Result<Answer, Failure> {
    // Head, and the cursor in both forms: a name of 512 characters at most, escaped.
    const FIXED: Size = Size { text: 1_200, json: 2_300 };
    let item =
        |file: &FileEntry| format!("- {} | {} bytes | {}", line(&file.name, 512), file.size, day(&file.last_modified));
    let mut size = FIXED + Size { text: tail.size().text, json: json_chars(&tail) };
    let mut count = 0;
    for file in page.files {
        size += Size::of(&item(file), file);
        // At least one, so that the pages go on.
        if count > 0 && !size.fits(limit) {
            break;
        }
        count += 1;
    }
    let shown = &page.files[..count];
    let end = page.start + count;
    let next_cursor = shown.last().map(|last| last.name.as_str()).filter(|_| end < page.total);
    if let Some(cursor) = next_cursor {
        let cursor = json_line(cursor);
        tail.next(format!("the list continues: call list_files with {{\"cursor\": {cursor}}}"));
    }
    let head = match count {
        0 if page.total == 0 => "No files.".to_owned(),
        0 => format!("No more files; there are {}.", page.total),
        _ => format!("Files {} to {end} of {}:", page.start + 1, page.total),
    };
    let lines: Vec<String> = std::iter::once(head).chain(shown.iter().map(item)).chain(tail.lines()).collect();
    Answer::new(lines.join("\n"), &Files { files: shown, total: page.total, next_cursor, tail: &tail })
}
