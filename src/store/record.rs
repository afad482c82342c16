//! A record as it stands in a journal: one JSON object a line that begins with `seq`, `ts` and, for the first of a
//! segment, the segment's id.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::error::{Result, StoreError};
use crate::model::id::SegmentId;
use crate::model::time::Timestamp;

/// Longest record in bytes. A snapshot of a large board is the longest there is.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// What every record begins with, read while the whole line is checked to be one JSON object.
#[derive(Debug, Deserialize)]
pub struct Head<'a> {
    pub seq: u64,
    pub ts: Timestamp,
    #[serde(default)]
    pub segment: Option<SegmentId>,
    #[serde(default, rename = "type", borrow)]
    pub kind: Option<Cow<'a, str>>,
}

pub const CLOSED: &str = "closed";
pub const OPENED: &str = "opened";

/// Reads a line (without its `\n`). The error says what is wrong with it, in a few words.
pub fn head(line: &[u8]) -> Result<Head<'_>, String> {
    if line.contains(&0) {
        return Err("NUL bytes".into());
    }
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8")?;
    if !text.starts_with('{') {
        return Err("not a JSON object".into());
    }
    serde_json::from_str(text).map_err(|e| e.to_string())
}

/// A payload, serialized, without its braces.
pub fn body(payload: &(impl Serialize + ?Sized), path: &Path) -> Result<Vec<u8>> {
    #[derive(Deserialize)]
    struct Reserved {
        seq: Option<IgnoredAny>,
        ts: Option<IgnoredAny>,
        segment: Option<IgnoredAny>,
    }
    let invalid = |why: String| StoreError::invalid(path, why);
    let mut json = serde_json::to_vec(payload).map_err(|e| invalid(e.to_string()))?;
    if json.first() != Some(&b'{') || json.last() != Some(&b'}') {
        return Err(invalid("a record must be a JSON object".into()));
    }
    let reserved: Reserved = serde_json::from_slice(&json).map_err(|e| invalid(e.to_string()))?;
    if reserved.seq.is_some() || reserved.ts.is_some() || reserved.segment.is_some() {
        return Err(invalid("a record's `seq`, `ts` and `segment` are the journal's own".into()));
    }
    json.pop();
    json.remove(0);
    if json.len() > MAX_BYTES - 256 {
        return Err(StoreError::TooLong { path: path.to_owned(), size: json.len(), limit: MAX_BYTES - 256 });
    }
    Ok(json)
}

/// Writes a whole line into `out`.
pub fn line(out: &mut Vec<u8>, seq: u64, ts: Timestamp, segment: Option<SegmentId>, body: &[u8]) {
    // Writing to memory does not fail.
    let _ = write!(out, "{{\"seq\":{seq},\"ts\":\"{ts}\"");
    if let Some(segment) = segment {
        let _ = write!(out, ",\"segment\":\"{segment}\"");
    }
    if !body.is_empty() {
        out.push(b',');
        out.extend_from_slice(body);
    }
    out.extend_from_slice(b"}\n");
}

/// The payload of a line that [`head`] accepts: all but the journal's own fields.
pub fn payload<T: DeserializeOwned>(json: &str) -> Result<T, serde_json::Error> {
    let mut object: serde_json::Map<String, serde_json::Value> = match canonical_body(json) {
        Some(body) => {
            let mut own = String::with_capacity(body.len() + 1);
            own.push('{');
            own.push_str(body);
            return serde_json::from_str(&own);
        }
        None => serde_json::from_str(json)?,
    };
    for own in ["seq", "ts", "segment"] {
        object.shift_remove(own);
    }
    serde_json::from_value(serde_json::Value::Object(object))
}

/// What follows the journal's own fields in a line as [`line`] writes it; `None` where another program wrote it in
/// another form.
fn canonical_body(json: &str) -> Option<&str> {
    let rest = json.strip_prefix("{\"seq\":")?.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(",\"ts\":\"")?;
    let mut rest = &rest[rest.find('"')? + 1..];
    if let Some(segment) = rest.strip_prefix(",\"segment\":\"") {
        rest = &segment[segment.find('"')? + 1..];
    }
    match rest.strip_prefix(',') {
        Some(body) => Some(body),
        None => (rest == "}").then_some(rest),
    }
}
