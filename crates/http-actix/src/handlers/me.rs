use api_types::timestamp::rfc3339;
use api_types::{Credential, CredentialKind, MeResponse, OrganizationInfo, Quota, Quotas, WebInfo};
use app::Work;
use app::clock::to_date_time;
use app::me::{Me, Usage};
use openapi::{Input, operations};

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::numbers::wire_int;

impl Endpoint for operations::GetMe {
    async fn handle(context: &Context, _: Input<Self>) -> Result<MeResponse, Failure> {
        let me = context.run(Work::Small, |service, viewer| async move { service.me(&viewer).await }).await?;
        Ok(response(context, me))
    }
}

fn response(context: &Context, me: Me) -> MeResponse {
    let Me { organization, balance_cents, key, scopes, limit_rps, files, bytes, web } = me;
    let mut credential = Credential {
        kind: CredentialKind::Token,
        api_key_id: None,
        name: None,
        key_prefix: None,
        scopes: scopes.iter().map(ToString::to_string).collect(),
        limit_rps: i64::from(limit_rps),
        expires_at: None,
    };
    if let Some(key) = key {
        credential.kind = CredentialKind::ApiKey;
        credential.api_key_id = Some(key.id.0);
        credential.name = Some(key.name);
        credential.key_prefix = Some(key.prefix);
        credential.expires_at = key.expires_at.map(|at| rfc3339(to_date_time(at)));
    }
    MeResponse {
        schema: context.schema::<MeResponse>(),
        request_id: context.request_id,
        organization: OrganizationInfo {
            organization_id: organization.id.0,
            name: organization.name,
            billed: organization.billed,
            balance_cents,
        },
        credential,
        quotas: Quotas { files: quota(files), bytes: quota(bytes) },
        web: Some(WebInfo { index_empty: web.index_is_empty, has_providers: web.has_providers }),
        access: context.access.clone(),
    }
}

fn quota(usage: Usage) -> Quota {
    Quota { used: wire_int(usage.used), limit: usage.limit.map(wire_int) }
}
