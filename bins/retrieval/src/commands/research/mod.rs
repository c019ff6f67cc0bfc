//! `retrieval research`.

mod follow;
mod progress;
mod report;
mod request;

use retrieval_client::types::{ResearchListResponse, ResearchResponse, ResearchStatus};
use retrieval_client::{Answer, Client, ResearchListQuery};

use super::{print_warnings, search_scope};
use crate::api_values;
use crate::cli::{Common, Research};
use crate::connection;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::terminal::appearance::Appearance;
use crate::terminal::table::Table;
use crate::terminal::text::{fit, one_line};

/// Runs of a list.
const LISTED: usize = 20;
/// Maximum width of a question in a list.
const MAX_QUESTION: usize = 100;

pub async fn run(arguments: &Research, common: &Common, context: &Context) -> Result<(), Failure> {
    let client = &connection::client(common)?;
    let terminal = &context.terminal;
    if let Some(research_id) = &arguments.follow {
        return finish(&follow::wait_for(research_id, client, context).await?, terminal);
    }
    if let Some(research_id) = &arguments.cancel {
        let answer = client.cancel_research(research_id).await?;
        return acknowledge(&answer.raw, &format!("{} {research_id}", api_values::wire(&answer.run.status)), terminal);
    }
    if let Some(research_id) = &arguments.delete {
        let answer = client.delete_research(research_id).await?;
        return acknowledge(&answer.raw, &format!("deleted {research_id}"), terminal);
    }
    if arguments.list {
        return list(client, terminal).await;
    }
    let scope = search_scope(arguments.scope, &arguments.workspace_id, common)?;
    let request = request::of(arguments, scope)?;
    context.set_interrupt_message("interrupted; if the run has started, `retrieval research --list` shows it");
    let created = client.create_research(&request).await;
    let started = created.map_err(|error| Failure::of_creation(error, "retrieval research --list"))?;
    let research_id = started.run.research_id.to_string();
    if arguments.no_wait {
        terminal.note(&format!("for the report: retrieval research --follow {research_id}"));
        return acknowledge(&started.raw, &format!("started research {research_id}"), terminal);
    }
    finish(&follow::wait_for(&research_id, client, context).await?, terminal)
}

fn acknowledge(raw: &[u8], text: &str, terminal: &Terminal) -> Result<(), Failure> {
    if terminal.json { terminal.json(raw) } else { terminal.content(text) }
}

/// Prints a run that has ended.
fn finish(answer: &Answer<ResearchResponse>, terminal: &Terminal) -> Result<(), Failure> {
    let run = &answer.run;
    if terminal.json {
        terminal.json(&answer.raw)?;
    } else if let Some(output) = &run.output {
        terminal.content(&report::body(output))?;
        terminal.print(&report::sources(output, &terminal.appearance))?;
        if output.truncated {
            terminal.note("truncated: some findings do not fit (--max-chars)");
        }
    }
    print_warnings(&run.warnings, terminal);
    terminal.note(&format!("research {}  session {}", run.research_id, run.session_id));
    match (run.status, &run.error) {
        (ResearchStatus::Completed, _) => Ok(()),
        (_, Some(error)) => {
            Err(Failure::Partial(format!("research {} failed: {} ({})", run.research_id, error.message, error.code)))
        }
        (status, None) => {
            Err(Failure::Partial(format!("research {} ended: {}", run.research_id, api_values::wire(&status))))
        }
    }
}

async fn list(client: &Client, terminal: &Terminal) -> Result<(), Failure> {
    let query = ResearchListQuery { limit: Some(LISTED.to_string()), ..ResearchListQuery::default() };
    let answer = client.list_research(&query).await?;
    if terminal.json {
        return terminal.json(&answer.raw);
    }
    terminal.print(&render(&answer, &terminal.appearance))?;
    if answer.next_cursor.is_some() {
        terminal.note(&format!("only the latest {LISTED} runs"));
    }
    Ok(())
}

fn render(list: &ResearchListResponse, appearance: &Appearance) -> String {
    let mut table = Table::new(&["QUESTION", "ID", "STATUS", "CREATED"]);
    for run in &list.runs {
        let created = run.created_at.split('T').next().unwrap_or_default();
        table.row([
            fit(&one_line(&run.query), MAX_QUESTION),
            run.research_id.to_string(),
            api_values::wire(&run.status),
            created.to_owned(),
        ]);
    }
    table.render(appearance)
}
