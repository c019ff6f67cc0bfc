//! Parsers for types that TOML stores as text. Messages quote the value; the caller adds the key.

use std::fmt::Display;
use std::net::SocketAddr;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de::Error};

use ipnet::IpNet;

use crate::network::{self, NetworkError};
use crate::secret::without_credentials;

fn from_text<'de, D, T>(text: &str, what: &str) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    text.parse().map_err(|_| D::Error::custom(format!("`{}` is not {what}", without_credentials(text))))
}

pub(crate) fn socket_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    from_text::<D, _>(&text, "an address with a port such as `127.0.0.1:8080`")
}

/// Parses ports as numbers, or as text, which a variable contains.
pub(crate) fn ports<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u16>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "must be a port such as `8080`")]
    enum Port {
        Number(i64),
        Text(String),
    }
    let ports = Vec::<Port>::deserialize(deserializer)?;
    let parse = |port: &Port| match port {
        Port::Number(number) => from_text::<D, _>(&number.to_string(), "a port such as `8080`"),
        Port::Text(text) => from_text::<D, _>(text.trim(), "a port such as `8080`"),
    };
    ports.iter().map(parse).collect()
}

pub(crate) fn networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let refused =
        |text: &str, error: NetworkError| D::Error::custom(format!("`{}` {error}", without_credentials(text)));
    texts.iter().map(|text| network::parse(text.trim()).map_err(|error| refused(text, error))).collect()
}
