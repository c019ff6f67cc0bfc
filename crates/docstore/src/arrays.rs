//! Inserts of many rows on PostgreSQL, with one array per column.
//!
//! A list of values has a parameter per value, and the server parses and plans all of them for each statement.

use diesel::pg::Pg;
use diesel::query_builder::{BoxedSqlQuery, SqlQuery};
use model::{Collection, OrganizationId};

use crate::part_map::PartMap;
use crate::types::{Bind, Column, Strings};

/// Row that is inserted in bulk.
pub trait ArrayRow: Sized {
    type Table;

    /// Returns the statement that inserts the rows.
    fn insert(table: Self::Table, rows: Vec<Self>) -> BoxedSqlQuery<'static, Pg, SqlQuery>;
}

/// Field as an element of an array.
pub trait Element {
    type Bound;

    fn bound(self) -> Self::Bound;
}

impl<T: Column> Element for T {
    type Bound = Bind<T>;

    fn bound(self) -> Bind<T> {
        Bind(self)
    }
}

impl<T: Column> Element for Option<T> {
    type Bound = Option<Bind<T>>;

    fn bound(self) -> Option<Bind<T>> {
        self.map(Bind)
    }
}

impl Element for Collection {
    type Bound = Option<Bind<OrganizationId>>;

    fn bound(self) -> Option<Bind<OrganizationId>> {
        self.owner().map(Bind)
    }
}

/// Implements [`Element`] for types that diesel binds itself.
macro_rules! plain {
    ($($type:ty),*) => {
        $(
            impl Element for $type {
                type Bound = Self;

                fn bound(self) -> Self {
                    self
                }
            }
        )*
    };
}

plain!(bool, i32, String, Option<String>, Strings, Option<PartMap>);

/// Implements [`ArrayRow`] for a row of a table, given its fields by column.
macro_rules! array_row {
    ($row:ident => $table:ident { $($column:ident: $field:ident),* $(,)? }) => {
        impl crate::arrays::ArrayRow for $row {
            type Table = $table::table;

            fn insert(
                _: Self::Table,
                rows: Vec<Self>,
            ) -> diesel::query_builder::BoxedSqlQuery<'static, diesel::pg::Pg, diesel::query_builder::SqlQuery> {
                $(let mut $column = Vec::with_capacity(rows.len());)*
                for row in rows {
                    $($column.push(crate::arrays::Element::bound(row.$field));)*
                }
                let columns = [$(stringify!($column)),*];
                diesel::sql_query(crate::arrays::statement(stringify!($table), &columns))
                    .into_boxed()
                    $(.bind::<
                        diesel::sql_types::Array<<$table::$column as diesel::Expression>::SqlType>,
                        _,
                    >($column))*
            }
        }
    };
}

pub(crate) use array_row;

/// Returns the text of the statement.
pub fn statement(table: &str, columns: &[&str]) -> String {
    let parameters: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
    format!("INSERT INTO {table} ({}) SELECT * FROM unnest({})", columns.join(", "), parameters.join(", "))
}

#[cfg(test)]
mod tests {
    use super::statement;

    #[test]
    fn statement_has_a_parameter_per_column() {
        assert_eq!(statement("t", &["a", "b"]), "INSERT INTO t (a, b) SELECT * FROM unnest($1, $2)");
    }
}
