use crate::Fields;

/// A record: its fields, and the block of exactly the length that they say.
#[derive(Clone, Debug)]
pub struct Record {
    pub fields: Fields,
    pub block: Vec<u8>,
}

impl Record {
    /// `WARC-Type`: `response`, `request`, `warcinfo`, ...
    pub fn kind(&self) -> &str {
        self.fields.get("warc-type").unwrap_or_default()
    }

    /// `WARC-Target-URI`, without the angle brackets that WARC 1.0 had around it (corrected in 1.1).
    pub fn target_uri(&self) -> Option<&str> {
        let uri = self.fields.get("warc-target-uri")?;
        Some(uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri))
    }

    /// `WARC-Date`, when the block was made: in RFC 3339, in 1.1 also with less or more precision.
    pub fn date(&self) -> Option<&str> {
        self.fields.get("warc-date")
    }

    /// `Content-Type` of the block, with its parameters.
    pub fn content_type(&self) -> Option<&str> {
        self.fields.get("content-type")
    }

    /// Whether the crawler itself has cut the block off (`WARC-Truncated`).
    pub fn is_truncated(&self) -> bool {
        self.fields.get("warc-truncated").is_some()
    }
}

/// What is wrong with a record, or with bytes where one should be.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Damage {
    #[error("bytes that belong to no record")]
    Garbage,
    #[error("the header is cut off, or longer than {0} bytes")]
    Header(usize),
    #[error("no Content-Length, or one that is no number")]
    NoLength,
    #[error("the block of {length} bytes is longer than {limit}")]
    TooLong { length: u64, limit: usize },
    #[error("the block ends after {found} of {length} bytes")]
    CutOff { found: usize, length: u64 },
    #[error("the block does not end after the {0} bytes of its Content-Length")]
    WrongLength(u64),
    #[error("the gzip member is damaged: {0}")]
    Gzip(String),
}
