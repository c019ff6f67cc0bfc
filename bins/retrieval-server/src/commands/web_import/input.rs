//! Input of an import: file or standard input, progress, format detection.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use anyhow::Context;
use flate2::bufread::{GzDecoder, MultiGzDecoder};
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::Format;

/// Bytes read for format detection: enough for a gzip header and the start of the first block.
const HEAD: u64 = 4096;
const BUFFER: usize = 1 << 18;

/// A file or standard input.
pub struct Input {
    reader: Box<dyn Read + Send>,
    /// Size in bytes, if known.
    size: Option<u64>,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub fn open(file: &Path) -> anyhow::Result<Self> {
        if file == Path::new("-") {
            return Ok(Self { reader: Box::new(io::stdin()), size: None });
        }
        let opened = File::open(file).with_context(|| format!("opening `{}`", file.display()))?;
        let metadata = opened.metadata()?;
        // The size of a pipe or a device is meaningless.
        Ok(Self { reader: Box::new(opened), size: metadata.is_file().then_some(metadata.len()) })
    }

    /// Returns a progress bar of the bytes as stored, before decompression. It is visible on a terminal only.
    pub fn progress_bar(&self) -> ProgressBar {
        let template = match self.size {
            Some(_) => "{bar:32} {bytes}/{total_bytes} {bytes_per_sec} {eta} {msg}",
            None => "{spinner} {bytes} {bytes_per_sec} {msg}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let progress = self.size.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        progress.with_style(style)
    }

    /// Detects the format, unless given, and returns a reader. JSON lines are decompressed; a web archive is not,
    /// because its gzip members delimit records.
    pub fn detect_format(
        self,
        given: Option<Format>,
        progress: &ProgressBar,
    ) -> anyhow::Result<(Format, Box<dyn Read + Send>)> {
        let mut counted = progress.wrap_read(self.reader);
        let mut head = Vec::new();
        (&mut counted).take(HEAD).read_to_end(&mut head).context("reading the input")?;
        let is_gzip = head.starts_with(&[0x1f, 0x8b]);
        let format = given.unwrap_or_else(|| format_of(&head, is_gzip));
        let whole = Cursor::new(head).chain(counted);
        Ok(match format {
            Format::Jsonl if is_gzip => {
                (format, Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole))))
            }
            Format::Jsonl | Format::Warc => (format, Box::new(whole)),
        })
    }
}

fn format_of(head: &[u8], is_gzip: bool) -> Format {
    const WARC: &[u8] = b"WARC/";
    let mut unpacked = Vec::new();
    let begins = if is_gzip {
        // The head is truncated, so decoding fails at its end; the bytes before that are enough.
        let _ = GzDecoder::new(head).take(WARC.len() as u64).read_to_end(&mut unpacked);
        &unpacked
    } else {
        head
    };
    if begins.starts_with(WARC) { Format::Warc } else { Format::Jsonl }
}
