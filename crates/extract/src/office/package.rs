//! Package of a document or presentation with parts in the markup that the library reads.

use std::collections::HashMap;
use std::io::{Cursor, Read, Write};

use office_oxide::core::xml::ensure_utf8;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::{markup, word};

/// Maximum unpacked size of all parts that are searched, in bytes: that of one part with the library's strict limits.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// Passes over the text of a part. Each returns `None` for a part without what it rewrites.
const PASSES: [fn(&str) -> Option<String>; 3] =
    [word::without_field_instructions, word::with_joined_drop_caps, markup::rewritten];

/// Returns the file with rewritten parts. Returns `None` if there is nothing to rewrite. `first` is the first pass over a
/// part, with its name, which begins with a slash, and its text.
pub(super) fn rewritten(bytes: &[u8], first: impl Fn(&str, &str) -> Option<String>) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut room = MAX_BYTES;
    let mut parts = HashMap::new();
    for at in 0..archive.len() {
        let part = unpacked(&mut archive, at, &mut room);
        if let Some(part) = part.and_then(|(name, part)| rewritten_part(&part, |part| first(&name, part))) {
            parts.insert(at, part);
        }
    }
    if parts.is_empty() {
        return None;
    }
    let options = SimpleFileOptions::default();
    let mut package = ZipWriter::new(Cursor::new(Vec::new()));
    let mut stored = 0usize;
    for at in 0..archive.len() {
        let entry = archive.by_index_raw(at).ok()?;
        if let Some(part) = parts.remove(&at) {
            let name = entry.name().ok()?.into_owned();
            package.start_file(name, options).ok()?;
            package.write_all(part.as_bytes()).ok()?;
        } else {
            // Entries that share their bytes would multiply them.
            stored = stored.saturating_add(usize::try_from(entry.compressed_size()).ok()?);
            if stored > bytes.len() {
                return None;
            }
            package.raw_copy_file(entry).ok()?;
        }
    }
    package.finish().ok().map(Cursor::into_inner)
}

/// Returns a part behind all passes, or `None` if there is nothing to rewrite.
fn rewritten_part(part: &str, first: impl Fn(&str) -> Option<String>) -> Option<String> {
    let part = part.strip_prefix('\u{feff}').unwrap_or(part);
    PASSES.iter().fold(first(part), |rewritten, pass| pass(rewritten.as_deref().unwrap_or(part)).or(rewritten))
}

/// Returns the name of an XML part and its text, if there is room for it.
pub(super) fn unpacked(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    at: usize,
    room: &mut usize,
) -> Option<(String, String)> {
    if *room == 0 {
        return None;
    }
    let part = archive.by_index(at).ok()?;
    let name = format!("/{}", part.name().ok()?);
    if !name.to_ascii_lowercase().ends_with(".xml") {
        return None;
    }
    let limit = u64::try_from(*room).ok()?;
    // The declared size is not trusted: reading itself is bounded.
    let mut bytes = Vec::new();
    let read = part.take(limit + 1).read_to_end(&mut bytes);
    let is_whole = read.is_ok() && bytes.len() <= *room;
    *room = room.saturating_sub(bytes.len());
    if !is_whole {
        return None;
    }
    Some((name, String::from_utf8(ensure_utf8(&bytes).unwrap_or(bytes)).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in parts {
            zip.start_file(*name, SimpleFileOptions::default()).expect("an entry");
            zip.write_all(content.as_bytes()).expect("its content");
        }
        zip.finish().expect("an archive").into_inner()
    }

    #[test]
    fn only_parts_with_formulas_are_rewritten() {
        let formula = "<m:oMath><m:rad><m:e><m:t>2</m:t></m:e></m:rad></m:oMath>";
        let file = package(&[("word/document.xml", "<w:p/>"), ("word/footnotes.xml", formula), ("a.txt", formula)]);
        let expected = package(&[
            ("word/document.xml", "<w:p/>"),
            ("word/footnotes.xml", "<m:oMath><m:r><m:t>√2</m:t></m:r></m:oMath>"),
            ("a.txt", formula),
        ]);
        let file = rewritten(&file, |_, _| None).expect("a file");
        let contents = |file: &[u8]| -> Vec<String> {
            let mut archive = ZipArchive::new(Cursor::new(file)).expect("an archive");
            let content = |at: usize| {
                let mut content = String::new();
                archive.by_index(at).expect("an entry").read_to_string(&mut content).expect("text");
                content
            };
            (0..3).map(content).collect()
        };
        assert_eq!(contents(&file), contents(&expected));
    }

    #[test]
    fn files_without_formulas_stay() {
        let file = package(&[("word/document.xml", "<w:p/>"), ("word/styles.xml", "")]);
        assert_eq!(rewritten(&file, |_, _| None), None);
        assert_eq!(rewritten(b"no archive", |_, _| None), None);
    }
}
