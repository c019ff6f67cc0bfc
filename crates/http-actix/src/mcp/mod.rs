//! The Model Context Protocol over HTTP: headers, origins and the in-process backend.

mod backend;
pub(crate) mod headers;
mod origin;

use mcp::{Profile, Server};

pub(crate) use backend::InProcess;
pub(crate) use origin::Origins;

/// One MCP server per profile.
pub(crate) struct Servers {
    full: Server,
    connector: Server,
}

impl Servers {
    pub fn new() -> Self {
        Self { full: Server::new(Profile::Full), connector: Server::new(Profile::Connector) }
    }

    pub fn of(&self, profile: Profile) -> &Server {
        match profile {
            Profile::Full => &self.full,
            Profile::Connector => &self.connector,
        }
    }
}
