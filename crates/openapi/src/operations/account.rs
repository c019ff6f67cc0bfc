use api_types::{MeResponse, NoBody};
use model::Scope;

use crate::examples::{self, Example};
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// The caller's organization, credential and quotas.
    GetMe,
}

impl Operation for GetMe {
    type Path = ();
    type Query = ();
    type Body = NoBody;
    type Response = MeResponse;

    const ID: &'static str = "getMe";
    const ROUTE: &'static str = "GET /v1/me";
    const TAG: Tag = Tag::Account;
    const SCOPE: Option<Scope> = None;
    const SUMMARY: &'static str = "Organization and credential";
    const DESCRIPTION: &'static str = "\
Returns the organization, the credential of the request and the use of the quotas. Any valid credential may ask.";
    const LABEL: &'static str = "Account";
    const SUCCESS: &'static str = "Organization, credential and quotas.";
    const INVALID: InvalidRequest = InvalidRequest { field: "page", message: "unknown query parameter `page`" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::me::response()
    }
}
