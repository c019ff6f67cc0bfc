//! The pool with real workers, and with programs that misbehave in their place.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bytes::Bytes;
use extract::{ExtractErrorKind, ExtractRequest, FileKind};
use extract_worker::{Compartment, Input, Lane, Turn, WorkError, WorkerOptions, WorkerPool};
use model::OrganizationId;
use uuid::Uuid;

use crate::files::{docx, paragraph, pdf};

const WORKER: &str = env!("CARGO_BIN_EXE_extract-worker");

pub fn options() -> WorkerOptions {
    let mut options = WorkerOptions::new(PathBuf::from(WORKER), Vec::new());
    options.workers = 2;
    options
}

/// A pool whose workers run a shell script instead.
fn pool_of(script: &str) -> WorkerPool {
    let args: Vec<OsString> = vec!["-c".into(), script.into()];
    WorkerPool::new(WorkerOptions { args, program: "/bin/sh".into(), wall: Duration::from_secs(5), ..options() })
}

pub fn request(kind: FileKind) -> ExtractRequest {
    ExtractRequest::new(kind, format!("sample.{}", kind.as_str()))
}

pub fn text(content: &str) -> (ExtractRequest, Input) {
    (request(FileKind::Txt), Input::Bytes(Bytes::copy_from_slice(content.as_bytes())))
}

pub fn turn(compartment: &str, organization: u128, lane: Lane) -> Turn {
    let organization_id = OrganizationId(Uuid::from_u128(organization));
    Turn { organization_id, lane, compartment: Compartment::new(compartment), time_limit: None }
}

fn one() -> Turn {
    turn("one", 1, Lane::Pages)
}

pub fn kind(error: WorkError) -> ExtractErrorKind {
    match error {
        WorkError::Document(error) => error.kind,
        other => panic!("{other}"),
    }
}

async fn reason(pool: &WorkerPool, (request, input): (ExtractRequest, Input)) -> ExtractErrorKind {
    pool.extract(&one(), request, input).await.map_err(kind).expect_err("an error")
}

#[tokio::test]
async fn one_worker_reads_documents_in_turn() {
    let pool = WorkerPool::new(options());
    for round in 0..3 {
        let content = format!("Report {round}\n\nwith some words");
        let (request, input) = text(&content);
        let read = pool.extract(&one(), request, input).await.expect("a reading");
        assert_eq!(read.markdown, content);
        assert_eq!(read.title, Some(format!("Report {round}")));
    }
    assert_eq!(pool.idle_workers(), 1);
    let bytes = Input::Bytes(docx(&paragraph(None, "Words in a document")).into());
    let read = pool.extract(&one(), request(FileKind::Docx), bytes).await.expect("a reading");
    assert_eq!(read.markdown, "Words in a document\n");
    let read = pool.extract(&one(), request(FileKind::Pdf), Input::Bytes(pdf(&["Words on a page"]).into())).await;
    assert!(read.expect("a reading").markdown.contains("Words on a page"));
    pool.shutdown().await;
    let (request, input) = text("too late");
    let refused = pool.extract(&one(), request, input).await;
    assert!(matches!(refused, Err(WorkError::Unavailable(_))), "{refused:?}");
}

#[tokio::test]
async fn files_are_streamed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sample.txt");
    let content = "0123456789abcde\n".repeat(100_000);
    std::fs::write(&path, &content).expect("a file");
    let pool = WorkerPool::new(options());
    let read = pool.extract(&one(), request(FileKind::Txt), Input::File(path.clone())).await.expect("a reading");
    assert_eq!(read.markdown.len(), content.len());
    std::fs::remove_file(&path).expect("removed");
    let error = pool.extract(&one(), request(FileKind::Txt), Input::File(path)).await.expect_err("no file");
    assert!(matches!(error, WorkError::Unavailable(_)), "it says nothing about the document: {error}");
    assert!(error.to_string().contains("cannot be read"), "{error}");
    let (request, input) = text("and on");
    assert!(pool.extract(&one(), request, input).await.is_ok());
}

