use std::time::{Duration, Instant};

use retrieval_client::types::ResearchResponse;
use retrieval_client::{Answer, Client, Error};

use super::progress::Progress;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::progress::research_spinner;

/// Seconds that the service waits for the end of a run before it responds.
const WAIT_SECONDS: u32 = 20;

/// Pause after a response that came without that wait.
const PAUSE: Duration = Duration::from_secs(1);

/// Waits for the end of a run and shows its progress.
pub async fn wait_for(
    research_id: &str,
    client: &Client,
    context: &Context,
) -> Result<Answer<ResearchResponse>, Failure> {
    context.set_interrupt_message(format!(
        "interrupted; the run continues: `retrieval research --follow {research_id}` waits for its report, \
         `retrieval research --cancel {research_id}` ends it"
    ));
    if context.terminal.shows_progress() {
        show_events(research_id, client, context).await?;
    }
    loop {
        let asked = Instant::now();
        let answer = client.get_research(research_id, WAIT_SECONDS).await?;
        if answer.run.status.is_terminal() {
            return Ok(answer);
        }
        // The service does not wait for further clients of an organization with many, nor while it stops.
        if asked.elapsed() < Duration::from_secs(u64::from(WAIT_SECONDS)) {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

async fn show_events(research_id: &str, client: &Client, context: &Context) -> Result<(), Failure> {
    let spinner = research_spinner(&context.terminal);
    let mut progress = Progress::default();
    let mut events = client.research_events(research_id, 0);
    let outcome = loop {
        match events.next_event().await {
            Ok(Some(event)) => {
                progress.add(&event);
                spinner.clone().with_elapsed(progress.elapsed());
                spinner.set_message(progress.line());
            }
            Ok(None) => break Ok(()),
            // Polling may still succeed, as when the service has no further stream for the organization.
            Err(error) if is_survivable(&error) => break Ok(()),
            Err(error) => break Err(error.into()),
        }
    };
    spinner.finish_and_clear();
    outcome
}

fn is_survivable(error: &Error) -> bool {
    error.is_transient() || matches!(error, Error::Malformed { .. } | Error::TooLarge { .. })
}
