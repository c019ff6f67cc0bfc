use std::collections::HashMap;
use std::ops::Range;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureId, OrganizationId, PassageId};

use super::Conn;
use crate::error::Result;
use crate::part_map::PartMap;
use crate::parts::{LoadedPart, NewParts, TermBucket, WantedParts};
use crate::rows::{Capture, CapturePart, CaptureTerms, Passage};
use crate::schema::{capture_parts, capture_terms, captures, passages};
use crate::types::{Bind, bind_all};

/// Parts in one insert: about two megabytes of a long content, so that its copy is never whole.
const PARTS_PER_INSERT: usize = 64;

/// Inserts the parts of a content, except the first, which is in the row of its capture, and the words of all.
pub async fn insert_parts(connection: &mut Conn, capture: &Capture, new: NewParts) -> Result<()> {
    let (capture_id, Some(map)) = (capture.capture_id, &capture.parts) else { return Ok(()) };
    let numbers: Vec<usize> = (1..map.count()).collect();
    for chunk in numbers.chunks(PARTS_PER_INSERT) {
        let row = |part: &usize| {
            let content = new.content.get(map.start(*part).byte..map.start(part + 1).byte).unwrap_or_default();
            CapturePart { capture_id, part: column(*part), content: content.to_owned() }
        };
        let rows: Vec<CapturePart> = chunk.iter().map(row).collect();
        insert_rows!(connection, capture_parts::table, rows)?;
    }
    let filled = new.terms.iter().enumerate().filter(|(_, lists)| !lists.is_empty());
    let rows: Vec<CaptureTerms> = filled
        .map(|(bucket, lists)| CaptureTerms { capture_id, bucket: column(bucket), lists: lists.clone() })
        .collect();
    insert_rows!(connection, capture_terms::table, rows)?;
    Ok(())
}

pub async fn load_parts(
    connection: &mut Conn,
    organization_id: OrganizationId,
    wanted: Vec<WantedParts>,
) -> Result<Vec<LoadedPart>> {
    let maps = readable(connection, organization_id, wanted.iter().map(|one| one.capture_id)).await?;
    let mut loaded = Vec::new();
    for WantedParts { capture_id, parts } in wanted {
        let Some(map) = maps.get(&capture_id) else { continue };
        let rows: Vec<(i32, String)> = capture_parts::table
            .inner_join(captures::table.on(captures::capture_id.eq(capture_parts::capture_id)))
            .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
            .filter(capture_parts::capture_id.eq(Bind(capture_id)))
            .filter(capture_parts::part.eq_any(parts.iter().map(|part| column(*part)).collect::<Vec<_>>()))
            .order(capture_parts::part)
            .select((capture_parts::part, capture_parts::content))
            .load(connection)
            .await?;
        let mut contents: HashMap<usize, String> =
            rows.into_iter().map(|(part, content)| (usize::try_from(part).unwrap_or(0), content)).collect();
        if parts.contains(&0) {
            let first: Option<String> = captures::table
                .find(Bind(capture_id))
                .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
                .select(captures::content)
                .first(connection)
                .await
                .optional()?;
            contents.extend(first.map(|content| (0, content)));
        }
        for run in runs(parts.into_iter().filter(|part| contents.contains_key(part)).collect()) {
            let mut found = passages_in(connection, capture_id, map, run.clone()).await?.into_iter().peekable();
            for part in run {
                let end = map.start(part + 1).passage;
                let mut passages = Vec::new();
                while let Some(passage) =
                    found.next_if(|passage| usize::try_from(passage.ordinal).is_ok_and(|n| n < end))
                {
                    passages.push(passage);
                }
                let content = contents.remove(&part).unwrap_or_default();
                loaded.push(LoadedPart { capture_id, part, content, passages });
            }
        }
    }
    Ok(loaded)
}

/// Returns the directories of those captures that the organization may read.
async fn readable(
    connection: &mut Conn,
    organization_id: OrganizationId,
    capture_ids: impl Iterator<Item = CaptureId>,
) -> Result<HashMap<CaptureId, PartMap>> {
    let rows: Vec<(CaptureId, Option<PartMap>)> = captures::table
        .filter(captures::capture_id.eq_any(bind_all(capture_ids)))
        .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
        .select((captures::capture_id, captures::parts))
        .load(connection)
        .await?;
    Ok(rows.into_iter().filter_map(|(capture_id, map)| Some((capture_id, map?))).collect())
}

/// Returns the passages of some parts of a content, in order; of a content that is not divided, all.
pub async fn passages_of(connection: &mut Conn, capture: &Capture, parts: Range<usize>) -> Result<Vec<Passage>> {
    match &capture.parts {
        Some(map) => passages_in(connection, capture.capture_id, map, parts).await,
        None => list_passages(connection, capture.capture_id).await,
    }
}

