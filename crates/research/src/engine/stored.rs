//! Serialization of the types of `model`, which has no serializer.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An id.
pub mod id {
    use super::*;
    use uuid::Uuid;

    pub fn serialize<T: Copy + Into<Uuid>, S: Serializer>(id: &T, serializer: S) -> Result<S::Ok, S::Error> {
        (*id).into().serialize(serializer)
    }

    pub fn deserialize<'de, T: From<Uuid>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        Uuid::deserialize(deserializer).map(T::from)
    }
}

/// An optional id.
pub mod optional_id {
    use super::*;
    use uuid::Uuid;

    pub fn serialize<T: Copy + Into<Uuid>, S: Serializer>(id: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        id.map(Into::into).serialize(serializer)
    }

    pub fn deserialize<'de, T: From<Uuid>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        Ok(Option::<Uuid>::deserialize(deserializer)?.map(T::from))
    }
}

/// A time, as milliseconds since the Unix epoch.
pub mod time {
    use super::*;
    use model::Timestamp;

    pub fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        time.as_millis().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(deserializer).map(Timestamp::from_millis)
    }
}

/// An optional time.
pub mod optional_time {
    use super::*;
    use model::Timestamp;

    pub fn serialize<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(Timestamp::as_millis).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map(Timestamp::from_millis))
    }
}

/// An index, by name.
pub mod index {
    use super::*;
    use model::IndexName;

    pub fn serialize<S: Serializer>(index: &IndexName, serializer: S) -> Result<S::Ok, S::Error> {
        index.as_str().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IndexName, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
