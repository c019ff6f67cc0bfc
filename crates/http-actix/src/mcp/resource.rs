use model::Scope;
use serde_json::json;

use crate::static_file::StaticFile;

/// Metadata of the API as an OAuth 2.0 protected resource (RFC 9728), which lead clients to the issuer of access tokens.
pub(crate) struct ProtectedResource {
    /// For the whole API, at the path without a suffix.
    pub api: StaticFile,
    /// For `/mcp`, which MCP clients ask for.
    pub mcp: StaticFile,
    /// The `WWW-Authenticate` header of `/mcp`.
    pub challenge: String,
}

impl ProtectedResource {
    pub fn new(public_url: &str, issuer: &str) -> Self {
        let scopes: Vec<&str> = Scope::of_organizations().map(Scope::as_str).collect();
        let metadata = |resource: &str| {
            let metadata = json!({
                "resource": resource,
                "authorization_servers": [issuer],
                "scopes_supported": scopes,
                "bearer_methods_supported": ["header"],
                "resource_documentation": format!("{public_url}/docs"),
            });
            StaticFile::new("application/json", format!("{metadata:#}\n"))
        };
        let address = format!("{public_url}/.well-known/oauth-protected-resource/mcp");
        Self {
            api: metadata(public_url),
            mcp: metadata(&format!("{public_url}/mcp")),
            challenge: format!("Bearer resource_metadata=\"{address}\""),
        }
    }
}
