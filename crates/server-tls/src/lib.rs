#![doc = include_str!("../README.md")]

mod error;
mod pair;
mod server_tls;
mod transport;

pub use error::CertificateError;
pub use pair::PairFiles;
pub use server_tls::{Reload, ServerTls};
pub use transport::Transport;
