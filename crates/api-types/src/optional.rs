use serde::{Deserialize, Deserializer};

/// For `Option` fields that may be left out but may not be `null`: serde's own `Option` takes `null` for absent.
/// Use with `#[serde(default, deserialize_with = "not_null")]`.
pub(crate) fn not_null<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Keeps default sections out of what a client sends.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
