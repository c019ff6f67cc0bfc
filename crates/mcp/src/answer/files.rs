//! The answer of `list_files`: one page of the list.

use api_types::{FileEntry, FileStatus};
use serde::Serialize;

use super::hits::day;
use super::size::{Size, json_chars};
use super::text::{json_line, line};
use super::{Answer, Tail};
use crate::Failure;

/// Size of everything but the files and the cursor.
const FIXED: Size = Size { text: 200, json: 300 };

/// Longest reason of a failure, in characters.
const MAX_REASON: usize = 200;

/// A page of the list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FilePage<'a> {
    pub files: &'a [FileEntry],
    /// Number of files before the page; `None` if unknown.
    pub start: Option<usize>,
    /// Number of files of the whole list; `None` if unknown.
    pub total: Option<usize>,
    /// Cursor of the next page.
    pub next_cursor: Option<&'a str>,
    /// Number of files before the next page, for clients that count.
    pub next_start: Option<usize>,
}

#[derive(Serialize)]
struct Files<'a> {
    files: Vec<File<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(flatten)]
    tail: &'a Tail,
}

/// A file without what models do not need.
#[derive(Serialize)]
struct File<'a> {
    name: &'a str,
    size: i64,
    last_modified: &'a str,
    /// URL for `read_document`: unlike search results, listed files are not granted by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<FileStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<&'a [String]>,
}

impl<'a> File<'a> {
    fn of(file: &'a FileEntry) -> Self {
        File {
            name: &file.name,
            size: file.size,
            last_modified: &file.last_modified,
            canonical_url: file.canonical_url.as_deref(),
            status: file.status,
            reason: file.reason.as_deref().map(|reason| line(reason, MAX_REASON)),
            labels: Some(file.labels.as_slice()).filter(|labels| !labels.is_empty()),
        }
    }
}

/// Returns how many of the files fit into `limit` characters in each form: at least one, so that the pages go on.
pub(crate) fn fitting(files: &[FileEntry], limit: usize, tail: &Tail) -> usize {
    // A cursor is an encoded name. It is in the structured content twice.
    let cursor = files.iter().map(|file| (file.name.len() + 8) * 4 / 3).max().unwrap_or(0);
    let mut size = FIXED + Size { text: tail.size().text + cursor, json: json_chars(tail) + 2 * cursor };
    let mut count = 0;
    for file in files {
        size += Size::of(&item(file), &File::of(file));
        if count > 0 && !size.fits(limit) {
            break;
        }
        count += 1;
    }
    count
}

/// Builds the answer of a page.
///
/// # Errors
/// The answer cannot be serialized.
pub(crate) fn files(page: &FilePage<'_>, mut tail: Tail) -> Result<Answer, Failure> {
    if let Some(cursor) = page.next_cursor {
        let cursor = json_line(cursor);
        tail.next(format!("the list continues: call list_files with {{\"cursor\": {cursor}}}"));
    } else if let Some(start) = page.next_start {
        tail.next(format!("the list continues: call list_files with {{\"start\": {start}}}"));
    }
    let lines: Vec<String> =
        std::iter::once(head(page)).chain(page.files.iter().map(item)).chain(tail.lines()).collect();
    let files = page.files.iter().map(File::of).collect();
    Answer::new(lines.join("\n"), &Files { files, total: page.total, next_cursor: page.next_cursor, tail: &tail })
}

fn head(page: &FilePage<'_>) -> String {
    let count = page.files.len();
    let has_more = page.next_cursor.is_some() || page.next_start.is_some();
    match (page.start, page.total) {
        (_, Some(0)) => "No files.".to_owned(),
        (_, Some(total)) if count == 0 => format!("No more files; there are {total}."),
        _ if count == 0 && has_more => "No files on this page; more may follow.".to_owned(),
        _ if count == 0 => "No more files.".to_owned(),
        (Some(start), Some(total)) => format!("Files {} to {} of {total}:", start + 1, start + count),
        (Some(start), None) => format!("Files {} to {}, more follow:", start + 1, start + count),
        (None, _) if has_more => format!("The next {count} files, more follow:"),
        (None, _) => format!("The last {count} files:"),
    }
}

fn item(file: &FileEntry) -> String {
    let mut item = format!("- {} | {} bytes | {}", line(&file.name, 512), file.size, day(&file.last_modified));
    let status = match file.status {
        None | Some(FileStatus::Unknown) => None,
        Some(FileStatus::Pending) => Some("pending"),
        Some(FileStatus::Indexed) => Some("indexed"),
        Some(FileStatus::Failed) => Some("failed"),
        Some(FileStatus::Unsupported) => Some("unsupported"),
    };
    if let Some(status) = status {
        item.push_str(" | ");
        item.push_str(status);
    }
    if let Some(reason) = &file.reason {
        item.push_str(&format!(" ({})", line(reason, MAX_REASON)));
    }
    if !file.labels.is_empty() {
        item.push_str(&format!(" | labels: {}", line(&file.labels.join(", "), 1_400)));
    }
    if let Some(url) = &file.canonical_url {
        item.push_str(" | ");
        item.push_str(&line(url, usize::MAX));
    }
    item
}
