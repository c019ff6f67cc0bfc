use std::collections::{BTreeMap, HashMap};
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
use crate::types::Bind;

/// Parts in one insert: about two megabytes of a long content, so that its copy is never whole.
const PARTS_PER_INSERT: usize = 64;
/// Conditions in one query. SQLite accepts expressions that are nested up to 1,000 deep, and each alternative nests those before it.
const CONDITIONS_PER_QUERY: usize = 64;

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
        insert_bulk!(connection, capture_parts::table, rows)?;
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
    let wanted: Vec<WantedParts> = wanted.into_iter().filter(|one| maps.contains_key(&one.capture_id)).collect();
    let mut loaded = Vec::new();
    for wanted in wanted.chunks(CONDITIONS_PER_QUERY) {
        let contents = contents_of(connection, organization_id, wanted).await?;
        let maps = maps.iter().map(|(capture_id, map)| (*capture_id, map)).collect();
        let mut passages: HashMap<(CaptureId, usize), Vec<Passage>> = HashMap::new();
        for passage in passages_in(connection, &maps, wanted).await? {
            let Some(map) = maps.get(&passage.capture_id) else { continue };
            let part = map.part_of_passage(usize::try_from(passage.ordinal).unwrap_or(0));
            passages.entry((passage.capture_id, part)).or_default().push(passage);
        }
        let part = |((capture_id, part), content)| {
            let passages = passages.remove(&(capture_id, part)).unwrap_or_default();
            LoadedPart { capture_id, part, content, passages }
        };
        loaded.extend(contents.into_iter().map(part));
    }
    Ok(loaded)
}

/// Returns the text of parts, in order of captures and parts.
async fn contents_of(
    connection: &mut Conn,
    organization_id: OrganizationId,
    wanted: &[WantedParts],
) -> Result<BTreeMap<(CaptureId, usize), String>> {
    let is_readable = captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id)));
    let mut query = capture_parts::table
        .inner_join(captures::table.on(captures::capture_id.eq(capture_parts::capture_id)))
        .select(CapturePart::as_select())
        .into_boxed();
    for one in wanted {
        let parts: Vec<i32> = one.parts.iter().map(|part| column(*part)).collect();
        query =
            query.or_filter(capture_parts::capture_id.eq(Bind(one.capture_id)).and(capture_parts::part.eq_any(parts)));
    }
    let later: Vec<CapturePart> = query.filter(is_readable.clone()).load(connection).await?;
    let number = |part: i32| usize::try_from(part).unwrap_or(0);
    let mut contents: BTreeMap<(CaptureId, usize), String> =
        later.into_iter().map(|row| ((row.capture_id, number(row.part)), row.content)).collect();
    let first: Vec<CaptureId> = wanted.iter().filter(|one| one.parts.contains(&0)).map(|one| one.capture_id).collect();
    if !first.is_empty() {
        let rows: Vec<(CaptureId, String)> = captures::table
            .filter(is_one_of!(captures::capture_id, first))
            .filter(is_readable)
            .select((captures::capture_id, captures::content))
            .load(connection)
            .await?;
        contents.extend(rows.into_iter().map(|(capture_id, content)| ((capture_id, 0), content)));
    }
    Ok(contents)
}

/// Returns the directories of those captures that the organization may read.
async fn readable(
    connection: &mut Conn,
    organization_id: OrganizationId,
    capture_ids: impl Iterator<Item = CaptureId>,
) -> Result<HashMap<CaptureId, PartMap>> {
    let rows: Vec<(CaptureId, Option<PartMap>)> = captures::table
        .filter(is_one_of!(captures::capture_id, capture_ids))
        .filter(captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id))))
        .select((captures::capture_id, captures::parts))
        .load(connection)
        .await?;
    Ok(rows.into_iter().filter_map(|(capture_id, map)| Some((capture_id, map?))).collect())
}

