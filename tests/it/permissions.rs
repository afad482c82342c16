//! F45: a permission is seen, expires to a denial, and whoever asked is told.

use serde_json::Value;

use crate::support::{Crew, Ran, until};

fn team(crew: &Crew) -> String {
    format!("v = 1\nname = \"asks\"\n{}{}", crew.puppet("hand"), crew.puppet("other"))
}

/// The one open permission.
fn open(crew: &Crew) -> Value {
    let mut found = Value::Null;
    until("a permission is open", || {
        let open = crew.json(&["requests"]);
        found = open.as_array().and_then(|all| all.first()).cloned().unwrap_or(Value::Null);
        !found.is_null()
    });
    found
}

fn answer(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
}

#[test]
fn f45_a_permission_is_listed_and_nobodys_answer_is_a_denial() {
    let crew = Crew::new();
    crew.up(&team(&crew));
    let ask = "crewmux permission ask shell --input '{\"command\":\"rm -r build\"}' --reason 'a fresh build' \
               --expires 3s --wait --json";
    let order = crew.order("hand", ask);
    let seen = open(&crew);
    assert_eq!((seen["kind"].as_str(), seen["state"].as_str()), (Some("permission"), Some("open")));
    assert_eq!(seen["body"]["input"]["command"], "rm -r build");
    assert_eq!(crew.status("asks", "hand")["state"], "waiting");
    let status = crew.ok(&["status"]);
    assert!(status.contains("hand asks for permission: shell: a fresh build"), "{status}");
    assert!(status.contains("rm -r build") && status.contains("crewmux approve"), "{status}");

    let denied = crew.outcome(&order);
    assert_eq!(denied.code, 1, "{denied:#?}");
    let said = answer(&denied);
    assert_eq!((said["state"].as_str(), said["decision"].as_str()), (Some("expired"), Some("deny")));
    until("it waits no more", || crew.status("asks", "hand")["state"] == "idle");
    // It is told by mail too, should its program wait for nothing.
    let mail = crew.ok(&["inbox", "--member", "hand", "--json"]);
    assert!(mail.contains("permission_response") && mail.contains("\"deny\""), "{mail}");
    crew.fails(7, &["approve", seen["id"].as_str().expect("an id")]);
    assert!(crew.events("asks").iter().any(|e| e["type"] == "request_expired" && e["kind"] == "permission"));
}

#[test]
fn a_permission_is_given_once_or_for_always() {
    let crew = Crew::new();
    crew.up(&team(&crew));
    let ask = "crewmux permission ask deploy --scope staging --wait --json";
    let order = crew.order("hand", ask);
    let id = open(&crew)["id"].as_str().expect("an id").to_owned();
    // Members do not decide it, whoever they say they are.
    for member in ["hand", "other"] {
        if member == "other" {
            assert_eq!(crew.inside(member, &format!("crewmux approve {id} --always")).code, 4);
        }
    }
    crew.fails(2, &["permission", "ask", " ", "--member", "other"]);
    crew.fails(4, &["permission", "ask", "deploy"]);
    crew.ok(&["approve", &id, "--always", "--feedback", "go on"]);
    let allowed = crew.outcome(&order);
    assert_eq!(allowed.code, 0, "{allowed:#?}");
    let said = answer(&allowed);
    assert_eq!((said["decision"].as_str(), said["feedback"].as_str()), (Some("allow_always"), Some("go on")));

    // Nobody is asked again for the same; for another scope somebody is.
    let again = crew.inside("other", ask);
    assert_eq!((again.code, answer(&again)["decision"].as_str()), (0, Some("allow_once")), "{again:#?}");
    let listed = crew.json(&["permission", "list"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let other = crew.order("other", "crewmux permission ask deploy --scope production --wait --json");
    let second = open(&crew)["id"].as_str().expect("an id").to_owned();
    crew.ok(&["reject", &second, "--reason", "on a Friday?"]);
    let denied = crew.outcome(&other);
    assert_eq!((denied.code, answer(&denied)["feedback"].as_str()), (1, Some("on a Friday?")), "{denied:#?}");

    // One that is open dies with its asker.
    crew.order("hand", "crewmux permission ask format --wait");
    let third = open(&crew)["id"].as_str().expect("an id").to_owned();
    crew.ok(&["stop", "hand"]);
    crew.fails(7, &["approve", &third]);
}
