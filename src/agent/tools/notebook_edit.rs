//! NotebookEdit: one cell of a notebook replaced, added or deleted.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::file::{self, blocking, locate};
use super::notebook::{Change, changed};
use super::{BoxFuture, Context, Diff, Kind, Outcome, Possible, Subject, Tool, parse, schema};
use crate::agent::wire::ToolSpec;

pub struct NotebookEdit;

#[derive(Clone, Copy, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
enum How {
    #[default]
    Replace,
    Insert,
    Delete,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CellType {
    Code,
    Markdown,
}

impl CellType {
    fn word(self) -> String {
        match self {
            Self::Code => "code".to_owned(),
            Self::Markdown => "markdown".to_owned(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The notebook, a file that ends in .ipynb.
    notebook_path: String,
    /// The cell's id, or its number from 0. With insert the new cell comes behind it, or first where none is named.
    #[serde(default)]
    cell_id: Option<String>,
    /// What stands in the cell. Not needed with delete.
    #[serde(default)]
    new_source: String,
    /// Needed with insert.
    #[serde(default)]
    cell_type: Option<CellType>,
    #[serde(default)]
    edit_mode: How,
}

const TEXT: &str = "Replaces, inserts or deletes one cell of a Jupyter notebook. Read the notebook first. Outputs of a cell that is \
replaced are dropped, since they belong to its old source.";

impl Tool for NotebookEdit {
    fn name(&self) -> &str {
        "NotebookEdit"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name(), TEXT, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Edit
    }

    fn subject(&self, input: &Value, cx: &Context) -> Subject {
        file::subject(input["notebook_path"].as_str(), cx)
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        let cx = cx.clone();
        Box::pin(async move {
            let input: Input = match parse("NotebookEdit", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            blocking(move || edit(input, &cx).unwrap_or_else(|refused| refused)).await
        })
    }
}

fn edit(input: Input, cx: &Context) -> Result<Outcome, Outcome> {
    let path = input.notebook_path.as_str();
    let at = locate(path, cx)?;
    let before = file::current_text(path, &at, cx)?;
    let kind = input.cell_type.map(CellType::word);
    let change = match (input.edit_mode, kind) {
        (How::Delete, _) => Change::Delete,
        (How::Replace, kind) => Change::Replace { source: input.new_source, kind },
        (How::Insert, Some(kind)) => Change::Insert { source: input.new_source, kind },
        (How::Insert, None) => {
            return Err(Outcome::error("A new cell needs a cell_type: code or markdown. Nothing was changed."));
        }
    };
    let (after, cell) = changed(&before, input.cell_id.as_deref(), change)
        .map_err(|why| Outcome::error(format!("{path} was not changed: {why}.")))?;
    file::store(path, &at, &after, cx)?;
    let did = match input.edit_mode {
        How::Replace => "replaced",
        How::Insert => "inserted",
        How::Delete => "deleted",
    };
    Ok(Outcome::text(format!("{path}: cell {cell} {did}.")).with_diff(Diff {
        path: at.real,
        before: Some(before),
        after,
    }))
}
