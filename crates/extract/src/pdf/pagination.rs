//! Headers and footers that the file marks as such (artifacts of pagination, ISO 32000-1, 14.8.2.2.2).

use pdf_oxide::extractors::text::{ArtifactType, PaginationSubtype};
use pdf_oxide::layout::TextSpan;

/// Maximum distance of the baselines of text that may be on one line, in ems.
const LINE: f32 = 0.7;

/// Baselines of the lines that are headers or footers alone, in points.
#[derive(Clone, Debug, Default)]
pub(super) struct Pagination {
    pub headers: Vec<f32>,
    pub footers: Vec<f32>,
}

impl Pagination {
    /// Finds the marked lines of a page. The library also takes repeated text for an artifact, of another type than these.
    pub(super) fn of(spans: &[TextSpan]) -> Self {
        let mut headers = Vec::new();
        let mut footers = Vec::new();
        let mut others = Vec::new();
        for span in spans.iter().filter(|span| !span.text.trim().is_empty() && span.bbox.y.is_finite()) {
            match &span.artifact_type {
                Some(ArtifactType::Pagination(PaginationSubtype::Header)) => headers.push(span),
                Some(ArtifactType::Pagination(PaginationSubtype::Footer)) => footers.push(span),
                // Page numbers have no type of their own; repeated text of the body has this one too.
                Some(ArtifactType::Pagination(_)) => {}
                _ => others.push(span.bbox.y),
            }
        }
        others.sort_by(f32::total_cmp);
        let is_alone = |span: &&TextSpan| {
            let reach = span.font_size.abs() * LINE;
            let above = others.partition_point(|y| *y < span.bbox.y - reach);
            others.get(above).is_none_or(|y| *y > span.bbox.y + reach)
        };
        let baselines = |spans: Vec<&TextSpan>| spans.into_iter().filter(is_alone).map(|span| span.bbox.y).collect();
        Self { headers: baselines(headers), footers: baselines(footers) }
    }
}
