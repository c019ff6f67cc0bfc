//! From bytes to searchable documents: preparing captures, reading pages of the web on demand, feeding
//! the indexes from the outbox, and indexing runs over an organization's files. See README.md.

pub mod clock;
pub mod feeder;
pub mod objects;
pub mod pages;
pub mod prepare;
pub mod rebuild;
pub mod run;

pub use feeder::{Feeder, Ownership};
pub use pages::{PageError, PageReader, PageReaderOptions};
pub use run::{Runner, RunnerOptions};
