use crate::Fields;

/// WARC record: its fields, and a block of exactly the declared length.
#[derive(Clone, Debug)]
pub struct Record {
    pub fields: Fields,
    pub block: Vec<u8>,
}

impl Record {
    /// Returns `WARC-Type`: `response`, `request`, `warcinfo`, ...
    pub fn kind(&self) -> &str {
        self.fields.get("warc-type").unwrap_or_default()
    }

    /// Returns `WARC-Target-URI` without the angle brackets of WARC 1.0 (corrected in 1.1).
    pub fn target_uri(&self) -> Option<&str> {
        let uri = self.fields.get("warc-target-uri")?;
        Some(uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri))
    }

    /// Returns `WARC-Date`, the creation time of the block, in RFC 3339. In 1.1 its precision varies.
    pub fn date(&self) -> Option<&str> {
        self.fields.get("warc-date")
    }

    /// Returns the `Content-Type` of the block, with its parameters.
    pub fn content_type(&self) -> Option<&str> {
        self.fields.get("content-type")
    }

    /// Returns true if the crawler truncated the block (`WARC-Truncated`).
    pub fn is_truncated(&self) -> bool {
        self.fields.get("warc-truncated").is_some()
    }
}

/// Damage of a record, or of bytes in place of one.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Damage {
    #[error("unexpected bytes between records")]
    Garbage,
    #[error("the header is truncated or exceeds {0} bytes")]
    Header(usize),
    #[error("missing or invalid Content-Length")]
    NoLength,
    #[error("the block of {length} bytes exceeds the limit of {limit}")]
    TooLong { length: u64, limit: usize },
    #[error("the block is truncated after {found} of {length} bytes")]
    CutOff { found: usize, length: u64 },
    #[error("the block does not end after the {0} bytes of its Content-Length")]
    WrongLength(u64),
    #[error("the gzip member is damaged: {0}")]
    Gzip(String),
}
