//! Steps of the check: upload, index, search, read, isolation, delete.

use std::fmt::Display;

use retrieval_client::types::{DocumentRequest, IndexMode, RunState, SearchIndex, SearchRequest};
use retrieval_client::{Client, Error};
use settings::{IndexBackend, Settings};
use uuid::Uuid;

use super::tenants::{Tenant, Tenants};
use super::{ISOLATION, Problem, ROUND_TRIP};
use crate::commands::doctor::report::Finding;

const FILE: &str = "doctor-probe.txt";

/// Runs all steps.
pub async fn run(settings: &Settings, base: &str, tenants: &Tenants) -> Result<Vec<Finding>, Problem> {
    let owner = client(base, &tenants.owner)?;
    let rival = client(base, &tenants.rival)?;
    // A word that no document has.
    let word = format!("probe{}", Uuid::new_v4().simple());
    let text = format!("The word of this check is {word}. The moon moves the tides.\n");
    owner.upload_text(text, FILE).await.map_err(upload_failed)?;
    if settings.index.backend == IndexBackend::None {
        isolated_files(&rival).await?;
        delete(&owner).await?;
        return Ok(vec![
            Finding::pass(ROUND_TRIP, "uploaded and deleted a file; the index is disabled"),
            Finding::pass(ISOLATION, "another organization does not see the file"),
        ]);
    }
    index(&owner).await?;
    let doc_id = find(&owner, &word, &tenants.owner).await?;
    read(&owner, doc_id, &word).await?;
    let isolation = isolated(&rival, tenants, doc_id, &word).await;
    delete(&owner).await?;
    isolation?;
    Ok(vec![
        Finding::pass(ROUND_TRIP, "uploaded, indexed, found, read and deleted a document"),
        Finding::pass(ISOLATION, "another organization neither finds nor reads the document"),
    ])
}

/// Returns the problem of steps that take too long.
pub fn too_slow() -> Problem {
    let hint = "the run waits for an instance that works (`--role all` or `worker`), or the machine is overloaded: see /readyz";
    problem("index", "the steps did not end in time", hint)
}

fn client(base: &str, tenant: &Tenant) -> Result<Client, Problem> {
    let client =
        Client::builder().base_url(base).api_key(&tenant.key).client_name("retrieval-server-doctor").no_proxy().build();
    client.map_err(|error| problem("connect", error, "compare `server.public_url` with the address of the server"))
}

fn problem(step: &str, error: impl Display, hint: &str) -> Problem {
    Problem { check: ROUND_TRIP, detail: format!("{step}: {error}"), hint: hint.to_owned() }
}

fn upload_failed(error: Error) -> Problem {
    let hint = match error.api().map(|api| api.status) {
        Some(401) => "the server that answers uses another database than these settings",
        Some(507) => "free space on the disk of `data_dir`",
        _ => "upload URLs lead to `storage.public_endpoint`: clients must reach it, under the same name and port",
    };
    problem("upload", error, hint)
}

async fn index(owner: &Client) -> Result<(), Problem> {
    let hint = "see the log of the instance that works, and the check `index`";
    let failed = |error: Error| problem("index", error, hint);
    let run = owner.start_run(IndexMode::default()).await.map_err(failed)?;
    let ended = owner.follow_run(&run.sync_id.to_string(), |_| {}).await.map_err(failed)?;
    if ended.state != RunState::Completed || ended.stats.indexed != 1 {
        let detail = format!("the run ended as {:?} with {} indexed files", ended.state, ended.stats.indexed);
        return Err(problem("index", detail, hint));
    }
    Ok(())
}

fn query(word: &str, workspace: &Tenant) -> SearchRequest {
    let mut request = SearchRequest::new(word);
    request.scope.indexes = Some(vec![SearchIndex::Workspace]);
    request.scope.workspace_id = Some(workspace.id.to_string());
    request
}

async fn find(owner: &Client, word: &str, tenant: &Tenant) -> Result<Uuid, Problem> {
    let hint = "see the check `index`; `retrieval-server index rebuild` rebuilds it";
    let found = owner.search(&query(word, tenant)).await.map_err(|error| problem("search", error, hint))?;
    match found.results.iter().flatten().next() {
        Some(result) => Ok(result.doc_id),
        None => Err(problem("search", "the indexed document was not found", hint)),
    }
}

fn by_id(doc_id: Uuid) -> DocumentRequest {
    DocumentRequest { doc_id: Some(doc_id.to_string()), ..DocumentRequest::default() }
}

async fn read(owner: &Client, doc_id: Uuid, word: &str) -> Result<(), Problem> {
    let hint = "see the check `database`";
    let document = owner.read_document(&by_id(doc_id)).await.map_err(|error| problem("read", error, hint))?;
    match &document.content {
        Some(content) if content.text.contains(word) => Ok(()),
        _ => Err(problem("read", "the content is not what was uploaded", hint)),
    }
}

async fn delete(owner: &Client) -> Result<(), Problem> {
    let hint = "the account of the object store may lack the permission to delete";
    let deleted = owner.delete_file(FILE).await.map_err(|error| problem("delete", error, hint))?;
    if deleted.deleted { Ok(()) } else { Err(problem("delete", "the file was gone before", hint)) }
}

const LEAK: &str = "stop the service and report this: organizations may see each other's documents";

fn leak(detail: impl Into<String>) -> Problem {
    Problem { check: ISOLATION, detail: detail.into(), hint: LEAK.to_owned() }
}

/// Compares the answers to another organization with those about a document that does not exist.
async fn isolated(rival: &Client, tenants: &Tenants, doc_id: Uuid, word: &str) -> Result<(), Problem> {
    isolated_files(rival).await?;
    let failed = |error: Error| Problem { check: ISOLATION, detail: error.to_string(), hint: "check again".to_owned() };
    let found = rival.search(&query(word, &tenants.rival)).await.map_err(failed)?;
    if found.results.iter().flatten().next().is_some() {
        return Err(leak("another organization found the document"));
    }
    refused(rival.search(&query(word, &tenants.owner)).await, 400, "another organization searched the workspace")?;
    refused(rival.read_document(&by_id(doc_id)).await, 404, "another organization read the document")
}

async fn isolated_files(rival: &Client) -> Result<(), Problem> {
    refused(rival.get_file(FILE).await, 404, "another organization sees the file")
}

fn refused<T>(answer: Result<T, Error>, status: u16, leaked: &str) -> Result<(), Problem> {
    match answer {
        Err(error) if error.api().is_some_and(|api| api.status == status) => Ok(()),
        Err(error) => {
            Err(Problem { check: ISOLATION, detail: error.to_string(), hint: "see the log of the server".to_owned() })
        }
        Ok(_) => Err(leak(leaked)),
    }
}
