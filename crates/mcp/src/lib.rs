#![doc = include_str!("../README.md")]

mod arguments;
mod backend;
mod calls;
mod connector;
mod fit;
mod message;
mod output;
mod profile;
mod revision;
mod schema;
mod server;
mod summary;
mod tools;

pub use backend::{Backend, Call, Failure};
pub use message::{Message, Request, RpcError, code};
pub use profile::Profile;
pub use revision::{HANDSHAKE, STATELESS, is_supported, unsupported};
pub use server::{Response, Server};
