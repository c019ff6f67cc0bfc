//! Large and many objects. Measurements are printed but not asserted, because they depend on the machine.

use std::time::Instant;

use blobs::BlobStore;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use s3_server::{Durability, S3ServerOptions};

use crate::server::{Fixture, Server, server_options};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_megabytes_round_trip() {
    let fixture = Fixture::start().await;
    let size = 20 * 1024 * 1024;
    let content: Bytes = (0..size as u32).map(|position| (position % 251) as u8).collect::<Vec<_>>().into();
    let started = Instant::now();
    let put = fixture.store.put("large", content.clone()).await.unwrap();
    let stored = started.elapsed();
    let path = fixture.folder.path().join("copy");
    let meta = fixture.store.get_to_file("large", &path, size).await.unwrap().unwrap();
    println!("20 MiB: put in {stored:?}, downloaded to a file in {:?}", started.elapsed() - stored);
    assert_eq!((meta.size, &meta.etag), (size, &put.etag));
    assert!(std::fs::read(&path).unwrap() == content, "the same bytes");

    let url = fixture.presign("uploaded", size, "n");
    let slices: Vec<_> = content.chunks(7919).map(|slice| Ok::<_, std::io::Error>(content.slice_ref(slice))).collect();
    let request = fixture.http.put(&url).header("content-length", size);
    let answer = request.body(reqwest::Body::wrap_stream(stream::iter(slices))).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(fixture.store.head("uploaded").await.unwrap().unwrap().etag, put.etag);
}

/// `cargo nextest run -p blobs-s3 --run-ignored only --no-capture --release throughput`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn many_small_objects() {
    let fixture = Fixture::start().await;
    let total = 10_000;
    let keys: Vec<String> = (0..total).map(|number| format!("objects/{number}")).collect();
    let body = Bytes::from(vec![b'x'; 4096]);
    let rate = |started: Instant| f64::from(total) / started.elapsed().as_secs_f64();

    let started = Instant::now();
    let puts = stream::iter(&keys).map(|key| fixture.store.put(key, body.clone())).buffer_unordered(8);
    let _: Vec<_> = puts.try_collect().await.unwrap();
    println!("put: {:.0} per second", rate(started));

    let started = Instant::now();
    let gets = stream::iter(&keys).map(|key| fixture.store.get(key, 4096)).buffer_unordered(8);
    let got: Vec<_> = gets.try_collect().await.unwrap();
    println!("get: {:.0} per second", rate(started));
    assert!(got.iter().all(|object| object.as_ref().is_some_and(|(_, found)| *found == body)));

    let started = Instant::now();
    for key in &keys[..1000] {
        fixture.store.get(key, 4096).await.unwrap();
    }
    println!("sequential get: {:?} each", started.elapsed() / 1000);

    let started = Instant::now();
    let mut after = None;
    let mut listed = 0;
    loop {
        let page = fixture.store.list("", after.as_deref()).await.unwrap();
        listed += page.objects.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    println!("list {listed} objects: {:?}", started.elapsed());
    fixture.server.stop().await;

    let options = S3ServerOptions { durability: Durability::Power, ..server_options(fixture.folder.path()) };
    let server = Server::start_with(options).await;
    let store = server.store();
    let started = Instant::now();
    let puts = stream::iter(&keys[..1000]).map(|key| store.put(key, body.clone())).buffer_unordered(8);
    let _: Vec<_> = puts.try_collect().await.unwrap();
    println!("put with power-cut durability: {:.0} per second", 1000.0 / started.elapsed().as_secs_f64());
    server.stop().await;
}
