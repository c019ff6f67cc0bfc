//! Objects on the local disk. Knows files, not HTTP; every call blocks and belongs on a blocking thread.
//!
//! ```text
//! root/lock             held while a process serves this folder
//! root/journal          which objects there are (the source of truth), one line a change
//! root/incoming/{id}    contents on their way in
//! root/objects/{xx}/{id}  contents, in 256 folders by the low byte of the id
//! ```
//!
//! A file is named by an id that is never used twice, never by its key: a key is only text in the journal, so no key can
//! reach another place on the disk, and `a` and `a/b` do not meet. A put writes the whole content to `incoming`, then
//! appends its line to the journal, and with that it counts; then it moves the file to its place. A crash in between
//! leaves either a file that no line names (removed at the next start) or a line whose file is still in `incoming` (moved
//! at the next start). A replaced object keeps its own file until the new line is written, so whoever reads it goes on
//! reading it whole.

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

use files::Files;
use journal::Journal;
use record::Record;
pub(crate) use signatures::{Reservation, Signatures};
pub(crate) use upload::{PutError, PutOptions, Upload};

pub(crate) type ObjectId = u64;

/// One object, without its key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Entry {
    pub id: ObjectId,
    /// Bytes.
    pub size: u64,
    /// Of the content, as S3 gives it in the ETag.
    pub md5: [u8; 16],
    /// Unix milliseconds.
    pub modified_ms: i64,
}

/// How much an acknowledged put or delete survives.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// The death of the process (`kill -9`, a panic, running out of memory), but not always of the machine: the last
    /// seconds before a power cut may be lost. Nothing is synced to the disk.
    #[default]
    Process,
    /// A power cut too: each put waits for the disk (concurrent ones share a sync of the journal).
    Power,
}

/// Journal lines that are worth keeping although they say nothing any more.
const SPARE_RECORDS: usize = 4096;

pub(crate) struct Store {
    files: Files,
    durability: Durability,
    state: RwLock<State>,
    /// How many journal lines of this process are known to be on the disk (`Durability::Power`).
    synced: Mutex<u64>,
    pub signatures: Arc<Signatures>,
    /// Released by the system when the process ends, however it ends.
    _lock: File,
}

struct State {
    objects: BTreeMap<Box<str>, Entry>,
    journal: Journal,
    next_id: ObjectId,
    /// Lines written by this process.
    written: u64,
    /// Journal lines below which compaction is not tried (again).
    compact_above: usize,
}

/// A page of a listing.
pub(crate) struct Listing {
    pub objects: Vec<(Box<str>, Entry)>,
    /// There are more behind the last one.
    pub truncated: bool,
}

impl Store {
    /// Opens the folder, making it where it is missing, and puts right what a crash left.
    ///
    /// # Errors
    /// `WouldBlock` when another process serves the folder, `InvalidData` for a journal of another version.
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
            tracing::warn!(lines = replay.damaged, "skipped damaged lines of the object store's journal");
        }
        files.recover_incoming(|id| objects.values().any(|entry: &Entry| entry.id == id))?;
        files.remove_in_background(replaced);
        let state = RwLock::new(State { objects, journal, next_id, written: 0, compact_above: 0 });
        let store = Self { files, durability, state, synced: Mutex::new(0), signatures, _lock: lock };
        store.compact_if_worthwhile(&mut store.write());
        Ok(Arc::new(store))
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        // Nothing that panics runs under the lock.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn head(&self, key: &str) -> Option<Entry> {
        self.read().objects.get(key).copied()
    }

    /// The object and its content, positioned at the start.
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
                // Replaced or deleted since we looked: look again.
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.head(key) != Some(entry) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Objects whose key starts with `prefix` and lies behind `after`, in key order.
    pub fn list(&self, prefix: &str, after: Option<&str>, max: usize) -> Listing {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let state = self.read();
        let mut behind =
            state.objects.range::<str, _>((start, Bound::Unbounded)).take_while(|(key, _)| key.starts_with(prefix));
        let objects = behind.by_ref().take(max).map(|(key, entry)| (key.clone(), *entry)).collect();
        Listing { objects, truncated: max > 0 && behind.next().is_some() }
    }

    /// Removes the object; `false` when there is none.
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

    /// Waits until the first `written` lines of the journal are on the disk. Whoever comes while another waits for the
    /// disk finds the work done by the next sync: one sync serves all that wait.
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

    /// Rewrites the journal when most of its lines say nothing any more. That it cannot be rewritten is no reason to fail
    /// the request that happened to find out: the old one goes on.
    fn compact_if_worthwhile(&self, state: &mut State) {
        let worthwhile = (2 * state.objects.len() + SPARE_RECORDS).max(state.compact_above);
        if state.journal.records() <= worthwhile {
            return;
        }
        let used = self.signatures.used(OffsetDateTime::now_utc().unix_timestamp());
        let State { objects, journal, next_id, compact_above, .. } = state;
        let puts = objects.iter().map(|(key, entry)| Record::Put { key: key.to_string(), entry: *entry, used: None });
        let records = [Record::NextId(*next_id)].into_iter().chain(used.into_iter().map(Record::Used)).chain(puts);
        *compact_above = match journal.compact(records) {
            Ok(()) => 0,
            Err(error) => {
                tracing::warn!(%error, "cannot compact the object store's journal");
                2 * journal.records()
            }
        };
    }
}

#[cfg(test)]
mod tests;
