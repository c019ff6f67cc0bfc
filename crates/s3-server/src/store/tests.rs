#![expect(clippy::unwrap_used, reason = "a test")]

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use s3s::dto::{HeadObjectInput, ListObjectsV2Input, PutObjectInput, StreamingBlob};
use s3s::{S3, S3Request};

use super::*;
use crate::operations::Operations;

fn open(root: &Path) -> Arc<Store> {
    Store::open(root.to_owned(), Durability::Process).unwrap()
}

fn put(store: &Arc<Store>, key: &str, body: &str) -> Entry {
    let mut upload = Upload::begin(store).unwrap();
    upload.write(body.as_bytes()).unwrap();
    upload.commit(key, PutOptions::default()).unwrap()
}

fn body(store: &Store, key: &str) -> Option<String> {
    let (_, mut file) = store.open_object(key).unwrap()?;
    let mut body = String::new();
    file.read_to_string(&mut body).unwrap();
    Some(body)
}

/// Counts the files below `incoming` and `objects`.
fn files(root: &Path) -> usize {
    let folders = std::fs::read_dir(root.join("objects")).unwrap().map(|entry| entry.unwrap().path());
    folders.chain([root.join("incoming")]).map(|folder| std::fs::read_dir(folder).unwrap().count()).sum()
}

/// Polls until `holds` returns true: leftover files are removed in the background after the start.
fn eventually(holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "condition not met after 10 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn objects_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    put(&store, "a", "first");
    let replaced = put(&store, "a", "second");
    put(&store, "a/b", "beside");
    put(&store, "gone", "x");
    assert!(store.delete("gone").unwrap());
    assert!(!store.delete("gone").unwrap());
    drop(store);

    let store = open(folder.path());
    assert_eq!(store.head("a"), Some(replaced));
    assert_eq!(body(&store, "a").as_deref(), Some("second"));
    assert_eq!(body(&store, "a/b").as_deref(), Some("beside"));
    assert_eq!(body(&store, "gone"), None);
    assert_eq!(files(folder.path()), 2);
    put(&store, "new", "after the restart");
    assert_eq!(body(&store, "a").as_deref(), Some("second"), "ids are not reused");
}

#[test]
fn a_put_missing_in_the_journal_is_removed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut upload = Upload::begin(&store).unwrap();
    upload.write(b"half").unwrap();
    // A killed process runs no destructor.
    std::mem::forget(upload);
    assert_eq!(files(folder.path()), 1);
    copy_as_after_a_crash(folder.path(), |crashed| {
        let store = open(crashed);
        assert_eq!(files(crashed), 0);
        assert_eq!(store.list("", None, 10).objects.len(), 0);
    });
}

#[test]
fn a_put_in_the_journal_is_completed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let old = put(&store, "k", "old");
    let new = put(&store, "k", "new content");
    copy_as_after_a_crash(folder.path(), |crashed| {
        // State right after the line was written: the file is not yet moved, the old one not yet removed.
        let files_of = Files::open(crashed.to_owned()).unwrap();
        std::fs::rename(
            crashed.join(format!("objects/{:02x}/{:016x}", new.id & 0xff, new.id)),
            files_of.incoming(new.id),
        )
        .unwrap();
        std::fs::write(crashed.join(format!("objects/{:02x}/{:016x}", old.id & 0xff, old.id)), "old").unwrap();
        let store = open(crashed);
        assert_eq!(body(&store, "k").as_deref(), Some("new content"));
        eventually(|| files(crashed) == 1);
    });
}

/// Makes moves of the first object fail, as on a disk without room for another folder: a link to nowhere can be neither
/// entered nor replaced by a folder.
fn block_first_object(root: &Path) -> PathBuf {
    let folder = root.join("objects/01");
    std::os::unix::fs::symlink("nowhere", &folder).unwrap();
    folder
}

