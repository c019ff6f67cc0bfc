use api_types::{NoBody, UsageOverview};
use model::Scope;

use crate::examples::{self, Example};
use crate::parameters::UsageQuery;
use crate::{InvalidRequest, Operation, Tag};

group! {
    /// Requests, durations and charges in a time window.
    GetUsage,
}

impl Operation for GetUsage {
    type Path = ();
    type Query = UsageQuery;
    type Body = NoBody;
    type Response = UsageOverview;

    const ID: &'static str = "getUsage";
    const ROUTE: &'static str = "GET /v1/usage";
    const TAG: Tag = Tag::Usage;
    const SCOPE: Option<Scope> = Some(Scope::UsageRead);
    const SUMMARY: &'static str = "Usage overview";
    const DESCRIPTION: &'static str = "\
Returns requests, errors, durations and charges of the organization in a time window: in total, by endpoint, by key, \
by product, and as time series. Empty parameters count as omitted.";
    const LABEL: &'static str = "Usage";
    const SUCCESS: &'static str = "The overview.";
    const INVALID: InvalidRequest = InvalidRequest { field: "interval", message: "interval must be `hour` or `day`" };
    const RETRY_SAFE: bool = true;

    fn response_example() -> Example {
        examples::usage::response()
    }
}
