//! Small PDF that keeps a reader busy for long.

use crate::bench::pdf;

/// Lines of the text that all pages share.
const LINES: usize = 68;
/// Pages of a file of about 600 kB.
const PAGES: usize = 4_400;

/// Returns the bytes of the PDF.
pub fn bytes() -> Vec<u8> {
    pdf::document(&pdf::Pages::Shared { content: &pdf::content(LINES), count: PAGES })
}

#[cfg(test)]
mod tests {
    #[test]
    fn file_is_small() {
        let length = super::bytes().len();
        assert!((500_000..700_000).contains(&length), "{length}");
    }
}
