use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

/// The runtime of every application under test. The docstore requires a multi-threaded one, and most tests run on a
/// single thread.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());
    &RUNTIME
}