#[test]
fn a_put_whose_file_cannot_be_moved_succeeds() {
    for durability in [Durability::Process, Durability::Power] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned(), durability).unwrap();
        let blocked = block_first_object(folder.path());
        let entry = put(&store, "k", "content");
        assert_eq!((entry.id, body(&store, "k").as_deref()), (1, Some("content")));
        assert_eq!(*store.synced.lock().unwrap(), u64::from(durability == Durability::Power), "{durability:?}");
        drop(store);
        assert_eq!(body(&open(folder.path()), "k").as_deref(), Some("content"), "while moves still fail");

        std::fs::remove_file(blocked).unwrap();
        assert_eq!(body(&open(folder.path()), "k").as_deref(), Some("content"));
        assert_eq!(files(folder.path()), 1);
        assert!(folder.path().join(files::object_path(1)).exists(), "moved by the start");
    }
}

#[test]
fn a_file_that_could_not_be_moved_is_removed_with_its_object() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let blocked = block_first_object(folder.path());
    put(&store, "k", "content");
    store.delete("k").unwrap();
    std::fs::remove_file(blocked).unwrap();
    assert_eq!(files(folder.path()), 0);
}

fn operations(store: &Arc<Store>) -> Operations {
    Operations {
        store: Arc::clone(store),
        bucket: "b".to_owned(),
        max_object_bytes: 1 << 30,
        is_full: Arc::new(|| false),
    }
}

fn request<T>(input: T) -> S3Request<T> {
    S3Request {
        input,
        method: http::Method::GET,
        uri: http::Uri::from_static("/b/k"),
        headers: http::HeaderMap::new(),
        extensions: http::Extensions::new(),
        credentials: None,
        region: None,
        service: None,
        trailing_headers: None,
    }
}

/// Chunk of an upload, with the buffer that it was read into.
struct Chunk {
    bytes: Vec<u8>,
    _buffer: Arc<()>,
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[test]
fn an_upload_in_small_chunks_keeps_none_of_their_buffers() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let sizes = [1; 1_000].into_iter().chain([0, 700_000, 1, 700_000, 1 << 20, 3]);
    let chunks: Vec<Vec<u8>> = sizes.enumerate().map(|(number, size)| vec![number as u8; size]).collect();
    let content = chunks.concat();
    let buffer = Arc::new(());
    let kept = Arc::downgrade(&buffer);
    let body = stream::iter(chunks).map(move |bytes| {
        assert_eq!(Arc::strong_count(&buffer), 1, "the chunks before this one are gone");
        Ok::<_, io::Error>(Bytes::from_owner(Chunk { bytes, _buffer: Arc::clone(&buffer) }))
    });
    let input = PutObjectInput {
        bucket: "b".to_owned(),
        key: "k".to_owned(),
        content_length: i64::try_from(content.len()).ok(),
        body: Some(StreamingBlob::wrap(body)),
        ..PutObjectInput::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(operations(&store).put_object(request(input))).unwrap();
    assert_eq!(kept.strong_count(), 0);
    let (entry, mut file) = store.open_object("k").unwrap().unwrap();
    let mut stored = Vec::new();
    file.read_to_end(&mut stored).unwrap();
    assert_eq!(entry.size, content.len() as u64);
    assert!(stored == content, "the same bytes");
}

/// A compaction holds the lock while it waits for the disk.
#[test]
fn requests_that_wait_for_the_lock_delay_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    put(&store, "k", "content");
    let operations = operations(&store);
    let (lock, locked) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        let _held = store.write();
        lock.send(()).unwrap();
        // A request that blocks this test waits until the end of this time.
        released.recv_timeout(Duration::from_secs(5)).is_ok()
    });
    locked.recv().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let head = HeadObjectInput { bucket: "b".to_owned(), key: "k".to_owned(), ..HeadObjectInput::default() };
        let list = ListObjectsV2Input { bucket: "b".to_owned(), ..ListObjectsV2Input::default() };
        let mut head = operations.head_object(request(head));
        let mut list = operations.list_objects_v2(request(list));
        tokio::select! {
            biased;
            _ = &mut head => panic!("the lock is held"),
            _ = &mut list => panic!("the lock is held"),
            () = tokio::task::yield_now() => {}
        }
        release.send(()).unwrap();
        assert_eq!(head.await.unwrap().output.content_length, Some(7));
        assert_eq!(list.await.unwrap().output.key_count, Some(1));
    });
    assert!(writer.join().unwrap(), "both requests were waiting before the lock was released");
}

