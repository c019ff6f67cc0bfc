//! Objects on the local disk. Knows files, not HTTP; every call blocks and belongs on a blocking thread.
//!
//! ```text
//! root/lock               locked while a process uses this folder
//! root/journal            all objects (the source of truth), one line per change
//! root/incoming/{id}      content being uploaded
//! root/objects/{xx}/{id}  content, in 256 folders by the low byte of the id
//! ```
//!
//! A file is named by an id that is never reused. Keys exist only as text in the journal, so no key can refer to
//! another path, and `a` and `a/b` do not conflict.
//!
//! A put writes the content to `incoming`, appends its line to the journal, which commits it, and then moves the file
//! to its final path. A crash in between leaves either a file without a line, which the next start removes, or a line
//! whose file is still in `incoming`, which the next start moves. A move that fails, for example on
//! a full disk, leaves the same state: the object is read from `incoming` until then. A replaced object keeps its file
//! until the new line is written, so readers that opened it can read all of it.

mod copy;
mod files;
mod journal;
mod record;
mod signatures;
mod upload;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use time::OffsetDateTime;

pub use copy::{Copied, FolderCopy, ObjectInfo, Snapshot};
use files::Files;
use journal::Journal;
use record::Record;
pub(crate) use signatures::{Reservation, Signatures};
pub(crate) use upload::{PutError, PutOptions, Upload};

pub(crate) type ObjectId = u64;

/// Object without its key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Entry {
    pub id: ObjectId,
    /// Size in bytes.
    pub size: u64,
    /// MD5 of the content, the ETag in S3.
    pub md5: [u8; 16],
    /// Modification time in Unix milliseconds.
    pub modified_ms: i64,
}

/// Guarantee for acknowledged puts and deletes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// Survives the death of the process (`kill -9`, panic, out of memory). A power cut may lose the last seconds,
    /// because nothing is synced to disk.
    #[default]
    Process,
    /// Also survives a power cut: each put waits for the disk. Concurrent puts share a sync of the journal.
    Power,
}

/// Obsolete journal lines that are tolerated before a compaction.
const SPARE_RECORDS: usize = 4096;

pub(crate) struct Store {
    files: Files,
    durability: Durability,
    state: RwLock<State>,
    /// Number of journal lines of this process that are synced to disk (`Durability::Power`).
    synced: Mutex<u64>,
    pub signatures: Arc<Signatures>,
    /// Released by the system when the process ends for any reason.
    _lock: File,
}

struct State {
    objects: BTreeMap<Box<str>, Entry>,
    journal: Journal,
    next_id: ObjectId,
    /// Number of lines written by this process.
    written: u64,
    /// Number of journal lines below which compaction is not retried.
    compact_above: usize,
}

/// Page of a listing.
pub(crate) struct Listing {
    pub objects: Vec<(Box<str>, Entry)>,
    /// True if more objects follow.
    pub truncated: bool,
}

impl Store {
    /// Opens or creates the folder and recovers from a crash.
    ///
    /// # Errors
    /// `WouldBlock` if another process uses the folder, `InvalidData` for a journal of another version.
    pub fn open(root: PathBuf, durability: Durability) -> io::Result<Arc<Self>> {
        let files = Files::open(root)?;
        let lock = files.lock()?;
        let now = OffsetDateTime::now_utc().unix_timestamp();
        let signatures = Arc::new(Signatures::default());
        let mut objects = BTreeMap::new();
        let mut replaced = Vec::new();
        let mut next_id = 1;
        let (journal, replay) = Journal::open(&files.journal(), |record| match record {
            Record::Put { key, entry, used } => {
                next_id = next_id.max(entry.id + 1);
                if let Some(old) = objects.insert(key.into_boxed_str(), entry) {
                    replaced.push(old.id);
                }
                if let Some(used) = used {
                    signatures.remember(used, now);
                }
            }
            Record::Delete { key } => {
                if let Some(old) = objects.remove(key.as_str()) {
                    replaced.push(old.id);
                }
            }
            Record::Used(used) => signatures.remember(used, now),
            Record::NextId(id) => next_id = next_id.max(id),
        })?;
        if replay.damaged > 0 {
            tracing::warn!(lines = replay.damaged, "skipped damaged lines of the object store journal");
        }
        files.recover_incoming(|id| objects.values().any(|entry: &Entry| entry.id == id))?;
        files.remove_in_background(replaced);
        if durability == Durability::Power {
            files.sync_root()?;
        }
        let state = RwLock::new(State { objects, journal, next_id, written: 0, compact_above: 0 });
        let store = Self { files, durability, state, synced: Mutex::new(0), signatures, _lock: lock };
        store.compact_if_worthwhile(&mut store.write());
        Ok(Arc::new(store))
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        // Code under this lock does not panic.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn head(&self, key: &str) -> Option<Entry> {
        self.read().objects.get(key).copied()
    }

