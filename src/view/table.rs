//! One look for all tables: no boxes, a dim heading, columns two blanks apart, long cells cut with `…`.

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell as Comfy, CellAlignment, Color, Table as ComfyTable};

use super::plain::{Ink, Lines, Style, cut, safe, truncate, width};

/// Blanks between two columns.
const GAP: usize = 2;

/// How one column behaves when there is little room.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub title: &'static str,
    /// Numbers stand at the right.
    pub right: bool,
    /// The narrowest it may get; `None`: as wide as its widest cell.
    pub min: Option<usize>,
    /// Columns of a higher number go first when nothing else helps; 0 stays.
    pub drop: u8,
}

impl Column {
    #[must_use]
    pub const fn text(title: &'static str) -> Self {
        Self { title, right: false, min: None, drop: 0 }
    }

    #[must_use]
    pub const fn number(title: &'static str) -> Self {
        Self { title, right: true, min: None, drop: 0 }
    }

    /// May be cut down to `min` columns.
    #[must_use]
    pub const fn shrinks_to(mut self, min: usize) -> Self {
        self.min = Some(min);
        self
    }

    /// May be left out.
    #[must_use]
    pub const fn drops(mut self, order: u8) -> Self {
        self.drop = order;
        self
    }
}

/// One cell: a text (made safe here) and its colour.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    ink: Ink,
}

impl Cell {
    pub fn new(text: impl AsRef<str>) -> Self {
        Self::inked(text, Ink::Plain)
    }

    pub fn inked(text: impl AsRef<str>, ink: Ink) -> Self {
        Self { text: safe(text.as_ref(), Lines::Escape).into_owned(), ink }
    }

    /// A number, or a dim dot where it is zero: what is not zero stands out.
    #[must_use]
    pub fn count(n: u64) -> Self {
        if n == 0 { Self::inked("·", Ink::Dim) } else { Self::new(n.to_string()) }
    }

    /// A text, or a dim dot where there is none.
    pub fn maybe(text: Option<impl AsRef<str>>) -> Self {
        text.map_or_else(|| Self::inked("·", Ink::Dim), Self::new)
    }
}

/// The lines of a table; the first is the heading.
#[must_use]
pub fn lines(columns: &[Column], rows: &[Vec<Cell>], style: &Style) -> Vec<String> {
    let widths = fit(columns, rows, style.width);
    let shown: Vec<usize> = (0..columns.len()).filter(|i| widths[*i].is_some()).collect();
    let mut table = ComfyTable::new();
    table.load_style(NOTHING).force_no_tty();
    if style.color {
        table.enforce_styling();
    }
    table.set_header(
        shown
            .iter()
            .map(|i| Comfy::new(truncate(columns[*i].title, widths[*i].unwrap_or(0))).add_attribute(Attribute::Dim)),
    );
    for row in rows {
        table.add_row(shown.iter().filter_map(|i| {
            let cell = row.get(*i)?;
            Some(inked(Comfy::new(truncate(&cell.text, widths[*i].unwrap_or(0))), cell.ink))
        }));
    }
    for (at, i) in shown.iter().enumerate() {
        if let Some(column) = table.column_mut(at) {
            column.set_padding((0, if at + 1 == shown.len() { 0 } else { GAP as u16 }));
            column.set_cell_alignment(if columns[*i].right { CellAlignment::Right } else { CellAlignment::Left });
        }
    }
    let limit = style.width.unwrap_or(usize::MAX);
    table.lines().map(|line| cut(line.trim_end(), limit)).collect()
}

/// The table as text, each line ended.
#[must_use]
pub fn render(columns: &[Column], rows: &[Vec<Cell>], style: &Style) -> String {
    lines(columns, rows, style).into_iter().fold(String::new(), |out, line| out + &line + "\n")
}

fn inked(cell: Comfy, ink: Ink) -> Comfy {
    match ink {
        Ink::Plain => cell,
        Ink::Bold => cell.add_attribute(Attribute::Bold),
        Ink::Dim => cell.add_attribute(Attribute::Dim),
        Ink::Red => cell.fg(Color::DarkRed),
        Ink::Green => cell.fg(Color::DarkGreen),
        Ink::Yellow => cell.fg(Color::DarkYellow),
        Ink::Blue => cell.fg(Color::DarkBlue),
        Ink::Magenta => cell.fg(Color::DarkMagenta),
        Ink::Cyan => cell.fg(Color::DarkCyan),
    }
}

/// How wide each column gets; `None` for one that is left out. Cuts the widest first, then leaves out.
fn fit(columns: &[Column], rows: &[Vec<Cell>], limit: Option<usize>) -> Vec<Option<usize>> {
    let natural = |i: usize| {
        let widest = rows.iter().filter_map(|row| row.get(i)).map(|cell| width(&cell.text)).max().unwrap_or(0);
        widest.max(width(columns[i].title))
    };
    let mut widths: Vec<Option<usize>> = (0..columns.len()).map(|i| Some(natural(i))).collect();
    let Some(limit) = limit else { return widths };
    let total = |widths: &[Option<usize>]| {
        let shown = widths.iter().flatten();
        shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
    };
    let least = |i: usize, w: usize| columns[i].min.map_or(w, |min| min.min(w));
    // Leave out as few as needed for what must be there.
    loop {
        let needed: Vec<Option<usize>> = widths.iter().enumerate().map(|(i, w)| w.map(|w| least(i, w))).collect();
        if total(&needed) <= limit {
            break;
        }
        let next = (0..columns.len()).filter(|i| widths[*i].is_some() && columns[*i].drop > 0);
        match next.max_by_key(|i| columns[*i].drop) {
            Some(i) => widths[i] = None,
            None => break,
        }
    }
    while total(&widths) > limit {
        let over = |i: &usize| widths[*i].is_some_and(|w| w > least(*i, w));
        let Some(i) = (0..columns.len()).filter(over).max_by_key(|i| widths[*i]) else { break };
        widths[i] = widths[i].map(|w| w - 1);
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] =
        [Column::text("name").shrinks_to(4), Column::number("n"), Column::text("words").shrinks_to(5).drops(1)];

    fn rows() -> Vec<Vec<Cell>> {
        vec![
            vec![Cell::new("scan"), Cell::count(0), Cell::new("a long sentence of words")],
            vec![Cell::new("a-longer-name"), Cell::count(12), Cell::inked("漢字\x1b[2J", Ink::Red)],
        ]
    }

    #[test]
    fn without_a_limit_nothing_is_cut() {
        let text = render(&COLUMNS, &rows(), &Style::default());
        insta::assert_snapshot!(text, @r"
        name            n  words
        scan            ·  a long sentence of words
        a-longer-name  12  漢字\x1b[2J
        ");
    }

    #[test]
    fn every_width_is_kept() {
        for limit in 1..60 {
            for color in [false, true] {
                for line in lines(&COLUMNS, &rows(), &Style { color, width: Some(limit) }) {
                    assert!(width(&line) <= limit, "{limit}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn columns_are_cut_and_then_left_out() {
        let style = |width| Style { color: false, width: Some(width) };
        insta::assert_snapshot!(render(&COLUMNS, &rows(), &style(24)), @r"
        name        n  words
        scan        ·  a long s…
        a-longer…  12  漢字\x1b…
        ");
        insta::assert_snapshot!(render(&COLUMNS, &rows(), &style(12)), @r"
        name       n
        scan       ·
        a-longe…  12
        ");
    }
}
