//! Lists of ids in conditions on SQLite.

use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::{Bool, Text};
use diesel::sqlite::Sqlite;
use uuid::Uuid;

/// Condition that a column of ids has one of these values.
///
/// The list is one bound value. With a value for each id, lists of other lengths would be other statements, which diesel prepares anew
/// each time: that takes longer than looking up ten ids.
#[derive(Clone, Debug, QueryId)]
pub struct IsOneOf<C> {
    column: C,
    /// JSON array of the ids in hexadecimal digits.
    ids: String,
}

impl<C> IsOneOf<C> {
    pub(crate) fn new(column: C, ids: impl IntoIterator<Item = impl Into<Uuid>>) -> Self {
        let mut list = String::from("[");
        for id in ids {
            let mut digits = Uuid::encode_buffer();
            list.push_str(if list.len() > 1 { ",\"" } else { "\"" });
            list.push_str(id.into().as_simple().encode_lower(&mut digits));
            list.push('"');
        }
        list.push(']');
        Self { column, ids: list }
    }
}

impl<C> Expression for IsOneOf<C> {
    type SqlType = Bool;
}

impl<C: QueryFragment<Sqlite>> QueryFragment<Sqlite> for IsOneOf<C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" IN (SELECT unhex(value) FROM json_each(");
        out.push_bind_param::<Text, _>(&self.ids)?;
        out.push_sql("))");
        Ok(())
    }
}

impl<C, QS> AppearsOnTable<QS> for IsOneOf<C> where C: AppearsOnTable<QS> {}

impl<C, QS> SelectableExpression<QS> for IsOneOf<C> where C: SelectableExpression<QS> {}

impl<C, G> ValidGrouping<G> for IsOneOf<C> {
    type IsAggregate = is_aggregate::No;
}
