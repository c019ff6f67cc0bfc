//! Order of grants.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use admission::{FairSemaphore, Limits, Permit};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::OrganizationId;

use super::organization;

const PATIENT: Duration = Duration::from_secs(3_600);

fn semaphore(permits: u32) -> FairSemaphore {
    FairSemaphore::new(Limits::shared(permits, 10_000, PATIENT))
}

/// Requests that note their organization when they are granted.
#[derive(Default)]
struct Requests {
    waiting: Vec<BoxFuture<'static, ()>>,
    granted: Arc<Mutex<Vec<(OrganizationId, Permit)>>>,
}

impl Requests {
    fn queue(&mut self, semaphore: &FairSemaphore, organization: OrganizationId, weight: u32, count: usize) {
        for _ in 0..count {
            let (semaphore, granted) = (semaphore.clone(), Arc::clone(&self.granted));
            let mut request = async move {
                let permit = semaphore.acquire(organization, weight).await.unwrap();
                granted.lock().unwrap().push((organization, permit));
            }
            .boxed();
            if (&mut request).now_or_never().is_none() {
                self.waiting.push(request);
            }
        }
    }

    /// Ends the oldest granted request, and returns the organizations of those granted next.
    fn end_oldest(&mut self) -> Vec<OrganizationId> {
        let known = self.granted.lock().unwrap().len() - 1;
        let ended = self.granted.lock().unwrap().remove(0);
        drop(ended);
        self.waiting.retain_mut(|request| request.now_or_never().is_none());
        self.granted.lock().unwrap()[known..].iter().map(|(organization, _)| *organization).collect()
    }
}

#[tokio::test]
async fn a_bystander_is_next_however_many_requests_wait() {
    let (semaphore, heavy, bystander) = (semaphore(2), organization(1), organization(2));
    let mut requests = Requests::default();
    requests.queue(&semaphore, heavy, 1, 1_000);
    requests.queue(&semaphore, bystander, 1, 1);
    assert_eq!(requests.end_oldest(), [bystander]);
    assert_eq!(requests.end_oldest(), [heavy]);
    assert_eq!(semaphore.waiting(), 997);
}

#[tokio::test]
async fn organizations_share_equally_whatever_they_queue() {
    let semaphore = semaphore(6);
    let mut requests = Requests::default();
    requests.queue(&semaphore, organization(1), 1, 600);
    requests.queue(&semaphore, organization(2), 1, 300);
    requests.queue(&semaphore, organization(3), 1, 60);
    let mut granted = [0; 3];
    for _ in 0..90 {
        for organization in requests.end_oldest() {
            granted[organization.0.as_u128() as usize - 1] += 1;
        }
    }
    // The first six were given out before the others arrived.
    assert!(granted.iter().all(|count| (28..=32).contains(count)), "{granted:?}");
}

/// Ends `ends` requests, and queues another one of the same organization after each. Returns the grants by organization.
fn repeat(requests: &mut Requests, semaphore: &FairSemaphore, ends: usize) -> [usize; 3] {
    let mut granted = [0; 3];
    for _ in 0..ends {
        let ended = requests.granted.lock().unwrap()[0].0;
        for organization in requests.end_oldest() {
            granted[organization.0.as_u128() as usize - 1] += 1;
        }
        requests.queue(semaphore, ended, 1, 1);
    }
    granted
}

/// An organization without requests is forgotten between its end and its next request.
#[tokio::test]
async fn organizations_with_one_request_at_a_time_take_turns() {
    let semaphore = semaphore(1);
    let mut requests = Requests::default();
    for number in 1..=3 {
        requests.queue(&semaphore, organization(number), 1, 1);
    }
    let granted = repeat(&mut requests, &semaphore, 30);
    assert!(granted.iter().all(|count| (9..=11).contains(count)), "{granted:?}");
}

#[tokio::test]
async fn organizations_with_and_without_a_queue_take_turns() {
    let semaphore = semaphore(1);
    let mut requests = Requests::default();
    for (number, count) in [(1, 1), (2, 20), (3, 1)] {
        requests.queue(&semaphore, organization(number), 1, count);
    }
    let granted = repeat(&mut requests, &semaphore, 30);
    assert!(granted.iter().all(|count| (9..=11).contains(count)), "{granted:?}");
}

