//! SQL types of columns that hold domain types, and their encoding on each backend.

use std::io::Write;
use std::marker::PhantomData;

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow, Queryable};
use diesel::expression::AsExpression;
// `derive(AsExpression)` expands to this; the derive itself accepts only local types.
use diesel::internal::derives::as_expression::Bound;
use diesel::pg::{Pg, PgValue};
use diesel::query_builder::QueryId;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, Binary, Bool, HasSqlType, Integer, Nullable, SingleValue, SqlType, Text, is_nullable};
use diesel::sqlite::Sqlite;
use model::{
    ApiKeyId, AuditAction, AuditEntryId, BalanceEntryId, BalanceReason, CaptureFormat, CaptureId, Collection, CrawlId,
    CrawlStatus, CrawlUrlKind, CrawlUrlState, DeliveryId, DocId, FeedbackEvent, FeedbackId, FileOutcome, Generation,
    IndexName, OrganizationId, PassageId, ResearchId, ResearchStatus, ResearchStop, RunMode, RunState, Scope, SearchId,
    SessionId, SyncId, Timestamp, WebhookId,
};
use uuid::Uuid;

use crate::outbox_work::OutboxWork;
use crate::part_map::PartMap;
use crate::search_details::SearchDetails;

/// SQL type of a column that holds values of the domain type `T`. Columns of different domain types cannot be compared or
/// joined.
#[derive(Clone)]
pub struct Stored<T>(PhantomData<T>);

/// Domain type that can be stored in a column.
pub trait Column: 'static {
    /// Underlying SQL type.
    type Sql;
}

impl<T: Column> SqlType for Stored<T> {
    type IsNull = is_nullable::NotNull;
}

impl<T: Column> SingleValue for Stored<T> {}

impl<T: Column> QueryId for Stored<T> {
    type QueryId = Self;
}

impl<T: Column> HasSqlType<Stored<T>> for Pg
where
    Pg: HasSqlType<T::Sql>,
{
    fn metadata(lookup: &mut Self::MetadataLookup) -> Self::TypeMetadata {
        <Pg as HasSqlType<T::Sql>>::metadata(lookup)
    }
}

impl<T: Column> HasSqlType<Stored<T>> for Sqlite
where
    Sqlite: HasSqlType<T::Sql>,
{
    fn metadata(lookup: &mut Self::MetadataLookup) -> Self::TypeMetadata {
        <Sqlite as HasSqlType<T::Sql>>::metadata(lookup)
    }
}

/// Bound value in a query or an insertable row, such as `Bind(doc_id)` for a column of document ids.
///
/// Needed because of the orphan rule: diesel's traits for binding can only be implemented for types of this crate. Reading
/// needs no wrapper.
#[derive(Clone, Debug)]
pub struct Bind<T>(pub T);

impl<T> From<T> for Bind<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

pub fn bind_all<T>(values: impl IntoIterator<Item = T>) -> Vec<Bind<T>> {
    values.into_iter().map(Bind).collect()
}

impl<T: Column, DB> ToSql<Stored<T>, DB> for Bind<T>
where
    DB: Backend,
    T: ToSql<Stored<T>, DB>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
        self.0.to_sql(out)
    }
}

impl<T: Column> AsExpression<Stored<T>> for Bind<T> {
    type Expression = Bound<Stored<T>, Self>;

    fn as_expression(self) -> Self::Expression {
        Bound::new(self)
    }
}

impl<T: Column> AsExpression<Nullable<Stored<T>>> for Bind<T> {
    type Expression = Bound<Nullable<Stored<T>>, Option<Self>>;

    fn as_expression(self) -> Self::Expression {
        Bound::new(Some(self))
    }
}

impl<T: Column> AsExpression<Nullable<Stored<T>>> for Bind<Option<T>> {
    type Expression = Bound<Nullable<Stored<T>>, Option<Bind<T>>>;

    fn as_expression(self) -> Self::Expression {
        Bound::new(self.0.map(Bind))
    }
}

impl AsExpression<Nullable<Stored<OrganizationId>>> for Bind<Collection> {
    type Expression = Bound<Nullable<Stored<OrganizationId>>, Option<Bind<OrganizationId>>>;

    fn as_expression(self) -> Self::Expression {
        Bound::new(self.0.owner().map(Bind))
    }
}

