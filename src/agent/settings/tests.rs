use std::time::Duration;

use super::*;

fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn later_layers_win_and_it_is_known_where_a_value_comes_from() {
    let dir = tempfile::tempdir().unwrap();
    let mine = write(
        dir.path(),
        "mine.toml",
        "model = \"a\"\nbase_url = \"http://mine\"\nsilence = \"5s\"\n[permissions]\nallow = [\"Read\"]\n[models]\nsmall = \"s1\"\n",
    );
    let project = write(
        dir.path(),
        "project.toml",
        "model = \"b\"\n[permissions]\ndeny = [\"Bash(rm *)\"]\n[models]\nlarge = \"l2\"\n",
    );
    let mut layers = Layers::default();
    layers.file(&mine, false).unwrap();
    layers.file(&project, true).unwrap();
    layers.file(&dir.path().join("absent.toml"), true).unwrap();
    layers.env(|name| (name == "ANTHROPIC_MODEL").then(|| "c".to_owned()));
    let mut with_flag = layers.clone();
    with_flag.set("model", Some("d"), "--model");
    let found = layers.finish().unwrap();
    assert_eq!(found.settings.model, "c");
    assert_eq!(found.settings.base_url, "http://mine");
    assert_eq!(found.settings.silence.0, Duration::from_secs(5));
    assert_eq!((found.settings.models.small.as_str(), found.settings.models.large.as_str()), ("s1", "l2"));
    assert_eq!(found.settings.permissions.allow, ["Read"]);
    assert_eq!(found.settings.permissions.deny, ["Bash(rm *)"]);
    assert_eq!(found.origins["model"], "$ANTHROPIC_MODEL");
    assert_eq!(found.origins["models.large"], project.display().to_string());
    assert_eq!(with_flag.finish().unwrap().settings.model, "d");
}

#[test]
fn rules_of_all_layers_hold_together() {
    let mut layers = Layers::default();
    for deny in ["Bash(rm *)", "WebFetch"] {
        let rules = toml::from_str(&format!("[permissions]\ndeny = [\"{deny}\"]")).unwrap();
        layers.table(rules, deny);
    }
    assert_eq!(layers.finish().unwrap().settings.permissions.deny, ["Bash(rm *)", "WebFetch"]);
}

#[test]
fn a_project_can_neither_get_the_key_nor_allow_anything() {
    let dir = tempfile::tempdir().unwrap();
    for line in [
        "base_url = \"http://evil\"",
        "api_key = \"x\"",
        "headers = { a = \"b\" }",
        "cassette = \"x\"",
        "web_search = { command = [\"evil\"] }",
        "permission_mode = \"bypass\"",
        "permission_mode = \"accept_edits\"",
        "[permissions]\nallow = [\"Bash\"]",
    ] {
        let file = write(dir.path(), "p.toml", line);
        let error = Layers::default().file(&file, true).unwrap_err();
        assert!(matches!(error, SettingsError::NotForProjects { .. }), "{line}: {error}");
        assert!(error.hint().unwrap().contains("agent.toml"));
        Layers::default().file(&file, false).unwrap();
    }
    let narrow = write(dir.path(), "p.toml", "permission_mode = \"plan\"\n[permissions]\nask = [\"Bash\"]");
    Layers::default().file(&narrow, true).unwrap();
}

#[test]
fn a_mistake_is_shown_where_it_stands() {
    let dir = tempfile::tempdir().unwrap();
    for (text, says) in [("modle = \"x\"\n", "modle"), ("retries = \"many\"\n", "retries"), ("model = \n", "model")] {
        let file = write(dir.path(), "bad.toml", text);
        let error = Layers::default().file(&file, false).unwrap_err().to_string();
        assert!(error.contains("bad.toml") && error.contains(says) && error.contains('^'), "{error}");
    }
    for (key, value, says) in
        [("base_url", "ftp://x", "http"), ("background_key", "ctrl-b", "tmux"), ("web_search", "google", "provider")]
    {
        let mut layers = Layers::default();
        layers.set(key, Some(value), "--flag");
        let error = layers.finish().unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn models_have_sizes() {
    let settings = Settings { model: "large".to_owned(), ..Settings::default() };
    assert_eq!(settings.model_id("inherit"), settings.models.large);
    assert_eq!(settings.model_id("haiku"), settings.models.small);
    assert_eq!(settings.model_id("my/local-model"), "my/local-model");
    let round = Settings { model: "inherit".to_owned(), ..Settings::default() };
    assert_eq!(round.model_id("inherit"), round.models.medium);
}

#[test]
fn the_key_goes_as_it_was_said() {
    let with = |key: Option<&str>, token: Option<&str>, header: Option<&str>| Settings {
        api_key: key.map(str::to_owned),
        auth_token: token.map(str::to_owned),
        auth_header: header.map(str::to_owned),
        ..Settings::default()
    };
    assert!(matches!(with(Some("k"), None, None).endpoint().auth, Auth::Key(_)));
    assert!(matches!(with(Some("k"), Some("t"), None).endpoint().auth, Auth::Bearer(_)));
    assert!(matches!(with(Some("k"), None, Some("api-key")).endpoint().auth, Auth::Header(..)));
    assert!(with(None, None, None).lacks_key());
    assert!(!Settings { base_url: "http://localhost:8080".to_owned(), ..Settings::default() }.lacks_key());
}