#[tokio::test]
async fn among_organizations_without_a_grant_the_first_to_arrive_is_next() {
    let semaphore = semaphore(1);
    let mut requests = Requests::default();
    for number in [1, 3, 2] {
        requests.queue(&semaphore, organization(number), 1, 1);
    }
    assert_eq!(requests.end_oldest(), [organization(3)]);
    assert_eq!(requests.end_oldest(), [organization(2)]);
}

#[tokio::test]
async fn organization_that_holds_less_is_served_first() {
    let (semaphore, holder, newcomer) = (semaphore(4), organization(1), organization(2));
    let long: Vec<Permit> = [semaphore.try_acquire(holder, 3).unwrap()].into_iter().collect();
    let short = semaphore.try_acquire(newcomer, 1).unwrap();
    let mut requests = Requests::default();
    requests.queue(&semaphore, holder, 1, 1);
    requests.queue(&semaphore, newcomer, 1, 1);
    drop(short);
    requests.waiting.retain_mut(|request| request.now_or_never().is_none());
    assert_eq!(requests.granted.lock().unwrap()[0].0, newcomer);
    drop(long);
}

#[tokio::test]
async fn large_request_is_not_overtaken_forever() {
    let (semaphore, large, small) = (semaphore(4), organization(1), organization(2));
    let mut requests = Requests::default();
    requests.queue(&semaphore, small, 1, 4);
    requests.queue(&semaphore, large, 4, 1);
    requests.queue(&semaphore, small, 1, 10);
    for _ in 0..3 {
        assert_eq!(requests.end_oldest(), []);
    }
    assert_eq!(requests.end_oldest(), [large]);
    assert_eq!(requests.end_oldest(), [small; 4]);
}

#[tokio::test]
async fn share_of_an_organization_is_limited_even_without_others() {
    let limits = Limits { per_organization: 3, ..Limits::shared(4, 100, PATIENT) };
    let (semaphore, heavy, other) = (FairSemaphore::new(limits), organization(1), organization(2));
    let mut requests = Requests::default();
    requests.queue(&semaphore, heavy, 1, 10);
    assert_eq!((semaphore.available(), semaphore.waiting()), (1, 7));
    assert!(semaphore.acquire(other, 1).now_or_never().unwrap().is_ok(), "the queue of the other does not block it");
    assert_eq!(requests.end_oldest(), [heavy]);
}

#[tokio::test]
async fn request_for_more_than_everything_takes_everything() {
    let semaphore = semaphore(4);
    let permit = semaphore.acquire(organization(1), 100).await.unwrap();
    assert_eq!(semaphore.available(), 0);
    drop(permit);
    assert_eq!(semaphore.available(), 4);
}

#[tokio::test]
async fn permits_are_returned_in_parts() {
    let semaphore = semaphore(4);
    let mut permit = semaphore.acquire(organization(1), 1).await.unwrap();
    permit.merge(semaphore.acquire(organization(1), 3).await.unwrap());
    let mut requests = Requests::default();
    requests.queue(&semaphore, organization(2), 2, 1);
    assert_eq!((semaphore.available(), semaphore.waiting()), (0, 1));
    permit.shrink(3);
    assert_eq!((semaphore.available(), semaphore.waiting()), (1, 1));
    permit.shrink(1);
    assert_eq!((semaphore.available(), semaphore.waiting()), (1, 0), "two went to the other organization");
    permit.shrink(2);
    assert_eq!(semaphore.available(), 1, "it does not grow");
    drop(permit);
    assert_eq!(semaphore.available(), 2);
}

#[tokio::test]
async fn permits_are_wanted_from_those_who_hold_the_most() {
    let semaphore = semaphore(3);
    let take = |number| semaphore.try_acquire(organization(number), 1).unwrap();
    let (first, _second, _other) = (take(1), take(1), take(2));
    assert!(!semaphore.is_wanted(organization(1)), "nobody waits");
    let mut requests = Requests::default();
    requests.queue(&semaphore, organization(3), 1, 1);
    assert!(semaphore.is_wanted(organization(1)));
    assert!(!semaphore.is_wanted(organization(2)), "another holds more");
    drop(first);
    futures_util::future::join_all(std::mem::take(&mut requests.waiting)).await;
    requests.queue(&semaphore, organization(1), 1, 1);
    assert!(semaphore.is_wanted(organization(1)), "its own request waits");
    assert!(!semaphore.is_wanted(organization(2)), "the waiting one holds as much");
}
