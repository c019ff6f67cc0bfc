//! Workbooks. `office_oxide` gives what stands beside the cells: charts, text boxes, comments, headers and footers. It
//! cuts long sheets and rounds numbers, so the cells are written here.

use office_oxide::Document;
use office_oxide::ir::{Element, InlineContent, Paragraph, Section, TextSpan};
use office_oxide::xlsx::worksheet::Worksheet;

use super::grid::Room;
use super::xls_formats::Formats;
use super::xlsx::Workbook;
use super::{append, render, tidied, xls};
use crate::{blocks, literal, names};

/// Writes each sheet under a heading with its name. The only sheet of a workbook gets a heading if its name is not a
/// default.
pub(super) fn write(document: &Document, bytes: &[u8], sections: Vec<Section>) -> String {
    let mut tables = Tables::new(document, bytes);
    let mut bodies: Vec<(Option<String>, String)> = Vec::new();
    for (index, mut section) in sections.into_iter().enumerate() {
        let title = section.title.take();
        let body = match tables.sheet(index, title.as_deref()) {
            Some(sheet) => sheet.with(section),
            None => render(section),
        };
        if !body.is_empty() {
            bodies.push((title.and_then(|title| names::one_line(&title)), body));
        }
    }
    let alone = bodies.len() == 1;
    let mut markdown = String::new();
    for (name, body) in bodies {
        let label = name.filter(|name| !alone || !is_default_name(name));
        if let Some(name) = label {
            let heading = blocks::heading(2, &format!("Sheet: {}", literal::block(&name)));
            append(&mut markdown, &(heading + "\n"));
        }
        append(&mut markdown, &body);
    }
    markdown
}

/// Writer of the cells of a workbook.
struct Tables<'d> {
    document: &'d Document,
    workbook: Option<Workbook<'d>>,
    formats: Option<Formats>,
    room: Room,
}

/// Cells of a sheet, and what the section has besides.
struct Sheet {
    table: String,
    /// Number of paragraphs before the cells: texts of a chart.
    charts: usize,
    notices: Vec<String>,
    /// Set if paragraphs behind the cells are none of them.
    has_paragraphs: bool,
}

impl<'d> Tables<'d> {
    fn new(document: &'d Document, bytes: &[u8]) -> Self {
        let formats = document.as_xls().and_then(|_| Formats::read(bytes));
        let workbook = document.as_xlsx().map(|document| Workbook::new(document, bytes));
        Self { document, workbook, formats, room: Room::of_workbook() }
    }

    /// Returns the sheet with the index. Returns `None` for sections that are not sheets, such as the charts.
    fn sheet(&mut self, index: usize, title: Option<&str>) -> Option<Sheet> {
        if let Some((workbook, document)) = self.workbook.as_ref().zip(self.document.as_xlsx()) {
            let sheet = document.worksheets.get(index).filter(|sheet| Some(sheet.name.as_str()) == title)?;
            let table = workbook.table(sheet, &mut self.room);
            return Some(Sheet {
                table,
                charts: sheet.chart_text.len(),
                notices: notices(sheet),
                has_paragraphs: false,
            });
        }
        let sheet = self.document.as_xls()?.sheets.get(index).filter(|sheet| Some(sheet.name.as_str()) == title)?;
        let table = xls::table(sheet, self.formats.as_ref(), &mut self.room);
        Some(Sheet { table, charts: sheet.chart_text.len(), notices: Vec::new(), has_paragraphs: true })
    }
}

impl Sheet {
    /// Writes the section with these cells instead of its own.
    fn with(self, section: Section) -> String {
        let mut top = section;
        let elements = std::mem::take(&mut top.elements);
        let mut bottom = Section {
            footer: top.footer.take(),
            first_page_footer: top.first_page_footer.take(),
            even_page_footer: top.even_page_footer.take(),
            ..Section::default()
        };
        for element in elements {
            let before = bottom.elements.is_empty() && top.elements.len() < self.charts;
            match &element {
                Element::Paragraph(_) if before => top.elements.push(element),
                Element::Table(_) => {}
                Element::Paragraph(paragraph) if !self.has_paragraphs || is_row_notice(paragraph) => {}
                Element::TextBox(_) | Element::Image(_) if bottom.elements.is_empty() && !self.has_paragraphs => {
                    top.elements.push(element);
                }
                _ => bottom.elements.push(element),
            }
        }
        bottom.elements.extend(self.notices.into_iter().map(paragraph));
        let mut markdown = render(top);
        append(&mut markdown, &tidied(&self.table));
        append(&mut markdown, &render(bottom));
        markdown
    }
}

fn paragraph(text: String) -> Element {
    Element::Paragraph(Paragraph { content: vec![InlineContent::Text(TextSpan::plain(text))], ..Paragraph::default() })
}

/// Recognizes the notice on rows that the library does not show.
fn is_row_notice(paragraph: &Paragraph) -> bool {
    let [InlineContent::Text(span)] = paragraph.content.as_slice() else { return false };
    span.text.starts_with('[') && span.text.contains(" rows not shown") && span.text.ends_with(" rows]")
}

/// Returns what is known to be missing in a sheet.
fn notices(sheet: &Worksheet) -> Vec<String> {
    let damage = sheet.damage.as_ref().map(|damage| format!("[the sheet is damaged and cut short: {damage}]"));
    let comments = sheet.comments_truncated.then(|| "[some comments not shown]".to_owned());
    comments.into_iter().chain(damage).collect()
}

/// Recognizes default sheet names of spreadsheet programs in the most common languages.
fn is_default_name(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim();
    ["Sheet", "Tabelle", "Feuil", "Hoja", "Foglio", "Plan", "Planilha", "Лист", "Blad", "Arkusz", "シート"]
        .contains(&stem)
}