async fn passages_in(
    connection: &mut Conn,
    capture_id: CaptureId,
    map: &PartMap,
    parts: Range<usize>,
) -> Result<Vec<Passage>> {
    Ok(passages::table
        .filter(passages::capture_id.eq(Bind(capture_id)))
        .filter(passages::ordinal.ge(column(map.start(parts.start).passage)))
        .filter(passages::ordinal.lt(column(map.start(parts.end).passage)))
        .order(passages::ordinal)
        .select(Passage::as_select())
        .load(connection)
        .await?)
}

pub async fn list_passages(connection: &mut Conn, capture_id: CaptureId) -> Result<Vec<Passage>> {
    Ok(passages::table
        .filter(passages::capture_id.eq(Bind(capture_id)))
        .order(passages::ordinal)
        .select(Passage::as_select())
        .load(connection)
        .await?)
}

pub async fn find_passages(
    connection: &mut Conn,
    organization_id: OrganizationId,
    capture_id: CaptureId,
    passage_ids: Vec<PassageId>,
) -> Result<Vec<Passage>> {
    Ok(passages::table
        .inner_join(captures::table.on(captures::capture_id.eq(passages::capture_id)))
        .filter(passages::capture_id.eq(Bind(capture_id)))
        .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
        .filter(passages::passage_id.eq_any(bind_all(passage_ids)))
        .order(passages::ordinal)
        .select(Passage::as_select())
        .load(connection)
        .await?)
}

pub async fn load_terms(
    connection: &mut Conn,
    organization_id: OrganizationId,
    wanted: Vec<(CaptureId, Vec<usize>)>,
) -> Result<Vec<TermBucket>> {
    let maps = readable(connection, organization_id, wanted.iter().map(|(capture_id, _)| *capture_id)).await?;
    let mut loaded = Vec::new();
    for (capture_id, buckets) in wanted.into_iter().filter(|(capture_id, _)| maps.contains_key(capture_id)) {
        let rows: Vec<(i32, Vec<u8>)> = capture_terms::table
            .inner_join(captures::table.on(captures::capture_id.eq(capture_terms::capture_id)))
            .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
            .filter(capture_terms::capture_id.eq(Bind(capture_id)))
            .filter(capture_terms::bucket.eq_any(buckets.iter().map(|bucket| column(*bucket)).collect::<Vec<_>>()))
            .select((capture_terms::bucket, capture_terms::lists))
            .load(connection)
            .await?;
        let bucket = |(bucket, lists)| TermBucket { capture_id, bucket: usize::try_from(bucket).unwrap_or(0), lists };
        loaded.extend(rows.into_iter().map(bucket));
    }
    Ok(loaded)
}

pub async fn load_rest(connection: &mut Conn, capture_id: CaptureId) -> Result<String> {
    let mut content = String::new();
    let mut next = 1;
    loop {
        let parts: Vec<String> = capture_parts::table
            .filter(capture_parts::capture_id.eq(Bind(capture_id)))
            .filter(capture_parts::part.ge(column(next)))
            .order(capture_parts::part)
            .limit(PARTS_PER_INSERT as i64)
            .select(capture_parts::content)
            .load(connection)
            .await?;
        if parts.is_empty() {
            return Ok(content);
        }
        next += parts.len();
        parts.iter().for_each(|part| content.push_str(part));
    }
}

pub async fn divide_capture(connection: &mut Conn, capture_id: CaptureId, map: PartMap, new: NewParts) -> Result<()> {
    let stored: Option<Capture> = lock_rows!(captures::table.find(Bind(capture_id)).select(Capture::as_select()))
        .first(connection)
        .await
        .optional()?;
    let Some(stored) = stored else { return Ok(()) };
    let first = new.content.get(..map.start(1).byte).unwrap_or_default().to_owned();
    diesel::delete(capture_parts::table.filter(capture_parts::capture_id.eq(Bind(capture_id))))
        .execute(connection)
        .await?;
    diesel::delete(capture_terms::table.filter(capture_terms::capture_id.eq(Bind(capture_id))))
        .execute(connection)
        .await?;
    diesel::update(captures::table.find(Bind(capture_id)))
        .set((captures::content.eq(first), captures::parts.eq(Some(map.clone()))))
        .execute(connection)
        .await?;
    insert_parts(connection, &Capture { content: String::new(), parts: Some(map), ..stored }, new).await
}

/// Groups numbers into runs of neighbours.
fn runs(mut numbers: Vec<usize>) -> Vec<Range<usize>> {
    numbers.sort_unstable();
    numbers.dedup();
    let mut runs: Vec<Range<usize>> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}

pub fn column(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