/// Implements [`Bind`] for types that diesel can bind itself.
macro_rules! plain {
    ($($sql:ty: $($type:ty),*;)*) => {
        $($(
            impl AsExpression<$sql> for Bind<$type> {
                type Expression = <$type as AsExpression<$sql>>::Expression;

                fn as_expression(self) -> Self::Expression {
                    AsExpression::<$sql>::as_expression(self.0)
                }
            }
        )*)*
    };
}

plain! {
    Bool: bool;
    Integer: i32;
    BigInt: i64;
    Binary: Vec<u8>;
    Text: String, Strings, Details;
    Nullable<Integer>: Option<i32>;
    Nullable<BigInt>: Option<i64>;
    Nullable<Text>: Option<String>, Option<PartMap>, Option<SearchDetails>, Option<Strings>;
}

/// Defines a row whose fields are stored through [`Bind`].
macro_rules! row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        pub struct $row {
            $(
                $(#[$field_meta])*
                #[diesel(serialize_as = crate::types::Bind<$type>)]
                pub $field: $type,
            )*
        }
    };
}

pub(crate) use row;

/// Makes a type loadable as a field of a row. For lists diesel does so itself.
macro_rules! field {
    ($sql:ty: $($type:ty),*) => {
        $(
            impl Column for $type {
                type Sql = $sql;
            }

            impl<DB> Queryable<Stored<$type>, DB> for $type
            where
                DB: Backend,
                Self: FromSql<Stored<$type>, DB>,
            {
                type Row = Self;

                fn build(row: Self) -> deserialize::Result<Self> {
                    Ok(row)
                }
            }
        )*
    };
}

/// SQL type of ids: `uuid` on PostgreSQL, 16 bytes on SQLite.
#[derive(SqlType, QueryId)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951))]
#[diesel(sqlite_type(name = "Binary"))]
pub struct DbUuid;

macro_rules! stored_as_uuid {
    ($($type:ty),* $(,)?) => {
        field!(DbUuid: $($type),*);
        $(
            impl ToSql<Stored<$type>, Pg> for $type {
                fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
                    out.write_all(Uuid::from(*self).as_bytes())?;
                    Ok(IsNull::No)
                }
            }

            impl FromSql<Stored<$type>, Pg> for $type {
                fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
                    Ok(Uuid::from_slice(value.as_bytes())?.into())
                }
            }

            impl ToSql<Stored<$type>, Sqlite> for $type {
                fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
                    out.set_value(Uuid::from(*self).as_bytes().to_vec());
                    Ok(IsNull::No)
                }
            }

            impl FromSql<Stored<$type>, Sqlite> for $type {
                fn from_sql(value: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
                    let bytes = <Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value)?;
                    Ok(Uuid::from_slice(&bytes)?.into())
                }
            }
        )*
    };
}

stored_as_uuid!(
    ApiKeyId,
    AuditEntryId,
    BalanceEntryId,
    CaptureId,
    CrawlId,
    DeliveryId,
    DocId,
    FeedbackId,
    Generation,
    OrganizationId,
    OutboxWork,
    PassageId,
    ResearchId,
    SearchId,
    SessionId,
    SyncId,
    Uuid,
    WebhookId,
);

field!(BigInt: Timestamp);

/// Times can be aggregated, by `min` and `max`.
impl diesel::sql_types::SqlOrd for Stored<Timestamp> {}

impl ToSql<Stored<Timestamp>, Pg> for Timestamp {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<BigInt, Pg>::to_sql(&self.as_millis(), &mut out.reborrow())
    }
}

impl ToSql<Stored<Timestamp>, Sqlite> for Timestamp {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.as_millis());
        Ok(IsNull::No)
    }
}

impl<DB> FromSql<Stored<Timestamp>, DB> for Timestamp
where
    DB: Backend,
    i64: FromSql<BigInt, DB>,
{
    fn from_sql(value: DB::RawValue<'_>) -> deserialize::Result<Self> {
        Ok(Timestamp::from_millis(i64::from_sql(value)?))
    }
}

