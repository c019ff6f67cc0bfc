use blobs::ObjectMeta;
use docstore::File;
use ingest::clock::{from_date_time, to_date_time};
use ingest::objects;
use model::{DocId, FileOutcome, FileStatus};
use retrieval_core::url;
use time::OffsetDateTime;

/// A stored file.
#[derive(Clone, Debug)]
pub struct FileView {
    pub name: String,
    pub size: u64,
    /// Time of the last upload in whole seconds, which is all that storage tells of a single object.
    pub last_modified: OffsetDateTime,
    pub doc_id: DocId,
    pub canonical_url: String,
    pub status: FileStatus,
    /// Reason of a failure: a code, a colon and a message.
    pub reason: Option<String>,
    /// Time of the last successful indexing, of an earlier upload if the file is pending.
    pub indexed_at: Option<OffsetDateTime>,
    pub labels: Vec<String>,
}

impl FileView {
    /// Describes a file and its object. `None` for the object of a deleted file.
    pub(super) fn of(file: File, object: ObjectMeta) -> Option<Self> {
        if objects::is_withdrawn(&file, &object) {
            return None;
        }
        let status = status(&file, &object);
        let indexed_at = file.processed_at.filter(|_| file.outcome == Some(FileOutcome::Indexed));
        Some(Self {
            labels: file.labels().to_vec(),
            canonical_url: url::workspace_url(file.organization_id, &file.name),
            name: file.name,
            size: object.size,
            last_modified: object.last_modified.replace_nanosecond(0).unwrap_or(object.last_modified),
            doc_id: file.doc_id,
            status,
            reason: file.reason.filter(|_| status != FileStatus::Pending),
            indexed_at: indexed_at.map(to_date_time),
        })
    }
}

/// Returns the state of a file. Like a run, it compares objects: the same content again is indexed already.
fn status(file: &File, object: &ObjectMeta) -> FileStatus {
    let Some(outcome) = file.outcome else { return FileStatus::Pending };
    let is_processed = match &file.processed_etag {
        Some(etag) => *etag == object.etag && file.processed_size == i64::try_from(object.size).ok(),
        // The object was damaged; only another one changes that.
        None => file.processed_at.is_some_and(|at| from_date_time(object.last_modified) <= at),
    };
    if is_processed { outcome.into() } else { FileStatus::Pending }
}
