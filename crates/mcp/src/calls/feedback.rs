use openapi::{Input, operations};
use serde_json::{Value, json};

use crate::answer::{Answer, Tail};
use crate::arguments::{self, Given};
use crate::backend::{Backend, Failure};

pub(super) async fn run<B: Backend>(arguments: Value, backend: &B) -> Result<Answer, Failure> {
    let Given { request, notes } = arguments::feedback(arguments)?;
    let response = backend.call(Input::<operations::SubmitFeedback>::of_body(request)).await?;
    let fields = json!({"accepted": response.accepted, "feedback_id": response.feedback_id});
    Answer::short(format!("Stored as {}.", response.feedback_id), &fields, &Tail::new(notes, &[]))
}
