//! Supported revisions of the protocol.
//!
//! Older revisions are not supported: before 2025-06-18 results had no structured content, which some clients pass on alone, and
//! 2025-03-26 requires batches. As the specification requires, a client that requests one is offered the newest
//! handshake revision and decides for itself.

use serde_json::json;

use crate::message::{RpcError, code};

/// Revisions that begin with `initialize`, newest first.
pub const HANDSHAKE: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// The stateless revision, in which every request names its revision in `_meta`.
pub const STATELESS: &str = "2026-07-28";

/// All supported revisions, newest first.
pub(crate) fn supported() -> Vec<&'static str> {
    std::iter::once(STATELESS).chain(HANDSHAKE).collect()
}

/// True for supported revisions.
pub fn is_supported(revision: &str) -> bool {
    supported().contains(&revision)
}

/// Returns the revision for an `initialize`: the requested one if supported, else the newest with a handshake.
pub(crate) fn negotiate(requested: &str) -> &'static str {
    HANDSHAKE.into_iter().find(|known| *known == requested).unwrap_or(HANDSHAKE[0])
}

/// Builds an `UnsupportedProtocolVersionError`, which lists the supported revisions for the client to choose from.
pub fn unsupported(requested: &str) -> RpcError {
    let requested: String = requested.chars().take(100).collect();
    RpcError {
        data: Some(json!({"supported": supported(), "requested": requested})),
        ..RpcError::new(code::UNSUPPORTED_VERSION, "unsupported protocol version")
    }
}
