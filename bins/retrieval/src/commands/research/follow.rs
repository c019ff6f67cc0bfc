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

/// Maximum number of failed polls in a row that are repeated: they outlast the restart of a server.
const MAX_FAILURES: u32 = 6;

/// Waits for the end of a run and shows its progress.
///
/// # Errors
/// The error of the last of several failed polls in a row, with the id of the run, which continues.
pub async fn wait_for(
    research_id: &str,
    client: &Client,
    context: &Context,
) -> Result<Answer<ResearchResponse>, Failure> {
    context.set_interrupt_message(format!(
        "interrupted; the run continues: `retrieval research --follow {research_id}` waits for its report, \
         `retrieval research --cancel {research_id}` ends it"
    ));
    follow(research_id, client, context).await.map_err(|error| Failure::of_following(error, research_id))
}

async fn follow(research_id: &str, client: &Client, context: &Context) -> Result<Answer<ResearchResponse>, Error> {
    if context.terminal.shows_progress() {
        show_events(research_id, client, context).await?;
    }
    let mut failures = 0;
    loop {
        let asked = Instant::now();
        let answer = match client.get_research(research_id, WAIT_SECONDS).await {
            Ok(answer) => answer,
            Err(error) => {
                let pause = pause_after(failures).filter(|_| error.is_transient());
                let Some(pause) = pause else { return Err(error) };
                tokio::time::sleep(pause).await;
                failures += 1;
                continue;
            }
        };
        failures = 0;
        if answer.run.status.is_terminal() {
            return Ok(answer);
        }
        // The service does not wait for further clients of an organization with many, nor while it stops.
        if asked.elapsed() < Duration::from_secs(u64::from(WAIT_SECONDS)) {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Returns the pause before the next poll after `failures` and one more in a row, or `None` to give up. Doubles from 500 ms to 8 s.
fn pause_after(failures: u32) -> Option<Duration> {
    (failures < MAX_FAILURES).then(|| Duration::from_millis(500 << failures.min(4)))
}

async fn show_events(research_id: &str, client: &Client, context: &Context) -> Result<(), Error> {
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
            Err(error) => break Err(error),
        }
    };
    spinner.finish_and_clear();
    outcome
}

fn is_survivable(error: &Error) -> bool {
    error.is_transient() || matches!(error, Error::Malformed { .. } | Error::TooLarge { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_until_polls_end() {
        let pauses: Vec<_> = (0..8).map(|failures| pause_after(failures).map(|pause| pause.as_millis())).collect();
        assert_eq!(pauses, [Some(500), Some(1000), Some(2000), Some(4000), Some(8000), Some(8000), None, None]);
    }
}
