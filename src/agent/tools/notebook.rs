//! Jupyter notebooks: shown as text, changed cell by cell.

use serde_json::{Map, Value, json};

/// Bytes shown of one cell's outputs.
const OUTPUT_BYTES: usize = 4_000;

/// The cells and their outputs; `None` where it is no notebook.
pub(super) fn render(text: &str) -> Option<String> {
    let book: Value = serde_json::from_str(text).ok()?;
    let cells = book["cells"].as_array()?;
    let mut out = format!("[A notebook of {} cells. NotebookEdit changes them by id or number.]\n", cells.len());
    for (at, cell) in cells.iter().enumerate() {
        let kind = cell["cell_type"].as_str().unwrap_or("raw");
        let id = cell["id"].as_str().map(|id| format!(" id={id}")).unwrap_or_default();
        out.push_str(&format!("\n--- cell {at}{id} ({kind})\n{}\n", joined(&cell["source"])));
        for output in cell["outputs"].as_array().into_iter().flatten() {
            out.push_str(&shown_output(output));
        }
    }
    Some(out)
}

fn shown_output(output: &Value) -> String {
    let text = match output["output_type"].as_str() {
        Some("stream") => joined(&output["text"]),
        Some("error") => joined(&output["traceback"]),
        _ => {
            let data = &output["data"];
            let plain = joined(&data["text/plain"]);
            let others = data.as_object().into_iter().flat_map(Map::keys).filter(|key| *key != "text/plain");
            others.fold(plain, |text, key| format!("{text}\n[{key} is not shown]"))
        }
    };
    let text = super::cut::middle_cut(&strip_escapes(&text), OUTPUT_BYTES, "");
    if text.trim().is_empty() { String::new() } else { format!("--- output\n{text}\n") }
}

/// Tracebacks come in colours.
fn strip_escapes(text: &str) -> String {
    text.split('\u{1b}')
        .enumerate()
        .map(|(at, part)| match part.strip_prefix('[').filter(|_| at > 0) {
            Some(rest) => rest.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, after)| after),
            None => part,
        })
        .collect()
}

/// Texts stand in notebooks as one string or as a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// What is to become of a cell.
pub(super) enum Change {
    Replace {
        source: String,
        kind: Option<String>,
    },
    /// Behind the cell, or in front of all where none is named.
    Insert {
        source: String,
        kind: String,
    },
    Delete,
}

/// The notebook with one cell changed, and where.
///
/// # Errors
/// What the model is told.
pub(super) fn changed(text: &str, cell: Option<&str>, change: Change) -> Result<(String, usize), String> {
    let mut book: Value = serde_json::from_str(text).map_err(|e| format!("it is no notebook: {e}"))?;
    // Ids of cells came with version 4.5 of the format.
    let has_ids = (book["nbformat"].as_u64(), book["nbformat_minor"].as_u64()) >= (Some(4), Some(5));
    let cells = book["cells"].as_array_mut().ok_or("it is no notebook: it has no cells")?;
    let at = cell.map(|cell| find(cells, cell)).transpose()?;
    let place = match change {
        Change::Insert { source, kind } => {
            let place = at.map_or(0, |at| at + 1);
            cells.insert(place, new_cell(&source, &kind, has_ids));
            place
        }
        Change::Replace { source, kind } => {
            let at = at.ok_or("say which cell to replace, by cell_id")?;
            replace(&mut cells[at], &source, kind.as_deref());
            at
        }
        Change::Delete => {
            let at = at.ok_or("say which cell to delete, by cell_id")?;
            cells.remove(at);
            at
        }
    };
    Ok((written(&book, text.ends_with('\n')), place))
}

/// By id, else by number from 0.
fn find(cells: &[Value], cell: &str) -> Result<usize, String> {
    let by_id = cells.iter().position(|c| c["id"].as_str() == Some(cell));
    let by_number = || cell.trim_start_matches("cell-").parse().ok().filter(|at| *at < cells.len());
    by_id.or_else(by_number).ok_or_else(|| format!("it has no cell {cell:?}; it has {} cells, from 0", cells.len()))
}

fn new_cell(source: &str, kind: &str, with_id: bool) -> Value {
    let mut cell = json!({ "cell_type": kind, "metadata": {}, "source": lines(source) });
    if let Some(object) = cell.as_object_mut() {
        if kind == "code" {
            object.insert("execution_count".to_owned(), Value::Null);
            object.insert("outputs".to_owned(), json!([]));
        }
        if with_id {
            let id = blake3::hash(format!("{source}\0{:?}", std::time::SystemTime::now()).as_bytes()).to_hex();
            object.insert("id".to_owned(), json!(&id[..8]));
        }
    }
    cell
}

/// What a cell printed belonged to its old source.
fn replace(cell: &mut Value, source: &str, kind: Option<&str>) {
    let Some(object) = cell.as_object_mut() else { return };
    object.insert("source".to_owned(), lines(source));
    if let Some(kind) = kind {
        object.insert("cell_type".to_owned(), json!(kind));
    }
    if object["cell_type"] == "code" {
        object.insert("execution_count".to_owned(), Value::Null);
        object.insert("outputs".to_owned(), json!([]));
    } else {
        object.remove("execution_count");
        object.remove("outputs");
    }
}

fn lines(source: &str) -> Value {
    json!(source.split_inclusive('\n').collect::<Vec<_>>())
}

/// As Jupyter writes: indented by one.
fn written(book: &Value, newline: bool) -> String {
    let mut bytes = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut to = serde_json::Serializer::with_formatter(&mut bytes, format);
    // A value that was read can be written, and a vector takes all.
    if serde::Serialize::serialize(book, &mut to).is_err() {
        return String::new();
    }
    if newline {
        bytes.push(b'\n');
    }
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOK: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"id\": \"aa\",\n   \"execution_count\": 3,\n   \"metadata\": {},\n   \"outputs\": [\n    {\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"\\u001b[31mred\\u001b[0m\\n\"\n     ]\n    }\n   ],\n   \"source\": [\n    \"print('red')\"\n   ]\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";

    #[test]
    fn cells_are_shown_with_their_outputs_and_without_colours() {
        let shown = render(BOOK).unwrap();
        assert!(shown.contains("--- cell 0 id=aa (code)\nprint('red')\n--- output\nred\n"), "{shown}");
        assert_eq!(render("{}"), None);
    }

    #[test]
    fn a_change_touches_one_cell_and_keeps_the_form() {
        let (text, at) = changed(BOOK, Some("aa"), Change::Replace { source: "a\nb".to_owned(), kind: None }).unwrap();
        assert_eq!(at, 0);
        let book: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(book["cells"][0]["source"], json!(["a\n", "b"]));
        assert_eq!(book["cells"][0]["outputs"], json!([]));
        assert!(text.starts_with("{\n \"cells\"") && text.ends_with("}\n"), "{text}");
        let (text, at) =
            changed(&text, Some("0"), Change::Insert { source: "# t".to_owned(), kind: "markdown".to_owned() })
                .unwrap();
        assert_eq!(at, 1);
        let (text, _) = changed(&text, Some("aa"), Change::Delete).unwrap();
        let book: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(book["cells"].as_array().unwrap().len(), 1);
        assert_eq!(book["cells"][0]["cell_type"], "markdown");
        assert!(book["cells"][0].get("outputs").is_none() && book["cells"][0]["id"].is_string());
        for bad in [Some("zz"), Some("1"), None] {
            assert!(changed(&text, bad, Change::Delete).is_err());
        }
    }
}
