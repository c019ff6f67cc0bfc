/// Error in an archived response.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HttpError {
    #[error("the block does not begin with an HTTP status line")]
    StatusLine,
    #[error("the header exceeds the limit of {0} bytes")]
    Header(usize),
    #[error("a chunk of the body is truncated or malformed")]
    Chunks,
    #[error("unknown content coding `{0}`")]
    UnknownCoding(String),
    #[error("cannot decode the content coding `{coding}`: {message}")]
    Coding { coding: String, message: String },
    #[error("the body exceeds the limit of {0} bytes")]
    TooLong(usize),
}
