//! Limits over real sockets.
#![allow(clippy::unwrap_used)]

use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::Duration;

use connections::{Connections, Guarded, Limits, Pace};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const PACE: Pace = Pace { patience: Duration::from_secs(30), bytes_per_second: 100 };
const HEAD: Duration = Duration::from_secs(10);

fn client(last: u8) -> IpAddr {
    IpAddr::from([203, 0, 113, last])
}

fn connections(limit: usize, per_address: usize) -> Connections {
    Connections::new("test", Limits { connections: limit, per_address, trusted: vec![] })
}

/// An admitted connection and its client.
fn connect(connections: &Connections, peer: IpAddr) -> Option<(Guarded<DuplexStream>, DuplexStream)> {
    let (near, far) = duplex(16);
    Some((Guarded::new(near, connections.admit(peer)?, PACE, HEAD), far))
}

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (listener.accept().await.unwrap().0, client)
}

#[tokio::test]
async fn a_replaced_connection_reads_the_end_of_its_stream() {
    let connections = connections(1, 0);
    let (near, mut far) = pair().await;
    let mut idle = Guarded::new(near, connections.admit(client(1)).unwrap(), PACE, HEAD);
    let reading = tokio::spawn(async move { idle.read(&mut [0; 8]).await.map(|read| (read, idle)) });
    let newer = connections.admit(client(2)).unwrap();
    let (read, idle) = reading.await.unwrap().unwrap();
    assert_eq!((read, connections.open()), (0, 1));
    drop(idle);
    assert_eq!(far.read(&mut [0; 8]).await.unwrap(), 0);
    assert_eq!(connections.open(), 1, "the place belongs to the newer connection");
    drop(newer);
    assert_eq!(connections.open(), 0);
}

#[tokio::test]
async fn a_connection_in_use_stays_and_others_are_refused() {
    let connections = connections(1, 0);
    let (mut busy, mut far) = connect(&connections, client(1)).unwrap();
    let serving = busy.requests().serve();
    assert!(connect(&connections, client(2)).is_none());
    far.write_all(b"body").await.unwrap();
    busy.read_exact(&mut [0; 4]).await.unwrap();
    drop(serving);
    assert!(connect(&connections, client(2)).is_some());
    assert_eq!(busy.read(&mut [0; 8]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_request_that_began_before_the_replacement_is_finished() {
    let connections = connections(1, 0);
    let (mut first, mut far) = connect(&connections, client(1)).unwrap();
    let requests = first.requests();
    let newer = connect(&connections, client(2)).unwrap();
    let serving = requests.serve();
    far.write_all(b"body").await.unwrap();
    first.read_exact(&mut [0; 4]).await.unwrap();
    first.write_all(b"answer").await.unwrap();
    drop(serving);
    assert_eq!(first.read(&mut [0; 8]).await.unwrap(), 0);
    drop(newer);
}

#[tokio::test]
async fn an_address_has_its_own_limit() {
    let connections = connections(100, 2);
    let held: Vec<_> = (0..2).map(|_| connect(&connections, client(1)).unwrap()).collect();
    let serving: Vec<_> = held.iter().map(|(stream, _)| stream.requests().serve()).collect();
    assert!(connect(&connections, client(1)).is_none());
    assert!(connect(&connections, client(2)).is_some());
    assert!(connect(&connections, IpAddr::from([127, 0, 0, 1])).is_some());
    drop((held, serving));
    assert_eq!(connections.open(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_stops_reading_is_closed_and_a_slow_one_is_not() {
    let connections = connections(1, 0);
    let (mut stream, mut far) = connect(&connections, client(1)).unwrap();
    let writing = stream.write_all(&[0; 4096]);
    let reading = async {
        // 160 bytes per second.
        for _ in 0..256 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            far.read_exact(&mut [0; 16]).await.unwrap();
        }
    };
    let (written, ()) = tokio::join!(writing, reading);
    written.unwrap();
    let stalled = timeout(Duration::from_secs(31), stream.write_all(&[0; 64])).await.unwrap();
    assert_eq!(stalled.unwrap_err().kind(), ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_in_a_trickle_is_closed() {
    let connections = connections(1, 0);
    let (mut stream, mut far) = connect(&connections, client(1)).unwrap();
    let writing = stream.write_all(&[0; 4096]);
    let reading = async {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            far.read_u8().await.unwrap();
        }
    };
    let written = tokio::select! {
        written = timeout(Duration::from_secs(60), writing) => written,
        () = reading => unreachable!(),
    };
    assert_eq!(written.unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_a_pending_answer_is_not_replaced() {
    let connections = connections(1, 0);
    let (mut stream, mut far) = connect(&connections, client(1)).unwrap();
    let writing = tokio::spawn(async move { stream.write_all(&[0; 64]).await });
    // The first 16 bytes are in the buffer, so the rest is pending.
    far.read_exact(&mut [0; 17]).await.unwrap();
    assert!(connect(&connections, client(2)).is_none());
    far.read_exact(&mut [0; 47]).await.unwrap();
    writing.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn heads_in_a_trickle_time_out_and_idle_connections_do_not() {
    let connections = connections(2, 0);
    let (mut idle, _far) = connect(&connections, client(1)).unwrap();
    assert!(timeout(HEAD * 100, idle.read(&mut [0; 8])).await.is_err());

    let (mut slow, mut far) = connect(&connections, client(2)).unwrap();
    let sending = async {
        loop {
            far.write_all(b"G").await.unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let reading = async {
        let mut received = 0;
        loop {
            match slow.read(&mut [0; 8]).await {
                Ok(read) => received += read,
                Err(error) => return (received, error.kind()),
            }
        }
    };
    let (received, kind) = tokio::select! {
        outcome = reading => outcome,
        () = sending => unreachable!(),
    };
    assert_eq!(kind, ErrorKind::TimedOut);
    assert!((9..=11).contains(&received), "{received}");
}

#[tokio::test(start_paused = true)]
async fn bodies_may_take_longer_than_heads() {
    let connections = connections(1, 0);
    let (mut stream, mut far) = connect(&connections, client(1)).unwrap();
    far.write_all(b"head").await.unwrap();
    stream.read_exact(&mut [0; 4]).await.unwrap();
    let serving = stream.requests().serve();
    let body = async {
        tokio::time::sleep(HEAD * 3).await;
        far.write_all(b"body").await.unwrap();
    };
    let mut received = [0; 4];
    let (read, ()) = tokio::join!(stream.read_exact(&mut received), body);
    read.unwrap();
    drop(serving);
}

#[tokio::test(start_paused = true)]
async fn a_connection_whose_request_was_answered_at_once_is_idle() {
    let connections = connections(1, 0);
    let (mut stream, mut far) = connect(&connections, client(1)).unwrap();
    for _ in 0..2 {
        far.write_all(b"head").await.unwrap();
        stream.read_exact(&mut [0; 4]).await.unwrap();
        // Between two reads, so that the stream never sees the connection in use.
        drop(stream.requests().serve());
        assert!(timeout(HEAD * 3, stream.read(&mut [0; 8])).await.is_err());
    }
    far.write_all(b"h").await.unwrap();
    stream.read_exact(&mut [0; 1]).await.unwrap();
    let slow = timeout(HEAD * 3, stream.read(&mut [0; 8])).await.unwrap();
    assert_eq!(slow.unwrap_err().kind(), ErrorKind::TimedOut, "the next head has its own time");
}
