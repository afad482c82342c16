//! Write: a file's whole content.

use std::io;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::file::{self, blocking, locate, unreadable};
use super::{BoxFuture, Context, Diff, Kind, Outcome, Possible, Subject, Tool, parse, schema};
use crate::agent::wire::ToolSpec;

pub struct Write;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file, absolute or relative to the working folder. Folders above it are made.
    #[serde(alias = "path")]
    file_path: String,
    /// All that is to stand in it.
    content: String,
}

const TEXT: &str = "Writes a file as a whole, new or in place of what is there. A file that is there must have been read first, and not \
have changed since. To change a part of a file use Edit.";

impl Tool for Write {
    fn name(&self) -> &str {
        "Write"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name(), TEXT, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Edit
    }

    fn subject(&self, input: &Value, cx: &Context) -> Subject {
        file::subject(input["file_path"].as_str().or_else(|| input["path"].as_str()), cx)
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        let cx = cx.clone();
        Box::pin(async move {
            let input: Input = match parse("Write", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            blocking(move || write(input, &cx).unwrap_or_else(|refused| refused)).await
        })
    }
}

fn write(input: Input, cx: &Context) -> Result<Outcome, Outcome> {
    let path = input.file_path.as_str();
    let at = locate(path, cx)?;
    let before = match file::read(&at.real, cx.limits.file_bytes) {
        Ok(whole) => {
            file::check_seen(path, &at, &whole.bytes, cx)?;
            Some(String::from_utf8_lossy(&whole.bytes).into_owned())
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(unreadable(path, &e)),
    };
    file::store(path, &at, &input.content, cx)?;
    let did = if before.is_some() { "Replaced" } else { "Made" };
    let (lines, bytes) = (input.content.lines().count(), input.content.len());
    let said = format!("{did} {path}: {lines} lines, {bytes} bytes.");
    Ok(Outcome::text(said).with_diff(Diff { path: at.real, before, after: input.content }))
}
