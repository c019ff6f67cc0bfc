//! Tables of a page.

use dom_query::NodeRef;

use crate::table;

/// Renders the content of a cell or caption as one line, with its blocks joined by the separator.
type RenderLine = fn(&NodeRef, &str) -> String;

/// Maximum number of columns that one cell may span (HTML, 4.9.11).
const MAX_COLUMNS: usize = 1_000;
/// Maximum number of rows that one cell may span (HTML, 4.9.11).
const MAX_ROWS: usize = 65_534;
/// Maximum characters of a cell in a table without headers; more text means a layout table.
const MAX_CELL: usize = 1_000;
/// Maximum bytes of text repeated by row spans; beyond it, the repeated cells are empty.
const MAX_REPEATED: usize = 1 << 20;
/// Maximum number of cells of a table that exist only by spans; beyond it, cells span nothing.
const MAX_SPANNED: usize = 1 << 18;

/// Row of a table.
struct Row<'a> {
    cells: Vec<NodeRef<'a>>,
    /// Set for the first row of a head, body or foot. Cells of earlier rows do not reach into it.
    begins_group: bool,
}

/// Returns the table as markdown. Returns `None` for a layout table: one column, tables or headings in cells. Without
/// header cells, much text in a cell or one column with content makes it one too.
pub(super) fn markdown(element: &NodeRef, line: RenderLine) -> Option<String> {
    let mut rows = Vec::new();
    let mut caption = None;
    if !collect(element, &mut rows, &mut caption) {
        return None;
    }
    let mut cells = rows.iter().flat_map(|row| &row.cells);
    let headed = rows.iter().flat_map(|row| &row.cells).any(|cell| cell.has_name("th"));
    if !headed && cells.any(|cell| cell.text().chars().count() > MAX_CELL) {
        return None;
    }
    let grid = grid(&rows, line);
    if grid.iter().all(|row| row.len() < 2) || (!headed && has_one_filled_column(&grid)) {
        return None;
    }
    let mut out = String::new();
    // Rendered last: a caption may hold tables, and rendering each of them twice would double with every level.
    let caption = caption.map(|caption| line(&caption, " ")).unwrap_or_default();
    if !caption.is_empty() {
        out.push_str(&caption);
        out.push_str("\n\n");
    }
    table::write(&grid, &mut out);
    Some(out.trim_end().to_owned())
}

/// Collects the cells of each row and the caption; returns false for a layout table.
fn collect<'a>(element: &NodeRef<'a>, rows: &mut Vec<Row<'a>>, caption: &mut Option<NodeRef<'a>>) -> bool {
    for child in element.children_it(false).filter(NodeRef::is_element) {
        let name = child.node_name().unwrap_or_default();
        match &*name {
            "caption" => *caption = Some(child),
            "thead" | "tbody" | "tfoot" => {
                let first = rows.len();
                if !collect(&child, rows, caption) {
                    return false;
                }
                if let Some(row) = rows.get_mut(first) {
                    row.begins_group = true;
                }
            }
            "tr" => {
                let cells: Vec<NodeRef<'a>> =
                    child.children_it(false).filter(|cell| cell.has_name("td") || cell.has_name("th")).collect();
                if cells.iter().any(is_layout) {
                    return false;
                }
                rows.push(Row { cells, begins_group: false });
            }
            _ => {}
        }
    }
    true
}

/// Returns true for a cell with more than text.
fn is_layout(cell: &NodeRef) -> bool {
    cell.descendants_it()
        .any(|inner| ["table", "h1", "h2", "h3", "article", "section", "pre"].iter().any(|name| inner.has_name(name)))
}

/// Places cells in columns. A cell that spans columns appears in the first, a cell that spans rows in each.
fn grid(rows: &[Row], line: RenderLine) -> Vec<Vec<String>> {
    let mut spans = Spans::default();
    let mut grid = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        if row.begins_group {
            spans.columns.clear();
        }
        let mut texts = Vec::with_capacity(row.cells.len());
        for cell in &row.cells {
            spans.carry(number, &mut texts);
            spans.place(number, cell, line(cell, "\n"), &mut texts);
        }
        spans.carry(number, &mut texts);
        grid.push(texts);
    }
    grid
}

/// Returns true if no two columns have content.
fn has_one_filled_column(grid: &[Vec<String>]) -> bool {
    let cells = grid.iter().flat_map(|row| row.iter().enumerate());
    let mut filled = cells.filter(|(_, cell)| !cell.trim().is_empty()).map(|(column, _)| column);
    let first = filled.next();
    filled.all(|column| Some(column) == first)
}

/// Cells that span rows or columns.
#[derive(Default)]
struct Spans {
    /// Last cell of each column that spans rows: the first row below it, and its text.
    columns: Vec<(usize, String)>,
    /// Number of cells so far that exist only by spans.
    spanned: usize,
    /// Bytes of repeated text so far.
    repeated: usize,
}

