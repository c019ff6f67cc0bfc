use crate::support::Server;

engine::conformance_tests!(where available Server::with_indexes().await);
