//! `retrieval me`.

use retrieval_client::Client;
use retrieval_client::types::{CredentialKind, MeResponse, Quota};

use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::appearance::Appearance;
use crate::terminal::money::money;
use crate::terminal::table::Table;
use crate::terminal::text::one_line;

pub async fn run(client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let answer = client.me().await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    terminal.print(&render(&answer, &terminal.appearance))
}

fn render(me: &MeResponse, appearance: &Appearance) -> String {
    let (organization, credential) = (&me.organization, &me.credential);
    let mut lines = vec![format!("organization  {} ({})", one_line(&organization.name), organization.organization_id)];
    lines.extend(organization.balance_cents.map(|cents| format!("balance       {}", money(cents))));
    lines.push(match credential.kind {
        CredentialKind::ApiKey => {
            let (name, prefix) = (credential.name.as_deref(), credential.key_prefix.as_deref());
            format!("credential    key {} ({}...)", one_line(name.unwrap_or("")), one_line(prefix.unwrap_or("")))
        }
        CredentialKind::Token => "credential    access token".to_owned(),
    });
    lines.extend(credential.expires_at.as_ref().map(|at| format!("expires       {}", one_line(at))));
    lines.push(format!("scopes        {}", one_line(&credential.scopes.join(" "))));
    lines.push(format!("rate limit    {} requests per second", credential.limit_rps));
    let mut quotas = Table::new(&["QUOTA", "USED", "LIMIT"]);
    for (name, Quota { used, limit }) in [("files", me.quotas.files), ("bytes", me.quotas.bytes)] {
        quotas.row([name.to_owned(), used.to_string(), limit.map_or("none".to_owned(), |limit| limit.to_string())]);
    }
    format!("{}\n\n{}", lines.join("\n"), quotas.render(appearance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn organization_credential_and_quotas_are_shown() {
        let body = json!({
            "request_id": "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001",
            "organization": { "organization_id": "c2f5d1ac-7a37-4b0c-8f63-5f7a2f7f9e21", "name": "Acme", "billed": true,
                "balance_cents": 4205 },
            "credential": { "kind": "api_key", "api_key_id": "9f1c1b6e-0f43-4f0e-8a55-6f1f7f2e4a10", "name": "laptop",
                "key_prefix": "rsk_abcdef", "scopes": ["search:read", "files:read"], "limit_rps": 100 },
            "quotas": { "files": { "used": 12, "limit": 100 }, "bytes": { "used": 4096 } },
            "access": { "rate_limit": { "limit_rps": 100, "remaining": 99, "reset_at": "2026-01-01T00:00:00Z" } },
        });
        let me: MeResponse = serde_json::from_value(body).expect("a response");
        let expected = "organization  Acme (c2f5d1ac-7a37-4b0c-8f63-5f7a2f7f9e21)\n\
            balance       42.05\n\
            credential    key laptop (rsk_abcdef...)\n\
            scopes        search:read files:read\n\
            rate limit    100 requests per second\n\n\
            QUOTA  USED  LIMIT\nfiles    12    100\nbytes  4096   none\n";
        assert_eq!(render(&me, &Appearance { colour: false, width: usize::MAX }), expected);
    }
}