/// Copies the folder to the state another process finds after this one was killed. The lock is not part of it.
fn copy_as_after_a_crash(root: &Path, check: impl FnOnce(&Path)) {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &target);
            } else {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let copied = tempfile::tempdir().unwrap();
    copy(root, copied.path());
    check(copied.path());
}

#[test]
fn two_processes_cannot_serve_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let refused = Store::open(folder.path().to_owned(), Durability::Process).err().unwrap();
    assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
    drop(store);
    open(folder.path());
}

#[test]
fn used_signatures_and_ids_survive_compaction_and_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let reservation = store.signatures.reserve("signature".to_owned(), now + 900, now);
    let upload = Upload::begin(&store).unwrap();
    upload.commit("k", PutOptions { reservation, ..PutOptions::default() }).unwrap();
    for _ in 0..SPARE_RECORDS + 2 {
        put(&store, "churn", "x");
    }
    let last = put(&store, "churn", "x");
    store.delete("churn").unwrap();
    assert!(store.read().journal.records() < SPARE_RECORDS, "compacted in the meantime");
    for _ in 0..2 {
        copy_as_after_a_crash(folder.path(), |copied| {
            let store = open(copied);
            assert!(store.signatures.reserve("signature".to_owned(), now + 900, now).is_none());
            assert!(put(&store, "next", "x").id > last.id);
        });
        // Again with a journal that was compacted after the highest id was deleted.
        compact(&store);
    }
}

/// Fills the journal with obsolete lines until it is compacted.
fn compact(store: &Store) {
    let mut state = store.write();
    while state.journal.records() <= store.tolerated_records(&state) {
        state.journal.write(&Record::Delete { key: "never".to_owned() }).unwrap();
    }
    store.compact_if_worthwhile(&mut state);
}

#[test]
fn many_used_urls_do_not_rewrite_the_journal_at_every_put() {
    const USED: usize = 4_200;
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let now = OffsetDateTime::now_utc().unix_timestamp();
    for number in 0..USED {
        let reservation = store.signatures.reserve(number.to_string(), now + 900, now);
        let upload = Upload::begin(&store).unwrap();
        upload.commit("k", PutOptions { reservation, ..PutOptions::default() }).unwrap();
    }
    compact(&store);
    let compacted = store.read().journal.records();
    assert_eq!(compacted, 1 + USED + 1, "the next id, the used URLs and the object");
    let inode = || std::fs::metadata(folder.path().join("journal")).unwrap().ino();
    let before = inode();
    put(&store, "k", "x");
    assert_eq!((store.read().journal.records(), inode()), (compacted + 1, before));
}

#[test]
fn a_put_with_a_failed_condition_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    put(&store, "k", "kept");
    let absent = PutOptions { only_if_absent: true, ..PutOptions::default() };
    assert!(matches!(Upload::begin(&store).unwrap().commit("k", absent), Err(PutError::Exists)));
    let digest = PutOptions { md5: Some([0; 16]), ..PutOptions::default() };
    assert!(matches!(Upload::begin(&store).unwrap().commit("k", digest), Err(PutError::Digest)));
    assert_eq!(body(&store, "k").as_deref(), Some("kept"));
    assert_eq!(files(folder.path()), 1);
}

#[test]
fn a_reader_keeps_the_object_it_opened() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    put(&store, "k", "before");
    let (_, mut file) = store.open_object("k").unwrap().unwrap();
    put(&store, "k", "after");
    store.delete("k").unwrap();
    let mut read = String::new();
    file.read_to_string(&mut read).unwrap();
    assert_eq!(read, "before");
}

#[test]
fn synced_puts_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_owned(), Durability::Power).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..5 {
                    put(store, &format!("{writer}/{number}"), "x");
                }
            });
        }
    });
    assert_eq!(*store.synced.lock().unwrap(), 20);
    drop(store);
    assert_eq!(open(folder.path()).list("", None, 100).objects.len(), 20);
}

