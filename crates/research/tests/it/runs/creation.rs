use std::sync::Arc;

use app::disk::FreeSpace;
use app::{Error, Quota};
use research::ListQuery;
use retrieval_core::site::Site;
use test_support::Setup;

use super::world::{QUESTION, World, quick};

/// Returns 1,000 sites with paths of this length, which take six times the bytes.
fn sites(path_chars: usize) -> Vec<Site> {
    let path = "é".repeat(path_chars);
    (0..1_000).map(|n| Site::parse(&format!("s{n}.example/{path}")).unwrap()).collect()
}

#[tokio::test]
async fn source_policies_are_limited_in_bytes() {
    let world = World::new().await;
    let viewer = &world.tenant.viewer;
    for (included, excluded) in [(sites(80), Vec::new()), (Vec::new(), sites(80)), (sites(30), sites(30))] {
        let mut new = quick(QUESTION);
        new.search.source_policy.include_domains = included;
        new.search.source_policy.exclude_domains = excluded;
        let refused = world.app.research.create(viewer, new).await;
        assert!(matches!(&refused, Err(Error::Invalid { field, .. }) if field == "source_policy"), "{refused:?}");
    }
    let list = ListQuery { status: None, cursor: None, limit: 10 };
    assert!(world.app.research.list(viewer, list).await.unwrap().runs.is_empty());
    let mut new = quick(QUESTION);
    new.search.source_policy.exclude_domains = sites(30);
    world.create(new).await;
}

#[tokio::test]
async fn blank_queries_are_refused() {
    let world = World::new().await;
    for query in ["", " \n", "\0", " \0 "] {
        let refused = world.app.research.create(&world.tenant.viewer, quick(query)).await;
        assert!(matches!(&refused, Err(Error::Invalid { field, .. }) if field == "query"), "{query:?} {refused:?}");
    }
}

#[tokio::test]
async fn no_run_is_created_on_a_full_disk() {
    let check = || Err("7 bytes are free".to_owned());
    let setup = Setup { free_space: Arc::new(FreeSpace::new(Arc::new(check))), ..Setup::default() };
    let world = World::with(setup).await;
    let refused = world.app.research.create(&world.tenant.viewer, quick(QUESTION)).await;
    assert!(matches!(refused, Err(Error::QuotaExceeded(Quota::Disk))), "{refused:?}");
}
