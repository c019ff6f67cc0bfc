//! Strict parsing of a token's JSON objects.

use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Parses an object with unique names; `None` for anything else. RFC 7519, section 4 lets parsers reject duplicates or take
/// the last value; attackers could exploit two parsers that choose differently.
pub fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    struct Unique;

    impl<'de> Visitor<'de> for Unique {
        type Value = Map<String, Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut object = Map::new();
            while let Some((name, value)) = entries.next_entry()? {
                if object.insert(name, value).is_some() {
                    return Err(A::Error::custom("duplicate name"));
                }
            }
            Ok(object)
        }
    }

    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let object = reader.deserialize_map(Unique).ok()?;
    reader.end().ok()?;
    Some(object)
}

#[cfg(test)]
mod tests {
    use super::object;

    #[test]
    fn duplicate_names_and_partial_objects_are_rejected() {
        assert_eq!(object(br#"{"a": 1, "b": {"a": 2}}"#).map(|object| object.len()), Some(2));
        for bad in [r#"{"a": 1, "a": 1}"#, r#"{"a": 1, "\u0061": 2}"#, "[]", "", "{} {}", "{", "null", "\"a\""] {
            assert_eq!(object(bad.as_bytes()), None, "{bad}");
        }
    }
}
