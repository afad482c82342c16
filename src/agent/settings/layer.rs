//! Layers of settings, one over the other, and where each value comes from.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use super::{Settings, SettingsError, project};

/// Settings, and for each key that was set where it was set.
#[derive(Clone, Debug)]
pub struct Found {
    pub settings: Settings,
    /// `permissions.allow` → `/home/me/.config/crewmux/agent.toml`
    pub origins: BTreeMap<String, String>,
}

/// Collects layers, the weakest first.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    merged: Table,
    origins: BTreeMap<String, String>,
}

impl Layers {
    /// Adds a file, where it is there.
    ///
    /// # Errors
    /// A file that cannot be read, is not TOML, or sets what is not known; it is shown where.
    pub fn file(&mut self, path: &Path, is_project: bool) -> Result<(), SettingsError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(why) => return Err(SettingsError::Unreadable { path: path.to_owned(), why }),
        };
        let origin = path.display().to_string();
        // Checked as a whole of its own, so that a mistake is underlined in the file that has it.
        toml::from_str::<Settings>(&text)
            .map_err(|e| SettingsError::Wrong { origin: origin.clone(), why: e.to_string() })?;
        let table: Table =
            toml::from_str(&text).map_err(|e| SettingsError::Wrong { origin: origin.clone(), why: e.to_string() })?;
        if is_project && let Some(key) = project::forbidden(&table) {
            return Err(SettingsError::NotForProjects { path: path.to_owned(), key });
        }
        self.table(table, &origin);
        Ok(())
    }

    /// Adds values, such as those of flags.
    pub fn table(&mut self, table: Table, origin: &str) {
        merge(&mut self.merged, table, "", origin, &mut self.origins);
    }

    /// Adds one value where it is there.
    pub fn set(&mut self, key: &str, value: Option<impl Into<Value>>, origin: &str) {
        if let Some(value) = value {
            self.table(Table::from_iter([(key.to_owned(), value.into())]), origin);
        }
    }

    /// Adds what the environment says. `get` gives a variable.
    pub fn env(&mut self, get: impl Fn(&str) -> Option<String>) {
        for (name, key) in [
            ("ANTHROPIC_BASE_URL", "base_url"),
            ("ANTHROPIC_API_KEY", "api_key"),
            ("ANTHROPIC_AUTH_TOKEN", "auth_token"),
            ("ANTHROPIC_MODEL", "model"),
            ("CREWMUX_AGENT_MODEL", "model"),
            ("CREWMUX_AGENT_CASSETTE", "cassette"),
            ("CREWMUX_AGENT_RECORD", "record"),
        ] {
            self.set(key, get(name).filter(|value| !value.is_empty()), &format!("${name}"));
        }
    }

    /// What it all comes to.
    ///
    /// # Errors
    /// Values that do not go together.
    pub fn finish(self) -> Result<Found, SettingsError> {
        let wrong = |why: String| SettingsError::Wrong { origin: "the settings taken together".to_owned(), why };
        let settings: Settings = Value::Table(self.merged).try_into().map_err(|e| wrong(format!("{e}")))?;
        settings.check().map_err(wrong)?;
        Ok(Found { settings, origins: self.origins })
    }
}

/// Tables are merged, lists of rules are joined, all else is replaced.
fn merge(into: &mut Table, from: Table, path: &str, origin: &str, origins: &mut BTreeMap<String, String>) {
    for (key, value) in from {
        let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (into.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new, &full, origin, origins),
            (None, Value::Table(new)) => {
                let mut fresh = Table::new();
                merge(&mut fresh, new, &full, origin, origins);
                into.insert(key, Value::Table(fresh));
            }
            (Some(Value::Array(old)), Value::Array(new)) if path == "permissions" => {
                old.extend(new);
                origins.entry(full).and_modify(|from| *from = format!("{from}, {origin}")).or_insert(origin.to_owned());
            }
            (_, value) => {
                into.insert(key, value);
                origins.insert(full, origin.to_owned());
            }
        }
    }
}