#[tokio::test]
async fn reader_errors_reach_the_caller() {
    let pool = WorkerPool::new(options());
    let png = Input::Bytes(Bytes::from_static(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"));
    assert_eq!(reason(&pool, (request(FileKind::Pdf), png)).await, ExtractErrorKind::WrongType);
    let scan = Input::Bytes(pdf(&[""]).into());
    assert_eq!(reason(&pool, (request(FileKind::Pdf), scan)).await, ExtractErrorKind::NeedsOcr);
}

#[tokio::test]
async fn too_much_text_is_too_large() {
    let pool = WorkerPool::new(WorkerOptions { max_output_bytes: 1000, ..options() });
    assert_eq!(reason(&pool, text(&"x".repeat(1001))).await, ExtractErrorKind::TooLarge);
    let (request, input) = text(&"x".repeat(1000));
    assert_eq!(pool.extract(&one(), request, input).await.expect("a reading").markdown.len(), 1000);
}

#[tokio::test]
async fn memory_is_bounded() {
    let pool = WorkerPool::new(WorkerOptions { memory_bytes: 400 << 20, ..options() });
    // Larger than the worker may be.
    let huge = Input::Bytes(Bytes::from(vec![b'x'; 420 << 20]));
    assert_eq!(reason(&pool, (request(FileKind::Txt), huge)).await, ExtractErrorKind::TooLarge);
    // It fits, but reading it takes several times its size.
    let large = Input::Bytes(Bytes::from("word ".repeat(24 << 20)));
    assert_eq!(reason(&pool, (request(FileKind::Txt), large)).await, ExtractErrorKind::OutOfMemory);
    let (request, input) = text("small again");
    assert_eq!(pool.extract(&one(), request, input).await.expect("a reading").markdown, "small again");
}

#[tokio::test]
async fn cpu_time_is_bounded_for_each_document() {
    let pool = WorkerPool::new(WorkerOptions { cpu_seconds: 1, memory_bytes: 4 << 30, ..options() });
    let slow = format!("<html><body>{}</body></html>", "<p>a <b>bold</b> word, <i>again</i></p>".repeat(180_000));
    let start = Instant::now();
    let input = Input::Bytes(Bytes::from(slow));
    assert_eq!(reason(&pool, (request(FileKind::Html), input)).await, ExtractErrorKind::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(40));
    let (request, input) = text("quick");
    assert!(pool.extract(&one(), request, input).await.is_ok());
}

#[tokio::test]
async fn hanging_worker_is_killed() {
    let pool = WorkerPool::new(WorkerOptions {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), "sleep 600".into()],
        wall: Duration::from_secs(1),
        ..options()
    });
    let start = Instant::now();
    assert_eq!(reason(&pool, text("x")).await, ExtractErrorKind::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(pool.idle_workers(), 0);
}

#[tokio::test]
async fn cause_of_a_workers_death_is_reported() {
    for (script, expected) in [
        ("kill -SEGV $$", ExtractErrorKind::Crashed),
        ("kill -XCPU $$", ExtractErrorKind::TimedOut),
        ("kill -KILL $$", ExtractErrorKind::OutOfMemory),
        ("echo 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$", ExtractErrorKind::OutOfMemory),
        ("kill -ABRT $$", ExtractErrorKind::Crashed),
        ("exit 3", ExtractErrorKind::Crashed),
    ] {
        assert_eq!(reason(&pool_of(script), text("x")).await, expected, "{script}");
    }
}

/// The system may refuse to start a process: that says nothing about the document.
#[tokio::test]
async fn missing_worker_is_no_failure_of_the_document() {
    let nowhere = WorkerPool::new(WorkerOptions { program: "/nonexistent/worker".into(), ..options() });
    let (request, input) = text("x");
    let outcome = nowhere.extract(&one(), request, input).await;
    assert!(matches!(outcome, Err(WorkError::Unavailable(_))), "{outcome:?}");
}

/// The pool's memory stays bounded and every answer is validated.
#[tokio::test]
async fn invalid_answers_are_rejected() {
    let frame = |header: &str, payload: &str| {
        let length = header.len().to_le_bytes();
        let octal: String = length[..4].iter().map(|byte| format!("\\{byte:03o}")).collect();
        format!("printf '{octal}%s{payload}' '{header}'; sleep 1")
    };
    let read = |bytes: u64| {
        format!(
            r#"{{"read":{{"extracted":{{"markdown":"","title":null,"author":null,"description":null,"language":null,"published_at":null,"canonical_link":null,"labels":[]}},"bytes":{bytes}}}}}"#
        )
    };
    for (what, script) in [
        ("endless output", "cat /dev/zero | tr '\\0' '\\377'".to_owned()),
        ("zeros", "cat /dev/zero".to_owned()),
        ("not JSON", frame("{nonsense", "")),
        ("a promise of 2^60 bytes", frame(&read(1 << 60), "")),
        ("less than promised", frame(&read(10), "abc").replace("sleep 1", "exit 0")),
        ("not UTF-8", frame(&read(3), "\\377\\376\\377")),
    ] {
        let pool = pool_of(&script);
        let error = pool.extract(&one(), text("x").0, text("x").1).await.expect_err(what);
        assert_eq!(kind(error), ExtractErrorKind::Crashed, "{what}");
        assert_eq!(pool.idle_workers(), 0, "{what}");
    }
    let honest = pool_of(&frame(&read(3), "abc"));
    assert_eq!(honest.extract(&one(), text("x").0, text("x").1).await.expect("an answer").markdown, "abc");
    let message = format!("a\\u0000b{}", "c".repeat(5_000));
    let failing = pool_of(&frame(&format!(r#"{{"failed":{{"kind":"wrong_type","message":"{message}"}}}}"#), ""));
    let error = failing.extract(&one(), text("x").0, text("x").1).await.expect_err("a failure");
    let WorkError::Document(error) = error else { panic!("{error}") };
    assert!(error.message.starts_with("a bc"), "{}", error.message);
    assert_eq!((error.kind, error.message.len()), (ExtractErrorKind::WrongType, 4_096));
}

#[tokio::test]
async fn worker_is_replaced_after_its_share_and_ended_when_idle() {
    let pool = WorkerPool::new(WorkerOptions { files_per_worker: 2, idle: Duration::from_millis(200), ..options() });
    let read = async || {
        let (request, input) = text("words");
        pool.extract(&one(), request, input).await.expect("a reading");
        pool.idle_workers()
    };
    assert_eq!((read().await, read().await, read().await), (1, 0, 1));
    let deadline = Instant::now() + Duration::from_secs(10);
    while pool.idle_workers() > 0 {
        assert!(Instant::now() < deadline, "the idle worker was not ended");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The script answers each document with the number of documents that its process has read.
#[tokio::test]
async fn compartments_share_no_process() {
    let header = r#"{"read":{"extracted":{"markdown":"","title":null,"author":null,"description":null,"language":null,"published_at":null,"canonical_link":null,"labels":[]},"bytes":1}}"#;
    let length: String = header.len().to_le_bytes()[..4].iter().map(|byte| format!("\\{byte:03o}")).collect();
    let script = format!("n=0; while read -r _; do n=$((n+1)); printf '{length}%s%s' '{header}' $n; done");
    let pool = pool_of(&script);
    let read = async |owner: &str| {
        let line = Input::Bytes(Bytes::from_static(b"x\n"));
        pool.extract(&turn(owner, 1, Lane::Pages), request(FileKind::Txt), line).await.expect("a reading").markdown
    };
    assert_eq!((read("one").await, read("one").await), ("1".to_owned(), "2".to_owned()));
    assert_eq!(read("two").await, "1", "a new process");
    assert_eq!(pool.idle_workers(), 2);
    assert_eq!(read("one").await, "3", "the process of its own compartment");
    assert_eq!(read("three").await, "1");
    assert_eq!(pool.idle_workers(), 2, "the longest idle worker ended");
    assert_eq!((read("one").await, read("two").await), ("4".to_owned(), "1".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_documents_share_few_workers() {
    let pool = WorkerPool::new(options());
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let (request, input) = text(&format!("number {number}"));
                pool.extract(&one(), request, input).await.expect("a reading").markdown
            })
        })
        .collect();
    for (number, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.expect("no panic"), format!("number {number}"));
    }
    assert!(pool.idle_workers() <= 2);
}

#[tokio::test]
async fn dropped_request_costs_only_its_worker() {
    let pool = WorkerPool::new(WorkerOptions { workers: 1, ..options() });
    let big = Input::Bytes(Bytes::from("word ".repeat(2 << 20)));
    let dropped =
        tokio::time::timeout(Duration::from_millis(1), pool.extract(&one(), request(FileKind::Txt), big)).await;
    assert!(dropped.is_err());
    let (request, input) = text("next");
    assert_eq!(pool.extract(&one(), request, input).await.expect("a reading").markdown, "next");
}

/// The worker cannot open files, make connections or start programs.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn jail_is_enforced_on_linux() {
    use std::io::Write;
    let mut child = std::process::Command::new(WORKER)
        .env_clear()
        .env("EXTRACT_WORKER_LIMITS", "1073741824 10 10 1000000")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("a worker");
    let status = format!("/proc/{}/status", child.id());
    let limits = format!("/proc/{}/limits", child.id());
    let deadline = Instant::now() + Duration::from_secs(10);
    let (status, limits) = loop {
        let held = std::fs::read_to_string(&status).unwrap_or_default();
        // Two filters: it has entered.
        if held.contains("Seccomp_filters:\t2") || Instant::now() > deadline {
            break (held, std::fs::read_to_string(&limits).unwrap_or_default());
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.contains("Seccomp:\t2"), "{status}");
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    let limit = |name: &str| limits.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(limit("Max address space").contains("1073741824"), "{limits}");
    assert!(limit("Max file size").contains(" 0 "), "{limits}");
    assert!(limit("Max open files").contains(" 16 "), "{limits}");
    child.stdin.take().expect("stdin").flush().expect("flushed");
    assert!(child.wait().expect("an end").success(), "ends with its input");
}

#[test]
fn worker_without_limits_refuses_to_run() {
    let output = std::process::Command::new(WORKER).env_clear().output().expect("a worker");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}
