//! Input of an import: file, folder or standard input, progress, format detection.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use flate2::bufread::{GzDecoder, MultiGzDecoder};
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::InvalidArgument;
use crate::cli::Format;

/// Bytes read for format detection: enough for a gzip header and the start of the first block.
const HEAD: u64 = 4096;
const BUFFER: usize = 1 << 18;

/// A file, a folder or standard input.
pub struct Input {
    path: PathBuf,
    /// `None` for a folder.
    reader: Option<Box<dyn Read + Send>>,
    /// Size in bytes, if known.
    size: Option<u64>,
}

/// Input of a known format.
pub enum Detected {
    Jsonl(Box<dyn Read + Send>),
    Warc(Box<dyn Read + Send>),
    Zip(File),
    Folder(PathBuf),
}

impl Input {
    /// Opens a file or a folder; `-` is standard input.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let owned = path.to_owned();
        if path == Path::new("-") {
            return Ok(Self { path: owned, reader: Some(Box::new(io::stdin())), size: None });
        }
        let opened = File::open(path).with_context(|| format!("opening `{}`", path.display()))?;
        let metadata = opened.metadata()?;
        if metadata.is_dir() {
            return Ok(Self { path: owned, reader: None, size: None });
        }
        // The size of a pipe or a device is meaningless.
        let size = metadata.is_file().then_some(metadata.len());
        Ok(Self { path: owned, reader: Some(Box::new(opened)), size })
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

    /// Detects the format, unless given. JSON lines are decompressed; a web archive is not, because its gzip members delimit
    /// records. A zip archive is read from its end, so it must be a file.
    pub fn detect_format(self, given: Option<Format>, progress: &ProgressBar) -> anyhow::Result<Detected> {
        let Some(reader) = self.reader else {
            if let Some(format) = given {
                let message = format!("`{}` is a folder, which --format {format:?} does not read", self.path.display());
                bail!(InvalidArgument(message));
            }
            return Ok(Detected::Folder(self.path));
        };
        let mut counted = progress.wrap_read(reader);
        let mut head = Vec::new();
        (&mut counted).take(HEAD).read_to_end(&mut head).context("reading the input")?;
        let is_gzip = head.starts_with(&[0x1f, 0x8b]);
        let format = given.unwrap_or_else(|| format_of(&head, is_gzip));
        let whole = Cursor::new(head).chain(counted);
        Ok(match format {
            Format::Jsonl if is_gzip => {
                Detected::Jsonl(Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole))))
            }
            Format::Jsonl => Detected::Jsonl(Box::new(whole)),
            Format::Warc => Detected::Warc(Box::new(whole)),
            Format::Zip if self.size.is_none() => bail!("a zip archive must be a file, not a pipe"),
            Format::Zip => Detected::Zip(File::open(&self.path)?),
        })
    }
}

fn format_of(head: &[u8], is_gzip: bool) -> Format {
    const WARC: &[u8] = b"WARC/";
    const ZIP: &[u8] = b"PK\x03\x04";
    if head.starts_with(ZIP) {
        return Format::Zip;
    }
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
