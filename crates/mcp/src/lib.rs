#![doc = include_str!("../README.md")]

mod answer;
mod arguments;
mod backend;
mod calls;
mod connector;
mod inputs;
mod message;
mod revision;
mod server;
mod tools;
mod toolset;

pub use backend::{Backend, Call, Failure, Upload, Uploaded};
pub use message::{Message, Request, RpcError, code};
pub use revision::{HANDSHAKE, STATELESS, is_supported, unsupported};
pub use server::{Response, Server};
pub use toolset::{Profile, Toolset};
