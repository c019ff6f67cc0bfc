//! Deserializers of request fields that accept exactly the JSON of the schemas. serde is more lenient: it accepts `null`
//! for an absent `Option`, an array for a struct, and an object with one key for an enum.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IntoDeserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads an `Option` field that may be omitted but may not be `null`.
/// Use with `#[serde(default, deserialize_with = "not_null")]`.
pub(crate) fn not_null<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Reads an integer: a number without a fraction. `10.0` is an integer in JSON Schema (2020-12 validation, 6.1.1), and
/// clients with floating-point numbers only write it.
pub(crate) fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    struct Integer;

    impl Visitor<'_> for Integer {
        type Value = i64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an integer")
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<i64, E> {
            Ok(value)
        }

        fn visit_u64<E: de::Error>(self, value: u64) -> Result<i64, E> {
            i64::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
        }

        fn visit_f64<E: de::Error>(self, value: f64) -> Result<i64, E> {
            // Beyond 2^53 a floating-point number does not identify an integer.
            const LARGEST: f64 = 9_007_199_254_740_992.0;
            match value.fract() == 0.0 && value.abs() <= LARGEST {
                true => Ok(value as i64),
                false => Err(E::invalid_value(Unexpected::Float(value), &self)),
            }
        }
    }

    deserializer.deserialize_i64(Integer)
}

/// Reads an integer field that may be omitted but may not be `null`.
pub(crate) fn optional_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    integer(deserializer).map(Some)
}

/// Reads a struct from an object.
pub(crate) fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

/// Reads a struct from an object, for fields without a default.
pub(crate) fn optional_object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    object(deserializer).map(Some)
}

/// A struct read from an object.
struct Item<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Item<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object(deserializer).map(Item)
    }
}

/// Reads a list of structs from a list of objects.
pub(crate) fn objects<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let items: Vec<Item<T>> = Vec::deserialize(deserializer)?;
    Ok(items.into_iter().map(|Item(value)| value).collect())
}

/// An enum read from a string.
struct Word<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        T::deserialize(word.into_deserializer()).map(Word)
    }
}

/// Reads an enum from a string.
pub(crate) fn word<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Word::deserialize(deserializer).map(|Word(value)| value)
}

/// Reads an enum from a string, for fields without a default.
pub(crate) fn optional_word<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    word(deserializer).map(Some)
}

/// Reads a list of enums.
pub(crate) fn words<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Vec::deserialize(deserializer).map(values)
}

/// Reads a list of enums that may be omitted but may not be `null`.
pub(crate) fn optional_words<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    words(deserializer).map(Some)
}

/// Reads a list of enums that may be omitted or `null`.
pub(crate) fn nullable_words<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(|words| words.map(values))
}

fn values<T>(words: Vec<Word<T>>) -> Vec<T> {
    words.into_iter().map(|Word(value)| value).collect()
}

/// Omits default values from requests of clients.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