impl Spans {
    /// Appends the cells that reach down to the row, up to the next free column.
    fn carry(&mut self, number: usize, texts: &mut Vec<String>) {
        while let Some((_, text)) = self.columns.get(texts.len()).filter(|(below, _)| number < *below) {
            if self.spanned >= MAX_SPANNED {
                return;
            }
            self.spanned += 1;
            let repeated = self.repeated.saturating_add(text.len());
            if repeated <= MAX_REPEATED {
                self.repeated = repeated;
                texts.push(text.clone());
            } else {
                texts.push(String::new());
            }
        }
    }

    /// Appends a cell of the row, with empty cells in the other columns that it spans.
    fn place(&mut self, number: usize, cell: &NodeRef, text: String, texts: &mut Vec<String>) {
        let columns = span(cell, "colspan").clamp(1, MAX_COLUMNS);
        let below = match span(cell, "rowspan") {
            // The cell reaches to the end of its head, body or foot.
            0 => usize::MAX,
            rows => number.saturating_add(rows.min(MAX_ROWS)),
        };
        self.push(number, below, text, texts);
        for _ in 1..columns {
            if self.spanned >= MAX_SPANNED {
                return;
            }
            self.spanned += 1;
            self.push(number, below, String::new(), texts);
        }
    }

    fn push(&mut self, number: usize, below: usize, text: String, texts: &mut Vec<String>) {
        if below > number.saturating_add(1) {
            let column = texts.len();
            if self.columns.len() <= column {
                self.columns.resize(column + 1, (0, String::new()));
            }
            self.columns[column] = (below, text.clone());
        }
        texts.push(text);
    }
}

fn span(cell: &NodeRef, name: &str) -> usize {
    cell.attr(name).and_then(|span| span.trim().parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use crate::html::render;
    use dom_query::Document;

    fn rendered(html: &str) -> String {
        render::markdown(&Document::from(html).body().expect("a body"))
    }

    #[test]
    fn tables_keep_their_columns() {
        assert_eq!(
            rendered(
                "<table><tr><th>a</th><th colspan=2>b|c</th></tr><tr><td rowspan=2>1</td><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td></tr></table>"
            ),
            "| a | b\\|c |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 5 |"
        );
        let layout = "<table><tr><td><h1>T</h1><p>one</p></td><td><table><tr><td>x</td><td>y</td></tr></table></td></tr></table>";
        assert_eq!(rendered(layout), "# T\n\none\n\n| x | y |\n| --- | --- |");
    }

    #[test]
    fn empty_columns_make_no_table() {
        let text = "<p>A first paragraph.</p><ul><li>one</li><li>two</li></ul>";
        let blocks = "A first paragraph.\n\n- one\n- two";
        for (rows, expected) in [
            (format!("<tr><td><img src='/i.gif'></td><td>{text}</td></tr>"), blocks),
            (format!("<tr><td></td><td>{text}</td><td> </td></tr><tr><td colspan=2></td><td></td></tr>"), blocks),
            ("<tr><td></td><td></td></tr>".to_owned(), ""),
            (
                "<tr><td>a</td><td></td></tr><tr><td></td><td>b</td></tr>".to_owned(),
                "| a |  |\n| --- | --- |\n|  | b |",
            ),
            ("<tr><th>Name</th><th></th></tr><tr><td>Ann</td><td></td></tr>".to_owned(), "| Name |\n| --- |\n| Ann |"),
        ] {
            assert_eq!(rendered(&format!("<table>{rows}</table>")), expected, "{rows}");
        }
    }

    #[test]
    fn cells_reach_down_as_far_as_they_span() {
        let body =
            |rows: usize, below: &str| format!("<tr><td>r0</td></tr>{}{below}", "<tr><td>r</td></tr>".repeat(rows));
        let group = |span: &str, rows: usize, below: &str| {
            let rest = body(rows, below);
            rendered(&format!(
                "<table><tbody><tr><td rowspan={span}>k</td><td>a</td></tr>{rest}</tbody><tbody><tr><td>b</td><td>c</td></tr></tbody></table>"
            ))
        };
        let long = group("252", 250, "<tr><td>x</td><td>y</td></tr>");
        assert_eq!(long.matches("\n| k | r |").count(), 250, "{long}");
        assert!(long.ends_with("| x | y |\n| b | c |"), "{long}");
        for span in ["0", "9"] {
            assert_eq!(group(span, 1, ""), "| k | a |\n| --- | --- |\n| k | r0 |\n| k | r |\n| b | c |", "{span}");
        }
    }

    #[test]
    fn long_texts_that_span_rows_keep_the_columns() {
        let rows = "<tr><td>r</td></tr>".repeat(300);
        let text = "long ".repeat(1_000);
        let table = rendered(&format!("<table><tr><th rowspan=301>{text}</th><th>a</th></tr>{rows}</table>"));
        assert!(table.contains("long long | r |\n"), "the text is repeated at first");
        assert!(table.ends_with("\n|  | r |"));
    }
}
