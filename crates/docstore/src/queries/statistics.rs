use super::Conn;
use crate::error::Result;

pub async fn refresh_statistics(connection: &mut Conn) -> Result<()> {
    super::refresh_statistics(connection).await
}
