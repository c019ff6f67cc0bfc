//! Uploads: from the first byte to the line in the journal.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use md5::{Digest, Md5};
use time::OffsetDateTime;

use super::files::remove;
use super::record::Record;
use super::{Durability, Entry, ObjectId, Reservation, Store};

/// Content being uploaded. Dropped without [`commit`](Upload::commit) it leaves nothing behind.
pub(crate) struct Upload {
    store: Arc<Store>,
    id: ObjectId,
    file: File,
    size: u64,
    md5: Md5,
    /// File to remove on drop; `None` once the journal contains it.
    unfinished: Option<PathBuf>,
}

/// Reason for not storing a complete upload.
#[derive(Debug)]
pub(crate) enum PutError {
    /// The object exists and the put must not replace it.
    Exists,
    /// The content does not match the digest of the client.
    Digest,
    Io(io::Error),
}

impl From<io::Error> for PutError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Options of a put.
#[derive(Debug, Default)]
pub(crate) struct PutOptions {
    /// Do not replace an existing object (`If-None-Match: *`).
    pub only_if_absent: bool,
    /// Expected MD5 of the content (`Content-MD5`).
    pub md5: Option<[u8; 16]>,
    /// Presigned URL that this put uses up.
    pub reservation: Option<Reservation>,
}

impl Upload {
    pub fn begin(store: &Arc<Store>) -> io::Result<Self> {
        let id = {
            let mut state = store.write();
            state.next_id += 1;
            state.next_id - 1
        };
        let path = store.files.incoming(id);
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok(Self { store: Arc::clone(store), id, file, size: 0, md5: Md5::new(), unfinished: Some(path) })
    }

    pub fn write(&mut self, slice: &[u8]) -> io::Result<()> {
        self.md5.update(slice);
        self.file.write_all(slice)?;
        self.size += slice.len() as u64;
        Ok(())
    }

    /// Commits the content as the object at `key`. Afterwards the object is visible to all readers and has the
    /// [`Durability`] of the store.
    pub fn commit(mut self, key: &str, options: PutOptions) -> Result<Entry, PutError> {
        let store = Arc::clone(&self.store);
        let md5: [u8; 16] = std::mem::take(&mut self.md5).finalize().into();
        if options.md5.is_some_and(|expected| expected != md5) {
            return Err(PutError::Digest);
        }
        if store.durability == Durability::Power {
            self.file.sync_data()?;
            store.files.sync_incoming()?;
        }
        let now = OffsetDateTime::now_utc();
        let modified_ms = now.unix_timestamp() * 1000 + i64::from(now.millisecond());
        let entry = Entry { id: self.id, size: self.size, md5, modified_ms };
        let (replaced, written) = {
            let mut state = store.write();
            if options.only_if_absent && state.objects.contains_key(key) {
                return Err(PutError::Exists);
            }
            let used = options.reservation.as_ref().map(|reservation| reservation.signature().clone());
            state.journal.write(&Record::Put { key: key.to_owned(), entry, used })?;
            state.written += 1;
            self.unfinished = None;
            let replaced = state.objects.insert(key.into(), entry);
            if let Some(reservation) = options.reservation {
                reservation.consume();
            }
            // Under the lock, so that readers do not look for the file before it is moved. The put is in the journal, so a
            // failure to move the file no longer makes it fail.
            store.files.publish(self.id);
            store.compact_if_worthwhile(&mut state);
            (replaced, state.written)
        };
        store.make_durable(written)?;
        if let Some(replaced) = replaced {
            store.files.remove_object(replaced.id);
        }
        Ok(entry)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(path) = self.unfinished.take() {
            remove(&path);
        }
    }
}