    /// Returns the object and its file, positioned at the start.
    pub fn open_object(&self, key: &str) -> io::Result<Option<(Entry, File)>> {
        loop {
            let Some(entry) = self.head(key) else { return Ok(None) };
            match self.files.open_object(entry.id) {
                Ok(file) => {
                    let size = file.metadata()?.len();
                    if size != entry.size {
                        let message = format!("object {:x} has {size} bytes, not {}", entry.id, entry.size);
                        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                    }
                    return Ok(Some((entry, file)));
                }
                // Replaced or deleted in the meantime: retry.
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.head(key) != Some(entry) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the objects whose key starts with `prefix` and is greater than `after`, in key order.
    pub fn list(&self, prefix: &str, after: Option<&str>, max: usize) -> Listing {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let state = self.read();
        let mut matching =
            state.objects.range::<str, _>((start, Bound::Unbounded)).take_while(|(key, _)| key.starts_with(prefix));
        let objects = matching.by_ref().take(max).map(|(key, entry)| (key.clone(), *entry)).collect();
        Listing { objects, truncated: max > 0 && matching.next().is_some() }
    }

    /// Deletes the object. Returns false if it does not exist.
    pub fn delete(&self, key: &str) -> io::Result<bool> {
        let (old, written) = {
            let mut state = self.write();
            let Some(old) = state.objects.get(key).copied() else { return Ok(false) };
            state.journal.write(&Record::Delete { key: key.to_owned() })?;
            state.written += 1;
            state.objects.remove(key);
            self.compact_if_worthwhile(&mut state);
            (old, state.written)
        };
        self.make_durable(written)?;
        self.files.remove_object(old.id);
        Ok(true)
    }

    /// Waits until the first `written` lines of the journal are on disk. Group commit: one sync covers all callers that
    /// are waiting.
    fn make_durable(&self, written: u64) -> io::Result<()> {
        if self.durability == Durability::Process {
            return Ok(());
        }
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if *synced >= written {
            return Ok(());
        }
        let (covered, handle) = {
            let state = self.read();
            (state.written, state.journal.handle()?)
        };
        handle.sync_data()?;
        *synced = covered;
        Ok(())
    }

    /// Returns the number of journal lines up to which a compaction would drop too few. Used URLs count, because their lines
    /// stay: with thousands of them every put would rewrite the journal.
    fn tolerated_records(&self, state: &State) -> usize {
        2 * (state.objects.len() + self.signatures.len()) + SPARE_RECORDS
    }

    /// Rewrites the journal when most of its lines are obsolete. A failure is logged and the old journal stays in use,
    /// because the current request is not the cause.
    fn compact_if_worthwhile(&self, state: &mut State) {
        if state.journal.records() <= self.tolerated_records(state).max(state.compact_above) {
            return;
        }
        let used = self.signatures.used(OffsetDateTime::now_utc().unix_timestamp());
        let State { objects, journal, next_id, compact_above, .. } = state;
        let puts = objects.iter().map(|(key, entry)| Record::Put { key: key.to_string(), entry: *entry, used: None });
        let records = [Record::NextId(*next_id)].into_iter().chain(used.into_iter().map(Record::Used)).chain(puts);
        let compacted = journal.compact(records).and_then(|()| match self.durability {
            Durability::Process => Ok(()),
            // Otherwise a power cut could bring the old journal back, without the records that follow.
            Durability::Power => self.files.sync_root(),
        });
        *compact_above = match compacted {
            Ok(()) => 0,
            Err(error) => {
                tracing::warn!(%error, "cannot compact the object store journal");
                2 * journal.records()
            }
        };
    }
}

#[cfg(test)]
mod tests;
