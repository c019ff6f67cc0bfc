use crate::operation::split_route;

/// The HTTP method of an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// The name in capitals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }

    /// The name as OpenAPI writes it: in lower case.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Method::Get => "get",
            Method::Post => "post",
            Method::Put => "put",
            Method::Patch => "patch",
            Method::Delete => "delete",
        }
    }

    /// The method of a route such as `GET /v1/files`. Evaluated at compile time only.
    pub(crate) const fn of_route(route: &str) -> Self {
        match split_route(route).0.as_bytes() {
            b"GET" => Method::Get,
            b"POST" => Method::Post,
            b"PUT" => Method::Put,
            b"PATCH" => Method::Patch,
            b"DELETE" => Method::Delete,
            _ => panic!("a route starts with GET, POST, PUT, PATCH or DELETE"),
        }
    }
}
