//! Tables of a page.

use dom_query::NodeRef;

use crate::table;

/// Renders the content of a cell or caption as one line, with its blocks joined by the separator.
type RenderLine = fn(&NodeRef, &str) -> String;

/// Maximum number of columns or rows that one cell may span.
const MAX_SPAN: usize = 100;
/// Maximum characters of a cell in a table without headers; more text means a layout table.
const MAX_CELL: usize = 1_000;

/// Maximum bytes of text repeated by row spans; beyond it, cells appear only in their first row.
const MAX_REPEATED: usize = 1 << 20;

/// Returns the table as markdown. Returns `None` for a layout table: one column, tables or headings in cells, or much
/// text in a cell without a header row.
pub(super) fn markdown(element: &NodeRef, line: RenderLine) -> Option<String> {
    let mut rows = Vec::new();
    let mut caption = None;
    if !collect(element, &mut rows, &mut caption) {
        return None;
    }
    let mut cells = rows.iter().flatten();
    let headed = rows.iter().flatten().any(|cell| cell.has_name("th"));
    if !headed && cells.any(|cell| cell.text().chars().count() > MAX_CELL) {
        return None;
    }
    let grid = grid(&rows, line);
    if grid.iter().all(|row| row.len() < 2) {
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
fn collect<'a>(element: &NodeRef<'a>, rows: &mut Vec<Vec<NodeRef<'a>>>, caption: &mut Option<NodeRef<'a>>) -> bool {
    for child in element.children_it(false).filter(NodeRef::is_element) {
        let name = child.node_name().unwrap_or_default();
        match &*name {
            "caption" => *caption = Some(child),
            "thead" | "tbody" | "tfoot" if !collect(&child, rows, caption) => return false,
            "tr" => {
                let cells: Vec<NodeRef<'a>> =
                    child.children_it(false).filter(|cell| cell.has_name("td") || cell.has_name("th")).collect();
                if cells.iter().any(is_layout) {
                    return false;
                }
                rows.push(cells);
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
fn grid(rows: &[Vec<NodeRef>], line: RenderLine) -> Vec<Vec<String>> {
    let mut carried: Vec<(usize, String)> = Vec::new();
    let mut grid = Vec::with_capacity(rows.len());
    let mut repeated = 0;
    for cells in rows {
        let mut row: Vec<String> = Vec::new();
        let mut carry = |row: &mut Vec<String>| {
            while repeated <= MAX_REPEATED
                && let Some((left, text)) = carried.get_mut(row.len()).filter(|(left, _)| *left > 0)
            {
                *left -= 1;
                repeated += text.len() + size_of::<String>();
                row.push(text.clone());
            }
        };
        let mut spans = Vec::new();
        for cell in cells {
            carry(&mut row);
            let text = line(cell, "\n");
            let (columns, down) = (span(cell, "colspan"), span(cell, "rowspan"));
            for column in 0..columns {
                let text = if column == 0 { text.clone() } else { String::new() };
                if down > 1 {
                    spans.push((row.len(), down - 1, text.clone()));
                }
                row.push(text);
            }
        }
        carry(&mut row);
        for (column, down, text) in spans {
            if carried.len() <= column {
                carried.resize(column + 1, (0, String::new()));
            }
            carried[column] = (down, text);
        }
        grid.push(row);
    }
    grid
}

fn span(cell: &NodeRef, name: &str) -> usize {
    cell.attr(name).and_then(|span| span.trim().parse().ok()).unwrap_or(1).clamp(1, MAX_SPAN)
}
