//! The revisions of the protocol that are spoken.
//!
//! Older ones are not: before 2025-06-18 a result had no structured content, which is where our answers stand, and
//! 2025-03-26 asks servers for batches. A client that offers one is answered with the newest handshake revision, as the
//! specification has it, and decides for itself.

use serde_json::json;

use crate::message::{RpcError, code};

/// Revisions that begin with `initialize`, newest first.
pub const HANDSHAKE: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// The revision in which every request says for itself what it speaks, in `_meta`.
pub const STATELESS: &str = "2026-07-28";

/// All of them, newest first.
pub(crate) fn supported() -> Vec<&'static str> {
    std::iter::once(STATELESS).chain(HANDSHAKE).collect()
}

/// Whether this is one of the revisions spoken here.
pub fn is_supported(revision: &str) -> bool {
    supported().contains(&revision)
}

/// What `initialize` is answered with: the revision that was asked for, else the newest that begins so.
pub(crate) fn negotiate(requested: &str) -> &'static str {
    HANDSHAKE.into_iter().find(|known| *known == requested).unwrap_or(HANDSHAKE[0])
}

/// `UnsupportedProtocolVersionError`: names what is spoken, so that the client can choose.
pub fn unsupported(requested: &str) -> RpcError {
    let requested: String = requested.chars().take(100).collect();
    RpcError {
        data: Some(json!({"supported": supported(), "requested": requested})),
        ..RpcError::new(code::UNSUPPORTED_VERSION, "unsupported protocol version")
    }
}
