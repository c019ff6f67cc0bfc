//! `kill -9` during uploads loses no acknowledged object and leaves no partial one.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use blobs::{BlobStore, PresignPut};
use blobs_s3::{S3Options, S3Store, S3Timeouts};
use futures_util::future::join_all;
use s3_server::S3Server;
use time::OffsetDateTime;
use tokio::net::TcpListener;

use crate::server::{Server, connections, http_client, options, server_options};

const ROOT: &str = "BLOBS_S3_TEST_SERVER_ROOT";

/// Server process, not a test: the test program starts itself with the variable set.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the server that `acknowledged_objects_survive_kill_9` starts and kills"]
async fn server_process() {
    let Ok(root) = env::var(ROOT) else { return };
    let server = S3Server::open(server_options(Path::new(&root))).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("\nlistening on {}", listener.local_addr().unwrap());
    server.serve(listener, connections(1024), std::future::pending()).await;
}

fn start_process(root: &Path) -> (Child, String) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "killed::server_process"])
        .env(ROOT, root)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| line.unwrap().strip_prefix("listening on ").map(str::to_owned)).unwrap();
    // Drain the output so that it does not block the child.
    std::thread::spawn(move || lines.for_each(drop));
    (child, format!("http://{address}"))
}

/// Content that identifies its key, with a length unique to its version.
fn content(writer: usize, version: usize) -> Vec<u8> {
    format!("{writer}:{version};").into_bytes().repeat(500 * (version + 1))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_objects_survive_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let mut used_urls = Vec::new();
    // Last acknowledged version per writer.
    let acknowledged = Mutex::new([None::<usize>; 4]);
    let mut next_version = 0;
    for round in 0..3 {
        let (mut child, endpoint) = start_process(folder.path());
        let timeouts = S3Timeouts { attempts: 1, ..S3Timeouts::default() };
        let store = S3Store::new(S3Options { timeouts, ..options(&endpoint) }).unwrap();
        let key = format!("presigned-{round}");
        let request = PresignPut { key: &key, size: 1, expires_in: Duration::from_secs(900), nonce: "n" };
        let url = store.presign_put(&request, OffsetDateTime::now_utc()).unwrap();
        assert_eq!(http_client().put(&url).body("x").send().await.unwrap().status(), 200);
        used_urls.push(url);

        let first_version = next_version;
        let writers = (0..4).map(|writer| {
            let (store, acknowledged) = (&store, &acknowledged);
            async move {
                for version in first_version.. {
                    if store.put(&format!("k{writer}"), content(writer, version % 40).into()).await.is_err() {
                        return version;
                    }
                    acknowledged.lock().unwrap()[writer] = Some(version);
                }
                unreachable!("the server is killed before")
            }
        });
        let kill = async {
            // Kill only after every writer made progress.
            while acknowledged
                .lock()
                .unwrap()
                .iter()
                .any(|version| version.is_none_or(|version| version < first_version + 5))
            {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            child.kill().unwrap();
        };
        let (tried, ()) = tokio::join!(join_all(writers), kill);
        child.wait().unwrap();
        next_version = tried.into_iter().max().unwrap() + 1;
    }

    let server = Server::start(folder.path()).await;
    let store = server.store();
    for (writer, version) in acknowledged.into_inner().unwrap().into_iter().enumerate() {
        let version = version.unwrap();
        let (meta, body) = store.get(&format!("k{writer}"), u64::MAX).await.unwrap().unwrap();
        // The interrupted put may be committed although it was not acknowledged.
        let possible = [content(writer, version % 40), content(writer, (version + 1) % 40)];
        assert!(possible.iter().any(|content| *content == body), "writer {writer}: {} bytes", body.len());
        assert_eq!(meta.size, body.len() as u64);
    }
    for (round, url) in used_urls.iter().enumerate() {
        let found = store.get(&format!("presigned-{round}"), 1).await.unwrap();
        assert_eq!(found.unwrap().1, "x");
        // The signature covers the address, which has changed, so check that the journal contains the used one.
        let signature = url.rsplit('=').next().unwrap();
        let journal = std::fs::read_to_string(folder.path().join("journal")).unwrap();
        assert!(journal.contains(signature));
    }
    assert_eq!(std::fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0, "no partial file is left");
    server.stop().await;
}