/// Stores enums by name. An unknown name is an error, [`StoreError::UnknownValue`](crate::StoreError::UnknownValue).
macro_rules! stored_as_name {
    ($($type:ty),* $(,)?) => {
        field!(Text: $($type),*);
        $(
            impl<DB> ToSql<Stored<$type>, DB> for $type
            where
                DB: Backend,
                str: ToSql<Text, DB>,
            {
                fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
                    self.as_str().to_sql(out)
                }
            }

            impl<DB> FromSql<Stored<$type>, DB> for $type
            where
                DB: Backend,
                String: FromSql<Text, DB>,
            {
                fn from_sql(value: DB::RawValue<'_>) -> deserialize::Result<Self> {
                    Ok(String::from_sql(value)?.parse()?)
                }
            }
        )*
    };
}

stored_as_name!(
    AuditAction,
    BalanceReason,
    CaptureFormat,
    CrawlStatus,
    CrawlUrlKind,
    CrawlUrlState,
    FeedbackEvent,
    FileOutcome,
    IndexName,
    ResearchStatus,
    ResearchStop,
    RunMode,
    RunState,
);

/// Stores a type in a text column. `$write` formats the text, `$read` parses it.
macro_rules! stored_as_text {
    ($sql:ty, $type:ty, $write:expr, $read:expr) => {
        impl ToSql<$sql, Pg> for $type {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
                let text: String = $write(self)?;
                out.write_all(text.as_bytes())?;
                Ok(IsNull::No)
            }
        }

        impl ToSql<$sql, Sqlite> for $type {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
                let text: String = $write(self)?;
                out.set_value(text);
                Ok(IsNull::No)
            }
        }

        impl<DB> FromSql<$sql, DB> for $type
        where
            DB: Backend,
            String: FromSql<Text, DB>,
        {
            fn from_sql(value: DB::RawValue<'_>) -> deserialize::Result<Self> {
                let text = <String as FromSql<Text, DB>>::from_sql(value)?;
                $read(&text)
            }
        }
    };
}

/// Formats scopes as names separated by spaces.
fn write_scopes(scopes: &[Scope]) -> Result<String, std::convert::Infallible> {
    Ok(scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" "))
}

/// Reads the known scopes. A newer server, which has been rolled back since, may have stored others.
fn read_scopes(text: &str) -> deserialize::Result<Vec<Scope>> {
    let known = |name: &str| match name.parse() {
        Ok(scope) => Some(scope),
        Err(_) => {
            tracing::warn!(scope = name, "ignoring an unknown scope of a stored key");
            None
        }
    };
    Ok(text.split_whitespace().filter_map(known).collect())
}

/// Formats ids as a JSON array of strings.
fn write_doc_ids(doc_ids: &[DocId]) -> serde_json::Result<String> {
    serde_json::to_string(&doc_ids.iter().map(DocId::to_string).collect::<Vec<_>>())
}

fn read_doc_ids(text: &str) -> deserialize::Result<Vec<DocId>> {
    let doc_ids: Vec<&str> = serde_json::from_str(text)?;
    Ok(doc_ids.into_iter().map(str::parse).collect::<Result<_, _>>()?)
}

impl Column for Vec<Scope> {
    type Sql = Text;
}

impl Column for Vec<DocId> {
    type Sql = Text;
}

stored_as_text!(Stored<Vec<Scope>>, Vec<Scope>, write_scopes, read_scopes);
stored_as_text!(Stored<Vec<DocId>>, Vec<DocId>, write_doc_ids, read_doc_ids);

/// List of strings, stored as a JSON array in a text column on both backends.
#[derive(AsExpression, Clone, Debug, Default, Eq, FromSqlRow, PartialEq)]
#[diesel(sql_type = Text)]
pub struct Strings(pub Vec<String>);

/// JSON object, stored in a text column on both backends.
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

stored_as_text!(Text, Strings, |strings: &Strings| serde_json::to_string(&strings.0), |text: &str| Ok(Strings(
    serde_json::from_str(text)?
)));
stored_as_text!(Text, Details, |details: &Details| serde_json::to_string(&details.0), |text: &str| Ok(Details(
    serde_json::from_str(text)?
)));
stored_as_text!(
    Text,
    PartMap,
    |map: &PartMap| Ok::<_, std::convert::Infallible>(map.to_json().to_string()),
    |text: &str| { PartMap::from_json(text).ok_or_else(|| "malformed directory of parts".into()) }
);
stored_as_text!(Text, SearchDetails, SearchDetails::to_json, SearchDetails::from_json);