/// Returns the passages of the parts, in order of captures and ordinals.
pub async fn passages_in(
    connection: &mut Conn,
    maps: &HashMap<CaptureId, &PartMap>,
    wanted: &[WantedParts],
) -> Result<Vec<Passage>> {
    let ranges =
        wanted.iter().filter_map(|one| Some((one.capture_id, maps.get(&one.capture_id)?, runs(one.parts.clone()))));
    let ranges: Vec<(CaptureId, Range<usize>)> = ranges
        .flat_map(|(capture_id, map, runs)| {
            runs.into_iter().map(move |run| (capture_id, map.start(run.start).passage..map.start(run.end).passage))
        })
        .collect();
    let mut found: Vec<Passage> = Vec::new();
    for chunk in ranges.chunks(CONDITIONS_PER_QUERY) {
        let mut query = passages::table.select(Passage::as_select()).into_boxed();
        for (capture_id, ordinals) in chunk {
            let condition = passages::capture_id
                .eq(Bind(*capture_id))
                .and(passages::ordinal.ge(column(ordinals.start)))
                .and(passages::ordinal.lt(column(ordinals.end)));
            query = query.or_filter(condition);
        }
        let rows: Vec<Passage> = query.load(connection).await?;
        found.extend(rows);
    }
    found.sort_unstable_by_key(|passage| (passage.capture_id, passage.ordinal));
    // Ranges of one capture in two queries may overlap.
    found.dedup_by_key(|passage| (passage.capture_id, passage.ordinal));
    Ok(found)
}

pub async fn list_passages(connection: &mut Conn, capture_id: CaptureId) -> Result<Vec<Passage>> {
    list_first_passages(connection, capture_id, i64::MAX).await
}

pub async fn list_first_passages(connection: &mut Conn, capture_id: CaptureId, limit: i64) -> Result<Vec<Passage>> {
    Ok(passages::table
        .filter(passages::capture_id.eq(Bind(capture_id)))
        .order(passages::ordinal)
        .limit(limit)
        .select(Passage::as_select())
        .load(connection)
        .await?)
}

pub async fn list_leading_passages(connection: &mut Conn, wanted: Vec<(CaptureId, usize)>) -> Result<Vec<Passage>> {
    let (whole, limited): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|(_, end)| *end == usize::MAX);
    let whole = whole.into_iter().map(|(capture_id, _)| capture_id);
    let query = passages::table.filter(is_one_of!(passages::capture_id, whole)).into_boxed();
    let query = limited.into_iter().fold(query, |query, (capture_id, end)| {
        query.or_filter(passages::capture_id.eq(Bind(capture_id)).and(passages::ordinal.lt(column(end))))
    });
    Ok(query.order((passages::capture_id, passages::ordinal)).select(Passage::as_select()).load(connection).await?)
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
        .filter(is_one_of!(passages::passage_id, passage_ids))
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
    let wanted: Vec<_> = wanted.into_iter().filter(|(capture_id, _)| maps.contains_key(capture_id)).collect();
    let mut loaded = Vec::new();
    for wanted in wanted.chunks(CONDITIONS_PER_QUERY) {
        let mut query = capture_terms::table
            .inner_join(captures::table.on(captures::capture_id.eq(capture_terms::capture_id)))
            .select(CaptureTerms::as_select())
            .into_boxed();
        for (capture_id, buckets) in wanted {
            let buckets: Vec<i32> = buckets.iter().map(|bucket| column(*bucket)).collect();
            let condition = capture_terms::capture_id.eq(Bind(*capture_id)).and(capture_terms::bucket.eq_any(buckets));
            query = query.or_filter(condition);
        }
        let is_readable = captures::organization_id.is_null().or(captures::organization_id.eq(Bind(organization_id)));
        let rows: Vec<CaptureTerms> = query.filter(is_readable).load(connection).await?;
        loaded.extend(rows.into_iter().map(|CaptureTerms { capture_id, bucket, lists }| TermBucket {
            capture_id,
            bucket: usize::try_from(bucket).unwrap_or(0),
            lists,
        }));
    }
    Ok(loaded)
}

pub async fn load_rest(connection: &mut Conn, capture_id: CaptureId) -> Result<String> {
    load_rest_to(connection, capture_id, usize::MAX).await
}

pub async fn load_rest_to(connection: &mut Conn, capture_id: CaptureId, last: usize) -> Result<String> {
    let mut content = String::new();
    let mut next = 1;
    loop {
        let parts: Vec<String> = capture_parts::table
            .filter(capture_parts::capture_id.eq(Bind(capture_id)))
            .filter(capture_parts::part.ge(column(next)))
            .filter(capture_parts::part.le(column(last)))
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
