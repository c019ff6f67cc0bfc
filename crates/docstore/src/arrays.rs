//! Inserts of many rows on PostgreSQL, with one array per column.
//!
//! A list of values has a parameter per value, and the server parses and plans all of them for each statement.

use diesel::pg::Pg;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use model::{Collection, OrganizationId};

use crate::part_map::PartMap;
use crate::search_details::SearchDetails;
use crate::types::{Bind, Column, Strings};

/// Row that is inserted in bulk.
pub trait ArrayRow: Sized {
    type Table;

    /// Returns the statement that inserts the rows.
    fn insert(table: Self::Table, rows: Vec<Self>) -> BulkInsert;
}

/// Values of one column.
pub type BoundColumn = Box<dyn QueryFragment<Pg> + Send>;

/// Insert of any number of rows. diesel keeps it prepared, since its text does not depend on their number; statements with a list of
/// values and those of `sql_query` cost a round trip more, every time.
pub struct BulkInsert {
    table: &'static str,
    columns: Vec<(&'static str, BoundColumn)>,
    skips_existing: bool,
}

impl BulkInsert {
    pub fn new(table: &'static str, columns: Vec<(&'static str, BoundColumn)>) -> Self {
        Self { table, columns, skips_existing: false }
    }

    /// Skips existing rows.
    pub fn on_conflict_do_nothing(self) -> Self {
        Self { skips_existing: true, ..self }
    }
}

impl QueryId for BulkInsert {
    // Known by its text.
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl QueryFragment<Pg> for BulkInsert {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("INSERT INTO ");
        out.push_sql(self.table);
        for (at, (name, _)) in self.columns.iter().enumerate() {
            out.push_sql(if at == 0 { " (" } else { ", " });
            out.push_sql(name);
        }
        out.push_sql(") SELECT * FROM unnest");
        for (at, (_, values)) in self.columns.iter().enumerate() {
            out.push_sql(if at == 0 { "(" } else { ", " });
            values.walk_ast(out.reborrow())?;
        }
        out.push_sql(")");
        if self.skips_existing {
            out.push_sql(" ON CONFLICT DO NOTHING");
        }
        Ok(())
    }
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

plain!(bool, i32, i64, String, Option<String>, Strings, Option<PartMap>, Option<SearchDetails>);

/// Implements [`ArrayRow`] for a row of a table, given its fields by column.
macro_rules! array_row {
    ($row:ident => $table:ident { $($column:ident: $field:ident),* $(,)? }) => {
        impl crate::arrays::ArrayRow for $row {
            type Table = $table::table;

            fn insert(_: Self::Table, rows: Vec<Self>) -> crate::arrays::BulkInsert {
                $(let mut $column = Vec::with_capacity(rows.len());)*
                for row in rows {
                    $($column.push(crate::arrays::Element::bound(row.$field));)*
                }
                crate::arrays::BulkInsert::new(stringify!($table), vec![$({
                    type Sql = diesel::sql_types::Array<<$table::$column as diesel::Expression>::SqlType>;
                    let values = diesel::IntoSql::into_sql::<Sql>($column);
                    (stringify!($column), Box::new(values) as crate::arrays::BoundColumn)
                }),*])
            }
        }
    };
}

pub(crate) use array_row;

#[cfg(test)]
mod tests {
    use diesel::sql_types::{Array, Text};
    use diesel::{IntoSql, debug_query};

    use super::*;

    #[test]
    fn statement_has_a_parameter_per_column() {
        let column = |values: [&'static str; 2]| Box::new(values.to_vec().into_sql::<Array<Text>>()) as BoundColumn;
        let insert = BulkInsert::new("t", vec![("a", column(["1", "2"])), ("b", column(["3", "4"]))]);
        let text = "INSERT INTO t (a, b) SELECT * FROM unnest($1, $2)";
        assert_eq!(
            debug_query::<Pg, _>(&insert).to_string(),
            format!("{text} -- binds: [[\"1\", \"2\"], [\"3\", \"4\"]]")
        );
        assert!(insert.is_safe_to_cache_prepared(&Pg).expect("a statement"));
        let insert = insert.on_conflict_do_nothing();
        assert!(debug_query::<Pg, _>(&insert).to_string().starts_with(&format!("{text} ON CONFLICT DO NOTHING --")));
    }
}
