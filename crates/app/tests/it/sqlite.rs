//! The database of a test, without the docstore.

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use test_support::TestApp;

/// Connects to the database, and waits for others that write.
pub fn connect(world: &TestApp) -> SqliteConnection {
    let path = world.database.folder().join("test.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA busy_timeout = 10000").unwrap();
    connection
}
