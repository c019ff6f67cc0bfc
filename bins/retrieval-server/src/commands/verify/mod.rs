//! `verify`: compares objects, database and index.

mod index;
mod objects;

use std::collections::{HashMap, HashSet};

use anyhow::{Context, bail};
use docstore::{Docstore, File};
use indicatif::ProgressBar;
use model::{DocId, FileOutcome, OrganizationId};
use serde_json::{Value, json};
use settings::Settings;

use self::objects::{Objects, State};
use crate::{data_folder, output};

/// Rows read at a time.
const PAGE: i64 = 1_000;

pub async fn run(settings: &Settings) -> anyhow::Result<()> {
    let store = data_folder::open_unchanged(settings).await?;
    let mut report = Report { problems: 0, progress: ProgressBar::new_spinner() };
    report.progress.set_message("checking the database");
    for damage in store.find_damage().await? {
        report.problem("database_damaged", json!({ "message": damage }));
    }
    check_documents(&store, &mut report).await?;
    let checked = check_files(&store, settings, &mut report).await?;
    report.progress.set_message("checking the indexes");
    let indexes = index::check(settings, &store, &mut report).await?;
    report.progress.finish_and_clear();
    output::json(&json!({
        "files": checked.files,
        "objects": checked.objects,
        "pending": checked.pending,
        "indexes": indexes,
        "problems": report.problems,
    }));
    output::note(&data_folder::described(settings));
    match report.problems {
        0 => Ok(()),
        problems => bail!("found {problems} problems"),
    }
}

/// Problems found so far.
struct Report {
    problems: u64,
    progress: ProgressBar,
}

impl Report {
    /// Prints a problem with the fields that locate it.
    fn problem(&mut self, kind: &str, mut fields: Value) {
        self.problems += 1;
        fields["problem"] = kind.into();
        self.progress.suspend(|| output::json(&fields));
    }
}

async fn check_documents(store: &Docstore, report: &mut Report) -> anyhow::Result<()> {
    for doc_id in store.list_documents_without_capture(i64::MAX).await? {
        report.problem("document_without_capture", json!({ "doc_id": doc_id.0 }));
    }
    let mut after = None;
    loop {
        let page = store.list_documents_without_file(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(*last);
        for doc_id in page {
            report.problem("document_without_file", json!({ "doc_id": doc_id.0 }));
        }
    }
}

struct Checked {
    files: u64,
    objects: u64,
    /// Objects that the next run will read.
    pending: u64,
}

async fn check_files(store: &Docstore, settings: &Settings, report: &mut Report) -> anyhow::Result<Checked> {
    let mut objects = Objects::open(settings).await.context("reading the object store")?;
    // Before the files: the row of an object is older than the object.
    let stored = objects.keys().await?;
    let mut documents: HashMap<OrganizationId, HashSet<DocId>> = HashMap::new();
    for organization in store.list_organizations().await? {
        let ids = store.list_workspace_documents(organization.id).await?;
        documents.insert(organization.id, ids.into_iter().collect());
    }
    let mut checked = Checked { files: 0, objects: 0, pending: 0 };
    let mut keys = HashSet::new();
    let mut after = None;
    loop {
        let page = store.list_all_files(after.take(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.object_key.clone());
        keys.extend(page.iter().map(|file| file.object_key.clone()));
        check_page(store, page, &mut objects, &documents, &mut checked, report).await?;
    }
    let left: Vec<String> = stored.into_iter().filter(|key| !keys.contains(key)).collect();
    if !left.is_empty() {
        objects.refresh().await?;
    }
    for key in left {
        // Otherwise deleted since the objects were listed.
        if objects.exists(&key).await? {
            report.problem("object_without_file", json!({ "object_key": key }));
        }
    }
    Ok(checked)
}

async fn check_page(
    store: &Docstore,
    page: Vec<File>,
    objects: &mut Objects,
    documents: &HashMap<OrganizationId, HashSet<DocId>>,
    checked: &mut Checked,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut unseen = Vec::new();
    for file in page {
        checked.files += 1;
        report.progress.set_message(format!("{} files", checked.files));
        if file.withdrawn_at.is_some() {
            continue;
        }
        let has_document = documents.get(&file.organization_id).is_some_and(|known| known.contains(&file.doc_id));
        match objects.state(&file).await? {
            State::Missing if has_document => unseen.push(file),
            state => check_file(&file, state, has_document, checked, report),
        }
    }
    if unseen.is_empty() {
        return Ok(());
    }
    // Replaced or uploaded since the reading.
    objects.refresh().await?;
    for file in unseen {
        match objects.state(&file).await? {
            State::Missing => {
                let now = store.find_file(file.organization_id, file.object_key.clone()).await?;
                // Otherwise deleted since the file was read.
                if now.is_some_and(|file| file.withdrawn_at.is_none()) {
                    report.problem("object_missing", place(&file, None));
                }
            }
            state => check_file(&file, state, true, checked, report),
        }
    }
    Ok(())
}

fn check_file(file: &File, state: State, has_document: bool, checked: &mut Checked, report: &mut Report) {
    checked.objects += u64::from(!matches!(state, State::Missing));
    match state {
        State::Damaged(message) => report.problem("object_damaged", place(file, Some(message))),
        State::Sound if !has_document && file.outcome == Some(FileOutcome::Indexed) => {
            report.problem("file_without_document", place(file, None));
        }
        State::Pending => checked.pending += 1,
        // Missing without a document: announced and not uploaded, or deleted in the store and noticed by a run.
        State::Missing | State::Sound => {}
    }
}

/// Returns the fields that locate a file.
fn place(file: &File, message: Option<String>) -> Value {
    json!({
        "organization_id": file.organization_id.0,
        "name": file.name,
        "object_key": file.object_key,
        "message": message,
    })
}
