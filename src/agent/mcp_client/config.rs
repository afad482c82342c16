//! Which servers there are: from the protocol's `session/new`, from a spec, and from a project's `.mcp.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// How a server is had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// A program that speaks on its standard streams.
    Stdio { command: String, args: Vec<String>, env: Vec<(String, String)> },
    /// Streamable HTTP.
    Http { url: String, headers: Vec<(String, String)> },
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub name: String,
    pub how: How,
}

/// Why servers cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("read {}: {source}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} is not as `.mcp.json` is written: {source}", .path.display())]
    Form { path: PathBuf, source: serde_json::Error },
    #[error("MCP server {name:?}: {what}")]
    Server { name: String, what: String },
}

/// A server as all of those places write it; they differ in how they write pairs.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    name: Option<String>,
    #[serde(default, rename = "type", alias = "transport")]
    kind: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Pairs,
    #[serde(default, alias = "uri")]
    url: Option<String>,
    #[serde(default)]
    headers: Pairs,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Pairs {
    Map(BTreeMap<String, String>),
    List(Vec<Pair>),
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    value: String,
}

impl Default for Pairs {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Pairs {
    fn list(self) -> Vec<(String, String)> {
        match self {
            Self::Map(map) => map.into_iter().collect(),
            Self::List(list) => list.into_iter().map(|pair| (pair.name, pair.value)).collect(),
        }
    }
}

impl Server {
    /// As `session/new` of the Agent Client Protocol and specs write it, with its name in it.
    ///
    /// # Errors
    /// What is missing.
    pub fn from_value(value: &Value) -> Result<Self, ConfigError> {
        let name = value["name"].as_str().unwrap_or_default().to_owned();
        let bad = |what: String| ConfigError::Server { name: name.clone(), what };
        let written: Written = serde_json::from_value(value.clone()).map_err(|e| bad(e.to_string()))?;
        let named = written.name.clone().unwrap_or_default();
        Self::from_written(&named, written)
    }

    fn from_written(name: &str, written: Written) -> Result<Self, ConfigError> {
        let bad = |what: &str| Err(ConfigError::Server { name: name.to_owned(), what: what.to_owned() });
        if name.is_empty()
            || name.contains("__")
            || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        {
            return bad("its name has to be of letters, digits, `-`, `_` and `.`, without `__`");
        }
        let how = match (written.command, written.url, written.kind.as_deref()) {
            (_, _, Some("sse")) => return bad("the transport `sse` is not spoken here; use `http`"),
            (Some(command), None, None | Some("stdio")) => {
                How::Stdio { command, args: written.args, env: written.env.list() }
            }
            (None, Some(url), None | Some("http" | "streamable-http")) => {
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    return bad("its url begins with neither http:// nor https://");
                }
                How::Http { url, headers: written.headers.list() }
            }
            _ => return bad("it needs either a command or a url, and a type that goes with it"),
        };
        Ok(Self { name: name.to_owned(), how })
    }
}

/// The servers of a project's `.mcp.json`; none where there is no such file. Whoever wrote the project chose these programs: start
/// them only where a person has said so. `${NAME}` and `${NAME:-else}` stand for variables of `env`.
///
/// # Errors
/// When the file cannot be read, or a server in it.
pub fn project(folder: &Path, env: impl Fn(&str) -> Option<String>) -> Result<Vec<Server>, ConfigError> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default, rename = "mcpServers")]
        servers: BTreeMap<String, Value>,
    }
    let path = folder.join(".mcp.json");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(ConfigError::Read { path, source }),
    };
    let file: File = serde_json::from_str(&text).map_err(|source| ConfigError::Form { path, source })?;
    file.servers
        .into_iter()
        .map(|(name, mut value)| {
            let bad = |what: String| ConfigError::Server { name: name.clone(), what };
            fill(&mut value, &env).map_err(&bad)?;
            let written: Written = serde_json::from_value(value).map_err(|e| bad(e.to_string()))?;
            Server::from_written(&name, written)
        })
        .collect()
}

/// Fills in the variables of all texts in a value.
fn fill(value: &mut Value, env: &impl Fn(&str) -> Option<String>) -> Result<(), String> {
    match value {
        Value::String(text) => *text = filled(text, env)?,
        Value::Array(all) => all.iter_mut().try_for_each(|one| fill(one, env))?,
        Value::Object(all) => all.values_mut().try_for_each(|one| fill(one, env))?,
        _ => {}
    }
    Ok(())
}

fn filled(text: &str, env: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let (inside, behind) = after.split_once('}').ok_or("`${` without its `}`")?;
        let (name, otherwise) = inside.split_once(":-").map_or((inside, None), |(name, other)| (name, Some(other)));
        let value = env(name).filter(|value| !value.is_empty()).or_else(|| otherwise.map(str::to_owned));
        out.push_str(before);
        out.push_str(&value.ok_or_else(|| format!("the variable {name} is not set"))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_three_places_are_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(project(dir.path(), |_| None).unwrap(), []);
        let text = r#"{"mcpServers":{"a":{"command":"x","args":["${HERE}/y"],"env":{"K":"${NONE:-v}"}},"b":{"type":"http","url":"https://h/"}}}"#;
        std::fs::write(dir.path().join(".mcp.json"), text).unwrap();
        let found = project(dir.path(), |name| (name == "HERE").then(|| "/here".to_owned())).unwrap();
        let env = vec![("K".to_owned(), "v".to_owned())];
        let a = How::Stdio { command: "x".to_owned(), args: vec!["/here/y".to_owned()], env };
        let b = How::Http { url: "https://h/".to_owned(), headers: Vec::new() };
        assert_eq!(found, [Server { name: "a".to_owned(), how: a }, Server { name: "b".to_owned(), how: b }]);
        let error = project(dir.path(), |_| None).unwrap_err().to_string();
        assert!(error.contains("\"a\"") && error.contains("HERE is not set"), "{error}");

        let acp = json!({"name": "s", "command": "x", "args": [], "env": [{"name": "K", "value": "v"}]});
        let how = How::Stdio { command: "x".to_owned(), args: vec![], env: vec![("K".to_owned(), "v".to_owned())] };
        assert_eq!(Server::from_value(&acp).unwrap(), Server { name: "s".to_owned(), how });
        let acp = json!({"type": "http", "name": "s", "url": "http://h", "headers": [{"name": "A", "value": "b"}]});
        assert!(matches!(Server::from_value(&acp).unwrap().how, How::Http { headers, .. } if headers.len() == 1));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (value, says) in [
            (json!({"command": "x"}), "letters"),
            (json!({"name": "a__b", "command": "x"}), "without `__`"),
            (json!({"name": "a"}), "either a command or a url"),
            (json!({"name": "a", "command": "x", "url": "http://h"}), "either a command or a url"),
            (json!({"name": "a", "url": "file:///etc/passwd"}), "neither http"),
            (json!({"name": "a", "type": "sse", "url": "http://h"}), "`sse` is not spoken"),
            (json!({"name": "a", "command": 1}), "invalid type"),
        ] {
            let error = Server::from_value(&value).unwrap_err().to_string();
            assert!(error.contains(says), "{value}: {error}");
        }
    }
}
