use api_types::timestamp::rfc3339;
use api_types::{KeyCreateRequest, KeyCreateResponse, KeyEntry, KeyListResponse, KeyRevokeResponse, KeyStatus};
use app::Work;
use app::api_keys::{KeyRequest, KeyView};
use app::clock::{from_date_time, to_date_time};
use model::{KeyState, Scope};
use openapi::parameters::ApiKeyId;
use openapi::{Input, operations};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;

impl Endpoint for operations::ListKeys {
    async fn handle(context: &Context, _: Input<Self>) -> Result<KeyListResponse, Failure> {
        let keys = context.run(Work::Small, |service, viewer| async move { service.list_keys(&viewer).await }).await?;
        Ok(KeyListResponse {
            schema: context.schema::<KeyListResponse>(),
            request_id: context.request_id,
            keys: keys.into_iter().map(entry).collect(),
        })
    }
}

impl Endpoint for operations::CreateKey {
    async fn handle(context: &Context, input: Input<Self>) -> Result<KeyCreateResponse, Failure> {
        let request = request(input.body)?;
        let created = context
            .run(Work::Small, |service, viewer| async move { service.create_key(&viewer, request).await })
            .await?;
        Ok(KeyCreateResponse {
            schema: context.schema::<KeyCreateResponse>(),
            request_id: context.request_id,
            key: created.key,
            entry: entry(created.view),
        })
    }
}

impl Endpoint for operations::RevokeKey {
    async fn handle(context: &Context, input: Input<Self>) -> Result<KeyRevokeResponse, Failure> {
        let ApiKeyId(key_id) = input.path;
        let revoked = context
            .run(Work::Small, |service, viewer| async move { service.revoke_key(&viewer, &key_id).await })
            .await?;
        Ok(KeyRevokeResponse {
            schema: context.schema::<KeyRevokeResponse>(),
            request_id: context.request_id,
            entry: entry(revoked),
        })
    }
}

fn request(body: KeyCreateRequest) -> Result<KeyRequest, Failure> {
    let scope = |(index, name): (usize, &String)| {
        name.parse::<Scope>().map_err(|error| {
            let field = format!("scopes[{index}]");
            let known: Vec<&str> = Scope::of_organizations().map(Scope::as_str).collect();
            Failure::invalid(field.clone(), format!("{field}: {error}; known are {}", known.join(", ")))
        })
    };
    let scopes = body.scopes.map(|names| names.iter().enumerate().map(scope).collect()).transpose()?;
    let too_large = |_| Failure::invalid("limit_rps", "limit_rps is too large");
    let invalid_time = |_| Failure::invalid("expires_at", "expires_at must be an RFC 3339 time");
    let expires_at =
        body.expires_at.map(|text| OffsetDateTime::parse(&text, &Rfc3339).map_err(invalid_time)).transpose()?;
    Ok(KeyRequest {
        name: body.name,
        scopes,
        limit_rps: body.limit_rps.map(|limit| u32::try_from(limit).map_err(too_large)).transpose()?,
        expires_at: expires_at.map(from_date_time),
    })
}

fn entry(view: KeyView) -> KeyEntry {
    let KeyView { row, state, limit_rps } = view;
    let time = |at| rfc3339(to_date_time(at));
    KeyEntry {
        api_key_id: row.id.0,
        name: row.name,
        key_prefix: row.prefix,
        scopes: row.scopes.iter().map(ToString::to_string).collect(),
        limit_rps: i64::from(limit_rps),
        status: match state {
            KeyState::Active => KeyStatus::Active,
            KeyState::Expired => KeyStatus::Expired,
            KeyState::Revoked => KeyStatus::Revoked,
        },
        created_at: time(row.created_at),
        expires_at: row.expires_at.map(time),
        revoked_at: row.revoked_at.map(time),
        last_used_at: row.last_used_at.map(time),
    }
}
