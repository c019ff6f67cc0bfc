//! JSON objects of tokens.

use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Reads an object whose names are unique. RFC 7519, section 4: a name that comes twice is refused or its last value
/// taken; two readers that choose differently can be played off against each other.
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
                    return Err(A::Error::custom("a name comes twice"));
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
    fn only_whole_objects_of_unique_names_are_read() {
        assert_eq!(object(br#"{"a": 1, "b": {"a": 2}}"#).map(|object| object.len()), Some(2));
        for bad in [r#"{"a": 1, "a": 1}"#, r#"{"a": 1, "\u0061": 2}"#, "[]", "", "{} {}", "{", "null", "\"a\""] {
            assert_eq!(object(bad.as_bytes()), None, "{bad}");
        }
    }
}
