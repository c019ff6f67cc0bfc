//! Pages read on demand: refusals, callers that leave, slow sites.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use admission::Compute;
use docstore::NewPageRead;
use extract::{ExtractError, ExtractErrorKind};
use extract_worker::{Extractor, InProcess, WorkError};
use fetcher::{Fetcher, FetcherOptions, Politeness};
use ingest::pages::{PageRequest, UnreadableReason};
use ingest::prepare::{self, Content, Extent, Source};
use ingest::{PageError, PageReader, PageReaderOptions, Scripted};
use model::{Clock, Collection, DocId, OrganizationId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::faulty::Gate;
use crate::slow::SlowExtractor;
use crate::world::World;

/// Time within which an answer comes that waits for nothing.
const SOON: Duration = Duration::from_secs(10);
/// Limit of waits for long work of slow builds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Length of a text that is prepared in the background, in bytes.
const LONG: usize = 600_000;

/// Site with a text at every path; those below `/never` are never answered, those below `/long` have [`LONG`] bytes, and those
/// below `/status` the status in their path.
async fn site(address: &str) -> (String, mpsc::UnboundedReceiver<()>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let (requested, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let requested = requested.clone();
            tokio::spawn(async move {
                let mut head = vec![0; 4096];
                let read = stream.read(&mut head).await.unwrap_or_default();
                let _ = requested.send(());
                if head[..read].starts_with(b"GET /never") {
                    std::future::pending::<()>().await;
                }
                let times = if head[..read].starts_with(b"GET /long") { LONG / 10 } else { 1 };
                let text = "some text ".repeat(times);
                let asked = head[..read].strip_prefix(b"GET /status/");
                let status = asked.map_or("200".into(), |path| String::from_utf8_lossy(&path[..3]));
                let fields = "Content-Type: text/plain\r\nConnection: close";
                let length = text.len();
                let answer = format!("HTTP/1.1 {status} X\r\n{fields}\r\nContent-Length: {length}\r\n\r\n{text}");
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    (format!("http://{address}"), requests)
}

fn reader(world: &World, extractor: Arc<dyn Extractor>) -> Arc<PageReader> {
    reader_with(world, extractor, Scripted::default())
}

pub fn reader_with(world: &World, extractor: Arc<dyn Extractor>, scripted: Scripted) -> Arc<PageReader> {
    reader_on_disk(world, extractor, scripted, false)
}

fn reader_on_disk(world: &World, extractor: Arc<dyn Extractor>, scripted: Scripted, is_full: bool) -> Arc<PageReader> {
    let fetcher = Fetcher::new(FetcherOptions {
        respect_robots: false,
        allow_networks: vec!["127.0.0.0/8".parse().unwrap()],
        max_concurrent: 12,
        politeness: Politeness { concurrent: 4, delay: Duration::ZERO, ..Politeness::default() },
        ..FetcherOptions::new("test", "1.0", None)
    });
    let options = PageReaderOptions {
        clock: Arc::clone(&world.clock) as Arc<dyn Clock>,
        compute: Compute::interactive(1),
        long_compute: Compute::background(1),
        is_full: Arc::new(move || is_full),
        scripted,
        extract_timeout: Duration::from_secs(60),
        failure_ttl: Duration::from_secs(60),
    };
    Arc::new(PageReader::new(world.store.clone(), fetcher.unwrap(), extractor, options))
}

pub fn request(organization_id: OrganizationId, url: String) -> PageRequest {
    let doc_id = DocId(retrieval_core::url::document_id(&url).0);
    PageRequest { organization_id, doc_id, canonical_url: url, given_url: None, seen: None, retries: false }
}

fn start(reader: &Arc<PageReader>, request: PageRequest) -> JoinHandle<Result<(), PageError>> {
    let reader = Arc::clone(reader);
    tokio::spawn(async move { reader.read(request).await })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusal_is_no_failure_of_the_page() {
    let world = World::new().await;
    let (extractor, _begun, _ended) = SlowExtractor::new();
    let extractor = Arc::new(extractor);
    let reader = reader(&world, Arc::clone(&extractor) as _);
    let (base, _requests) = site("127.0.0.1:0").await;
    let page = request(world.organization_id, format!("{base}/a.txt"));
    let retry_after = Duration::from_secs(3);
    extractor.refusals.lock().unwrap().push_back(WorkError::Overloaded { retry_after });
    let refused = reader.read(page.clone()).await;
    assert!(
        matches!(refused, Err(PageError::Overloaded { retry_after: after }) if after == retry_after),
        "{refused:?}"
    );
    extractor.refusals.lock().unwrap().push_back(WorkError::Unavailable("Text file busy (os error 26)".to_owned()));
    let refused = reader.read(page.clone()).await;
    assert!(matches!(refused, Err(PageError::Overloaded { .. })), "{refused:?}");
    reader.read(page.clone()).await.unwrap();

    // A failure of the document is remembered.
    let bad = request(world.organization_id, format!("{base}/b.txt"));
    let error = ExtractError::new(ExtractErrorKind::TimedOut, "over 15 seconds");
    extractor.refusals.lock().unwrap().push_back(error.into());
    for _ in 0..2 {
        let failed = reader.read(bad.clone()).await;
        assert!(matches!(failed, Err(PageError::Unreadable(UnreadableReason::Timeout))), "{failed:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_stops_when_its_last_caller_leaves() {
    let world = World::new().await;
    let neighbour = world.neighbour().await;
    let (extractor, mut begun, mut ended) = SlowExtractor::new();
    let reader = reader(&world, Arc::new(extractor));
    let (base, mut requests) = site("127.0.0.1:0").await;
    let url = format!("{base}/slow.txt");
    let first = start(&reader, request(world.organization_id, url.clone()));
    assert_eq!(begun.recv().await.as_deref(), Some("slow.txt"));
    // The same page for another organization: one request to the site.
    let second = start(&reader, request(neighbour.organization_id, url));
    let third = start(&reader, request(world.organization_id, format!("{base}/quick.txt")));
    third.await.unwrap().unwrap();
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert!(ended.try_recv().is_err(), "another caller still waits");
    second.abort();
    assert_eq!(tokio::time::timeout(SOON, ended.recv()).await.unwrap().as_deref(), Some("slow.txt"));
    assert_eq!((requests.recv().await, requests.recv().await, requests.try_recv().ok()), (Some(()), Some(()), None));
}

/// Both organizations wait for a place before either begins, so that the second one joins the read of the first one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusal_of_one_organization_is_not_that_of_another() {
    let world = World::new().await;
    let neighbour = world.neighbour().await;
    let (extractor, _begun, _ended) = SlowExtractor::new();
    let extractor = Arc::new(extractor);
    let reader = reader(&world, Arc::clone(&extractor) as _);
    let (base, mut requests) = site("127.0.0.1:0").await;
    // All places of the host, of which an organization has three at most.
    let owners = [&world, &neighbour, &neighbour, &neighbour].map(|world| world.organization_id).into_iter();
    let pages = owners.enumerate().map(|(n, owner)| request(owner, format!("{base}/never/{n}")));
    let silent: Vec<_> = pages.map(|page| start(&reader, page)).collect();
    for _ in 0..4 {
        requests.recv().await.unwrap();
    }
    let page = |organization_id| request(organization_id, format!("{base}/a.txt"));
    let reads = [&world, &neighbour].map(|world| start(&reader, page(world.organization_id)));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let gate = Gate::closed();
    *extractor.gate.lock().unwrap() = Some(Arc::clone(&gate));
    silent.iter().for_each(JoinHandle::abort);
    tokio::time::timeout(SOON, gate.wait_for(1)).await.expect("the read of both");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let retry_after = Duration::from_secs(3);
    extractor.refusals.lock().unwrap().push_back(WorkError::Overloaded { retry_after });
    gate.open.add_permits(2);
    let mut refused = 0;
    for read in reads {
        match read.await.unwrap() {
            Ok(()) => {}
            Err(PageError::Overloaded { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(refused, 1, "the one whose extraction was refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_a_silent_site_delay_no_page_of_another() {
    let world = World::new().await;
    let neighbour = world.neighbour().await;
    let (extractor, _begun, _ended) = SlowExtractor::new();
    let reader = reader(&world, Arc::new(extractor));
    let (silent, mut requests) = site("127.0.0.1:0").await;
    let (other, _other_requests) = site("127.0.0.2:0").await;
    let readers: Vec<_> =
        (0..64).map(|n| start(&reader, request(neighbour.organization_id, format!("{silent}/never/{n}")))).collect();
    requests.recv().await;
    for organization_id in [world.organization_id, neighbour.organization_id] {
        let page = reader.read(request(organization_id, format!("{other}/a.txt")));
        tokio::time::timeout(SOON, page).await.expect("an answer soon").unwrap();
    }
    // The silent site has a share for others, too.
    let page = reader.read(request(world.organization_id, format!("{silent}/a.txt")));
    tokio::time::timeout(SOON, page).await.expect("an answer soon").unwrap();
    readers.iter().for_each(JoinHandle::abort);
}

/// The page is read once there is room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_read_while_the_disk_is_full() {
    let world = World::new().await;
    let (base, mut requests) = site("127.0.0.1:0").await;
    let page = request(world.organization_id, format!("{base}/a.txt"));
    let full = reader_on_disk(&world, Arc::new(InProcess), Scripted::default(), true);
    let refused = full.read(page.clone()).await;
    assert!(matches!(refused, Err(PageError::Full)), "{refused:?}");
    assert!(requests.try_recv().is_err());
    reader(&world, Arc::new(InProcess)).read(page).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_pages_are_stored_whole_and_leave_their_places_to_others() {
    let world = World::new().await;
    let (base, _requests) = site("127.0.0.1:0").await;
    let reader = reader(&world, Arc::new(InProcess));
    // An organization has four places.
    for number in 0..6 {
        let page = request(world.organization_id, format!("{base}/long/{number}.txt"));
        let doc_id = page.doc_id;
        tokio::time::timeout(PATIENCE, reader.read(page)).await.expect("a free place").unwrap();
        let (_, capture) = world.store.find_page_read(world.organization_id, doc_id).await.unwrap().unwrap();
        let capture = capture.unwrap();
        let rest = world.store.load_rest(capture.capture_id).await.unwrap();
        assert!(capture.content.len() + rest.len() > 512 << 10, "{} + {}", capture.content.len(), rest.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn given_url_is_tried_if_the_host_refuses_the_canonical_one() {
    let world = World::new().await;
    let (base, mut requests) = site("127.0.0.1:0").await;
    let reader = reader(&world, Arc::new(InProcess));
    // The last ones ask for a later request, not for another one.
    for (status, expected) in [(404, 2), (403, 2), (500, 1), (408, 1), (425, 1), (429, 1)] {
        let url = format!("{base}/status/{status}");
        let given_url = Some(format!("{url}?utm_source=x"));
        let failed = reader.read(PageRequest { given_url, ..request(world.organization_id, url) }).await;
        assert!(
            matches!(failed, Err(PageError::Unreadable(UnreadableReason::HttpStatus(got))) if got == status),
            "{failed:?}"
        );
        let made = std::iter::from_fn(|| requests.try_recv().ok()).count();
        assert_eq!(made, expected, "{status}");
    }
}

/// Stores a snippet of a page that a search of the organization found.
async fn store_snippet(world: &World, page: &PageRequest) {
    let source = Source {
        collection: Collection::Web,
        canonical_url: page.canonical_url.clone(),
        source_url: page.canonical_url.clone(),
        source_uri: None,
        mime: None,
        country: None,
        listed: false,
    };
    let content = Content { markdown: "A snippet.".to_owned(), extent: Extent::Snippet, ..Content::default() };
    let mut snippet = prepare::document(source, content, world.clock.now());
    snippet.document.last_crawled_at = None;
    let new = NewPageRead::new(page.organization_id, snippet);
    world.store.save_snippets(page.organization_id, vec![new]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snippet_that_a_search_stored_meanwhile_does_not_end_a_read() {
    let world = World::new().await;
    let (base, mut requests) = site("127.0.0.1:0").await;
    let reader = reader(&world, Arc::new(InProcess));
    let page = request(world.organization_id, format!("{base}/a.txt"));
    store_snippet(&world, &page).await;
    world.clock.advance(Duration::from_secs(1));
    // A whole page that another read stored does.
    for made in [1, 0] {
        reader.read(page.clone()).await.unwrap();
        let (_, capture) = world.store.find_page_read(world.organization_id, page.doc_id).await.unwrap().unwrap();
        assert!(capture.unwrap().content.contains("some text"));
        assert_eq!(std::iter::from_fn(|| requests.try_recv().ok()).count(), made);
    }
}
