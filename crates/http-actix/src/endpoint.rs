//! Operations as HTTP endpoints.

use actix_web::{HttpRequest, HttpResponse, web};
use app::{Charge, Work};
use openapi::{Input, Operation, PathParameters, QueryParameters};

use crate::call::{Call, Context};
use crate::failure::Failure;
use crate::memory::Answer;
use crate::pipeline::{self, Route};
use crate::query::Query;
use crate::reply::Reply;
use crate::{body, metered, path};

/// An operation and its handler. The routes do not compile while an operation of the table lacks one.
pub(crate) trait Endpoint: Operation<Body: Send + 'static, Response: Send + 'static> {
    /// Kind of work for which requests that would wait too long are refused before their bodies are read. `None`: after that.
    const WORK: Option<Work> = None;

    /// Carries out an admitted request. The response need not state its length; see [`crate::metered`].
    async fn handle(context: &Context, input: Input<Self>) -> Result<Self::Response, Failure>;

    /// Carries out an admitted request whose response becomes a part of another answer. Returns its charge too, which the caller
    /// keeps once that answer is complete.
    async fn handle_charged(
        context: &Context,
        input: Input<Self>,
    ) -> Result<(Self::Response, Option<Charge>), Failure> {
        Ok((Self::handle(context, input).await?, None))
    }

    /// Carries out an admitted request and serializes the response, which states its length. To be overridden by
    /// handlers that serialize without building the response.
    async fn handle_to_json(context: &Context, input: Input<Self>) -> Result<Answer, Failure> {
        let body = metered::serialize(context, 0, Self::handle(context, input).await?).await?;
        context.hold(body).await
    }

    /// Answers an admitted request. To be overridden by handlers with headers of their own or another media type.
    async fn respond(call: &Call, input: Input<Self>) -> Result<Reply, Failure> {
        Reply::success::<Self>(Self::handle_to_json(&call.context, input).await?)
    }
}

/// Answers an HTTP request for the operation `O`.
pub(crate) async fn serve<O: Endpoint>(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    pipeline::answer(Route::Operation(O::SPEC), request, payload, run::<O>).await
}

async fn run<O: Endpoint>(mut call: Call) -> Result<Reply, Failure> {
    if let Some(work) = O::WORK
        && let Err(overloaded) = call.context.check_share(work)
    {
        body::discard_small(&call.request, call.payload).await;
        return Err(overloaded);
    }
    let input = read::<O>(&mut call).await?;
    O::respond(&call, input).await
}

/// Reads path, query and body, in this order.
async fn read<O: Endpoint>(call: &mut Call) -> Result<Input<O>, Failure> {
    let values = path::values(&call.request, O::PATH, O::Path::PARAMETERS)?;
    let path = O::Path::read(values).map_err(|invalid| Failure::invalid(invalid.field, invalid.message))?;
    let query = Query::parse(call.request.query_string())?;
    let query = O::Query::read(|name| query.get(name));
    let body = body::read(call).await?;
    Ok(Input { path, query, body })
}
