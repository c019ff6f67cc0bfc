use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use super::Conn;
use crate::error::Result;
use crate::rows::ModelCalibration;
use crate::schema::model_calibrations;

pub async fn find_calibration(connection: &mut Conn, model: String, version: i32) -> Result<Option<ModelCalibration>> {
    let found = model_calibrations::table.find((model, version)).select(ModelCalibration::as_select());
    Ok(found.first(connection).await.optional()?)
}

pub async fn store_calibration(connection: &mut Conn, calibration: ModelCalibration) -> Result<()> {
    diesel::insert_into(model_calibrations::table)
        .values(calibration)
        .on_conflict((model_calibrations::model, model_calibrations::version))
        .do_nothing()
        .execute(connection)
        .await?;
    Ok(())
}
