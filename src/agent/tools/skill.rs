//! Skill: instructions for a kind of work, kept in files.

use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode, Yaml};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::cut::head;
use super::{BoxFuture, Context, Kind, Outcome, Possible, Tool, parse, schema};
use crate::agent::wire::ToolSpec;

/// One skill: a folder with a `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    pub name: String,
    pub description: String,
    pub path: PathBuf,
}

pub struct Skill {
    skills: Vec<SkillFile>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The skill's name.
    skill: String,
    /// What it is to be used for.
    #[serde(default)]
    args: Option<String>,
}

/// Bytes of a skill's file.
const MOST_BYTES: u64 = 256 << 10;
/// Bytes of a description that are shown in the list.
const DESCRIPTION: usize = 300;

impl Skill {
    /// The skills of a project and of the person, the nearest of a name winning. A file that cannot be read as one is left
    /// out and named.
    #[must_use]
    pub fn find(project: &Path, config: Option<&Path>) -> (Self, Vec<String>) {
        let mut folders = vec![project.join(".crewmux/skills"), project.join(".claude/skills")];
        folders.extend(config.map(|config| config.join("skills")));
        let (mut skills, mut wrong): (Vec<SkillFile>, Vec<String>) = (Vec::new(), Vec::new());
        for folder in folders {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("SKILL.md")).collect();
            paths.sort();
            for path in paths.into_iter().filter(|path| path.is_file()) {
                match read(&path) {
                    Ok((skill, _)) if skills.iter().all(|other| other.name != skill.name) => skills.push(skill),
                    Ok(_) => {}
                    Err(why) => wrong.push(format!("{}: {why}", path.display())),
                }
            }
        }
        (Self { skills }, wrong)
    }

    #[must_use]
    pub fn skills(&self) -> &[SkillFile] {
        &self.skills
    }
}

/// What a skill's file says of it, and its text.
fn read(path: &Path) -> Result<(SkillFile, String), String> {
    let whole = super::file::read(path, MOST_BYTES).map_err(|e| super::file::plain(&e))?;
    let text = String::from_utf8(whole.bytes).map_err(|_| "it is not UTF-8")?;
    let rest = text.strip_prefix("---\n").ok_or("it does not begin with front matter (`---`)")?;
    let (front, body) = rest.split_once("\n---").ok_or("its front matter has no end (`---`)")?;
    let documents = Yaml::load_from_str(front).map_err(|e| format!("its front matter is no YAML: {}", e.info()))?;
    let of = |key: &str| documents.first().and_then(|d| d.as_mapping_get(key)?.as_str().map(str::to_owned));
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = of("name").or(folder).ok_or("it has no name")?;
    let description = of("description").ok_or("its front matter has no description")?;
    let body = body.split_once('\n').map_or("", |(_, body)| body).to_owned();
    Ok((SkillFile { name, description, path: path.to_path_buf() }, body))
}

impl Tool for Skill {
    fn name(&self) -> &str {
        "Skill"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        let list: Vec<String> =
            self.skills.iter().map(|s| format!("- {}: {}", s.name, head(&s.description, DESCRIPTION))).collect();
        let text = format!(
            "Loads a skill: instructions for a kind of work. When one of these fits what you are asked, load it before you begin.\n{}",
            list.join("\n")
        );
        ToolSpec::new(self.name(), text, schema::<Input>())
    }

    fn is_listed(&self, _possible: &Possible) -> bool {
        !self.skills.is_empty()
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn call<'a>(&'a self, input: Value, _cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let Input { skill, args } = match parse("Skill", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            let Some(found) = self.skills.iter().find(|s| s.name == skill) else {
                let names: Vec<&str> = self.skills.iter().map(|s| s.name.as_str()).collect();
                return Outcome::error(format!(
                    "There is no skill {:?}. There are: {}",
                    head(&skill, 80),
                    names.join(", ")
                ));
            };
            match read(&found.path) {
                Ok((_, body)) => {
                    let folder = found.path.parent().unwrap_or(Path::new("/")).display();
                    let args = args.map(|args| format!("\n\nUse it for: {args}")).unwrap_or_default();
                    Outcome::text(format!("Files that it names lie in {folder}.\n\n{}{args}", body.trim()))
                }
                Err(why) => Outcome::error(format!("The skill {skill} cannot be read: {why}.")),
            }
        })
    }
}
