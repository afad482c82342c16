use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::store::{blob, roster};

#[test]
fn names_become_components_and_come_back() {
    let temp = TempDir::new().unwrap();
    let home = Home::at(temp.path().into());
    for (text, component) in [("audit", "audit"), ("Audit", "%41udit"), ("a.b", "a%2Eb"), ("é", "%C3%A9")] {
        assert_eq!(home.team(&name(text)).path(), temp.path().join("teams").join(component));
        TeamDir::create_new(&home, &name(text), |_| Ok::<(), StoreError>(())).unwrap();
    }
    fs::create_dir(home.teams_dir().join(".left-over")).unwrap();
    let mut expected = vec![name("audit"), name("Audit"), name("a.b"), name("é")];
    expected.sort();
    assert_eq!(home.teams().unwrap(), expected);
}

#[test]
fn a_team_is_there_whole_or_not_at_all() {
    let temp = TempDir::new().unwrap();
    let home = Home::at(temp.path().join("deep/home"));
    let team = name("audit");
    assert!(home.teams().unwrap().is_empty());
    assert!(home.team(&team).members_on_disk().is_err());
    assert!(!home.root().exists(), "asking makes nothing");
    let failed = TeamDir::create_new(&home, &team, |staging| {
        assert!(home.teams().unwrap().is_empty(), "nobody sees it half-built");
        Err(StoreError::Exists(staging.path().to_owned()))
    });
    assert!(failed.is_err());
    assert_eq!(fs::read_dir(home.teams_dir()).unwrap().count(), 0);
    let made = TeamDir::create_new(&home, &team, |s| s.member(&name("scan")).create()).unwrap();
    assert_eq!(made.members_on_disk().unwrap(), [name("scan"), Name::lead()]);
    let again = TeamDir::create_new(&home, &team, |_| Ok::<(), StoreError>(()));
    assert!(matches!(again, Err(StoreError::Exists(_))));
    let mode = |p: PathBuf| fs::metadata(p).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(home.root().into()), mode(made.plans()), mode(made.member(&name("scan")).mail_dir())),
        (0o700, 0o700, 0o700)
    );
    assert!(!made.member(&name("scan")).outbox().exists(), "the first verb makes it");
    made.member(&name("scan")).make_own_words().unwrap();
    assert_eq!(mode(made.member(&name("scan")).outbox()), 0o600);
}

#[test]
fn the_last_five_of_a_name_are_kept() {
    let temp = TempDir::new().unwrap();
    let home = Home::at(temp.path().into());
    let mut buried = Vec::new();
    for _ in 0..7 {
        TeamDir::create_new(&home, &name("audit"), |_| Ok::<(), StoreError>(())).unwrap();
        buried.push(home.bury(&name("audit")).unwrap());
    }
    TeamDir::create_new(&home, &name("audit-2"), |_| Ok::<(), StoreError>(())).unwrap();
    home.bury(&name("audit-2")).unwrap();
    let dead = home.dead().unwrap();
    let audits: Vec<TeamDir> = dead.iter().filter(|d| d.name == name("audit")).map(|d| d.dir.clone()).collect();
    assert_eq!(audits, buried[2..]);
    assert_eq!(dead.len(), 6);
    assert!(matches!(home.bury(&name("audit")), Err(StoreError::NoTeam(_))));
}

#[test]
fn sockets_lie_in_a_short_private_folder_however_deep_the_home_is() {
    let deep = Home::at(PathBuf::from(format!("/{}", "very-deep/".repeat(40))));
    let dir = deep.socket_dir(&name("audit")).unwrap();
    assert!(dir.as_os_str().len() + 17 < 100, "{}", dir.display());
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(deep.socket_dir(&name("audit")).unwrap(), dir);
    let other = deep.socket_dir(&name("audit-2")).unwrap();
    assert_ne!(other, dir);
    for made in [dir, other] {
        fs::remove_dir(made).unwrap();
    }
}

#[test]
fn blobs_are_written_once_and_checked() {
    let place = place();
    let hash = blob::put(&place.team, b"large").unwrap();
    assert_eq!(blob::put(&place.team, b"large").unwrap(), hash);
    assert_eq!(blob::get(&place.team, &hash).unwrap().unwrap(), b"large");
    assert_eq!(blob::get(&place.team, &"0".repeat(64)).unwrap(), None);
    assert!(blob::get(&place.team, "../team.json").is_err());
    fs::write(place.team.blobs().join(&hash), b"other").unwrap();
    assert!(blob::get(&place.team, &hash).is_err());
}

#[test]
fn a_newer_roster_is_read_and_not_written() {
    let place = place();
    let mut team: crate::model::team::Team = serde_json::from_value(serde_json::json!({
        "v": 1, "name": "audit", "lead_agent_id": "team-lead@audit", "lead_life": life(), "created_at": clock::now(),
        "cwd": "/", "tmux": {"socket": "", "session": "", "server_pid": 1, "server_start": "", "boot_id": ""},
        "members": [], "novelty": 7
    }))
    .unwrap();
    roster::write_first(&place.team, &team).unwrap();
    let lease = Lease::take(&place.team.lead_lease(), &lease_text("lead"), lease::RETRY).unwrap();
    let mut roster = roster::LockedRoster::open(&place.team, &lease).unwrap();
    roster.update(|t| t.description = "d".into()).unwrap();
    let read = roster::read_team(&place.team).unwrap();
    assert_eq!((read.description.as_str(), &read.extra["novelty"]), ("d", &7.into()));
    team.v = 2;
    roster::write_first(&place.team, &team).unwrap();
    assert!(matches!(roster.update(|t| t.launched = true), Ok(())), "it was opened before");
    roster::write_first(&place.team, &team).unwrap();
    assert!(matches!(roster::LockedRoster::open(&place.team, &lease), Err(StoreError::Newer { found: 2, .. })));
    assert_eq!(roster::read_team(&place.team).unwrap().v, 2, "it is read all the same");
    let other = Lease::take(&place.member.lease(), &lease_text("scan"), lease::RETRY).unwrap();
    assert!(roster::LockedRoster::open(&place.team, &other).is_err());
}
