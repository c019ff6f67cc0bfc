//! SQL types that both backends know, each in its own way.

use std::fmt;
use std::io::Write;

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::query_builder::QueryId;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{Binary, SqlType, Text};
use diesel::sqlite::Sqlite;
use uuid::Uuid;

/// `uuid` on PostgreSQL, 16 bytes on SQLite.
#[derive(SqlType, QueryId)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951))]
#[diesel(sqlite_type(name = "Binary"))]
pub struct DbUuid;

/// A UUID as a column holds it.
#[derive(AsExpression, Clone, Copy, Debug, Eq, FromSqlRow, Hash, Ord, PartialEq, PartialOrd)]
#[diesel(sql_type = DbUuid)]
pub struct Id(pub Uuid);

impl From<Uuid> for Id {
    fn from(id: Uuid) -> Self {
        Id(id)
    }
}

impl From<Id> for Uuid {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ToSql<DbUuid, Pg> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<DbUuid, Pg> for Id {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Id(Uuid::from_slice(value.as_bytes())?))
    }
}

impl ToSql<DbUuid, Sqlite> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.as_bytes().to_vec());
        Ok(IsNull::No)
    }
}

impl FromSql<DbUuid, Sqlite> for Id {
    fn from_sql(value: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let bytes = <Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value)?;
        Ok(Id(Uuid::from_slice(&bytes)?))
    }
}

/// A list of strings, kept as a JSON array in a text column on both backends.
#[derive(AsExpression, Clone, Debug, Default, Eq, FromSqlRow, PartialEq)]
#[diesel(sql_type = Text)]
pub struct Strings(pub Vec<String>);

/// Names and plain values, kept as a JSON object in a text column on both backends.
#[derive(AsExpression, Clone, Debug, Default, FromSqlRow, PartialEq)]
#[diesel(sql_type = Text)]
pub struct Details(pub serde_json::Map<String, serde_json::Value>);

impl Details {
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }
}

/// A type that a text column holds as JSON on both backends.
macro_rules! stored_as_json {
    ($name:ident) => {
        impl ToSql<Text, Pg> for $name {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
                serde_json::to_writer(out, &self.0)?;
                Ok(IsNull::No)
            }
        }

        impl ToSql<Text, Sqlite> for $name {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
                out.set_value(serde_json::to_string(&self.0)?);
                Ok(IsNull::No)
            }
        }

        impl<DB> FromSql<Text, DB> for $name
        where
            DB: Backend,
            String: FromSql<Text, DB>,
        {
            fn from_sql(value: DB::RawValue<'_>) -> deserialize::Result<Self> {
                let text = <String as FromSql<Text, DB>>::from_sql(value)?;
                Ok($name(serde_json::from_str(&text)?))
            }
        }
    };
}

stored_as_json!(Strings);
stored_as_json!(Details);
