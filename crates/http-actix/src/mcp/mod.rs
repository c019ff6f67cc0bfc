//! The Model Context Protocol over HTTP: headers, origins, the in-process backend and its authorization metadata.

mod backend;
pub(crate) mod headers;
mod origin;
mod resource;

pub(crate) use backend::InProcess;
pub(crate) use origin::Origins;
pub(crate) use resource::ProtectedResource;