#[test]
fn objects_of_a_running_store_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    put(&store, "a", "first");
    let kept = put(&store, "a", "second");
    put(&store, "b", "beside");
    put(&store, "c", "not copied");
    let snapshot = Snapshot::read(folder.path()).unwrap();
    assert_eq!(snapshot.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    let info = snapshot.get("a").unwrap();
    assert_eq!((info.size, info.etag, info.modified_ms), (6, hex::encode(kept.md5), kept.modified_ms));
    store.delete("b").unwrap();
    put(&store, "new", "later");

    let copies = tempfile::tempdir().unwrap();
    let root = copies.path().join("copy");
    let mut copy = FolderCopy::create(root.clone()).unwrap();
    let mut observed = Vec::new();
    let copied = copy.add(&snapshot, "a", &mut |bytes| observed.extend_from_slice(bytes)).unwrap().unwrap();
    assert_eq!((observed.as_slice(), copied.size), (&b"second"[..], 6));
    for gone in ["b", "new"] {
        assert_eq!(copy.add(&snapshot, gone, &mut |_| ()).unwrap(), None, "{gone}");
    }
    std::fs::write(folder.path().join(files::object_path(4)), "not copieD").unwrap();
    let damaged = copy.add(&snapshot, "c", &mut |_| ()).unwrap_err();
    assert_eq!(damaged.kind(), io::ErrorKind::InvalidData, "{damaged}");
    copy.finish().unwrap();

    let restored = open(&root);
    assert_eq!(restored.head("a"), Some(kept));
    assert_eq!(body(&restored, "a").as_deref(), Some("second"));
    assert_eq!(restored.list("", None, 10).objects.len(), 1);
    put(&restored, "d", "after the restore");
    assert_eq!(body(&restored, "a").as_deref(), Some("second"), "ids are not reused");
}

/// A sink on a disk that cannot be written.
struct BrokenSink;

impl std::io::Write for BrokenSink {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(5))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn object_that_the_disk_cannot_read_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let entry = put(&store, "files/k", "content");
    let snapshot = Snapshot::read(folder.path()).unwrap();
    let of_sink = snapshot.copy("files/k", &mut BrokenSink).unwrap_err();
    assert_eq!(of_sink.raw_os_error(), Some(5), "not a damage of the object");

    let path = folder.path().join(files::object_path(entry.id));
    std::fs::remove_file(&path).unwrap();
    // The kernel answers a read of the first page of a process, which is never mapped, as a disk with a bad sector.
    #[cfg(target_os = "linux")]
    {
        std::os::unix::fs::symlink("/proc/self/mem", &path).unwrap();
        let damaged = snapshot.copy("files/k", &mut io::sink()).unwrap_err();
        assert_eq!(damaged.kind(), io::ErrorKind::InvalidData, "{damaged}");
        assert!(damaged.to_string().contains("`files/k`"), "{damaged}");
        std::fs::remove_file(&path).unwrap();
    }
    // Other failures are not of one object.
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let looped = snapshot.copy("files/k", &mut io::sink()).unwrap_err();
    assert!(looped.raw_os_error().is_some_and(|number| number != 5), "{looped}");
}

/// `cargo nextest run -p s3-server --run-ignored only --no-capture measure`
#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stdout, reason = "prints the measurement")]
fn measure_opening_100_000_objects() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let mut journal = std::fs::read_to_string(folder.path().join("journal")).unwrap();
    for id in 1..=100_000 {
        let entry = Entry { id, size: 4096, md5: [7; 16], modified_ms: 1_700_000_000_000 };
        Record::Put { key: format!("{:032x}/{:032x}", id % 100, id), entry, used: None }.write(&mut journal);
    }
    std::fs::write(folder.path().join("journal"), journal).unwrap();
    let started = Instant::now();
    let store = open(folder.path());
    let opened = started.elapsed();
    let started = Instant::now();
    let page = store.list("", Some(&format!("{:032x}/{:032x}", 50, 50)), 1000);
    assert_eq!((page.objects.len(), page.truncated), (1000, true));
    println!("opened in {opened:?}, a page of 1,000 in {:?}", started.elapsed());
}
