//! `retrieval feedback`.

use retrieval_client::Client;
use retrieval_client::types::{AgentContext, FeedbackRequest};

use crate::cli::Feedback;
use crate::failure::Failure;
use crate::terminal::Terminal;

pub async fn run(arguments: Feedback, client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let Feedback { event, doc, passage, search, rank, query, comment, client_model } = arguments;
    let request = FeedbackRequest {
        agent_context: AgentContext { client_model },
        doc_id: doc,
        passage_id: passage,
        search_id: search,
        comment,
        query,
        rank,
        ..FeedbackRequest::new(event)
    };
    let answer = client.submit_feedback(&request).await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    terminal.print(&format!("stored as {}\n", answer.feedback_id))
}
