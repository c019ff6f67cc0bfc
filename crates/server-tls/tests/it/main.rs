#![expect(clippy::unwrap_used, reason = "tests")]

mod connections;
mod files;
mod pair;
