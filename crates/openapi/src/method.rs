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

/// Method and path template of a route. Evaluated at compile time only.
pub(crate) const fn split_route(route: &str) -> (&str, &str) {
    let bytes = route.as_bytes();
    let mut blank = 0;
    while blank < bytes.len() && bytes[blank] != b' ' {
        blank += 1;
    }
    assert!(blank < bytes.len(), "a route is a method, a blank and a path template");
    let (method, rest) = route.split_at(blank);
    (method, rest.split_at(1).1)
}
