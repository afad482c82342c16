//! What a project's file may not say. A repository is somebody else's: it may narrow what the agent does and choose among models, but
//! neither send the person's key elsewhere, nor run programs, nor allow anything.

use toml::{Table, Value};

const FORBIDDEN: [&str; 10] = [
    "base_url",
    "api_key",
    "auth_token",
    "auth_header",
    "headers",
    "cassette",
    "record",
    "web_search",
    "network",
    "project_mcp",
];

/// The first key that may not stand there.
pub(super) fn forbidden(table: &Table) -> Option<String> {
    if let Some(key) = FORBIDDEN.into_iter().find(|key| table.contains_key(*key)) {
        return Some(key.to_owned());
    }
    if let Some(Value::Table(rules)) = table.get("permissions")
        && rules.contains_key("allow")
    {
        return Some("permissions.allow".to_owned());
    }
    let mode = table.get("permission_mode").and_then(Value::as_str);
    mode.filter(|mode| !matches!(*mode, "read-only" | "read_only" | "plan" | "default" | "bubble"))
        .map(|mode| format!("permission_mode = \"{mode}\""))
}
