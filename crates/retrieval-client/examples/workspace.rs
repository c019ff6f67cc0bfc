//! Uploads files, indexes them, and searches them:
//! `RETRIEVAL_API_KEY=... cargo run -p retrieval-client --example workspace -- ORGANIZATION QUESTION FILE...`
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use retrieval_client::types::{IndexMode, SearchIndex, SearchRequest, SearchScope};
use retrieval_client::{Client, LocalFile, Uploaded};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "arguments: ORGANIZATION QUESTION FILE...";
    let (organization, question) = (arguments.next().ok_or(usage)?, arguments.next().ok_or(usage)?);
    let base_url = std::env::var("RETRIEVAL_BASE_URL").unwrap_or_else(|_| "http://127.0.0.1:8080".to_owned());
    let client = Client::builder().base_url(base_url).api_key(std::env::var("RETRIEVAL_API_KEY")?).build()?;

    let files: Vec<LocalFile> =
        arguments.map(|path| LocalFile { name: path.clone(), path: path.into(), labels: None }).collect();
    let mut failed = None;
    let finished = |_, result: Result<Uploaded, _>| match result {
        Ok(uploaded) => println!("uploaded {}", uploaded.name),
        Err(error) => failed = Some(error),
    };
    client.upload_files(&files, 4, |_, _| {}, finished).await;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let run = client.start_run(IndexMode::Incremental).await?;
    let status = client.follow_run(&run.sync_id, |status| println!("{:?}", status.state)).await?;
    println!("{} indexed, {} failed", status.stats.indexed, status.stats.failed);

    let mut request = SearchRequest::new(question);
    request.scope = SearchScope { indexes: Some(vec![SearchIndex::Workspace]), workspace_id: Some(organization) };
    for result in client.search(&request).await?.body.results.unwrap_or_default() {
        println!("{}. {}", result.rank, result.title.unwrap_or(result.canonical_url));
    }
    Ok(())
}
