use std::sync::Arc;

use super::*;

fn nursery(most: usize) -> (tempfile::TempDir, Arc<Nursery>) {
    let dir = tempfile::tempdir().unwrap();
    let nursery = Nursery::new(dir.path().to_path_buf(), most);
    (dir, nursery)
}

fn child(name: Option<&str>, background: bool) -> New {
    New {
        what: What::Agent,
        owner: AgentId::main(),
        name: name.map(str::to_owned),
        kind: "Explore".to_owned(),
        description: "look".to_owned(),
        tool_use_id: Some("toolu_1".to_owned()),
        background,
    }
}

fn taken(nursery: &Nursery) -> Vec<String> {
    nursery.take(&AgentId::main()).iter().map(|waiting| waiting.turn.text()).collect()
}

#[test]
fn an_end_in_the_background_is_told_once_whoever_ended_it() {
    let (_dir, nursery) = nursery(4);
    let place = nursery.register(child(None, true), None).unwrap();
    assert!(place.output_file.is_file());
    nursery.step(&place.id, Event::Started);
    assert_eq!((nursery.running(), nursery.waiting(&AgentId::main())), (1, 0));
    nursery.step(&place.id, Event::Kill);
    nursery.step(&place.id, Event::Kill);
    assert!(place.stop.is_cancelled());
    nursery.ended(&place.id, End::Completed, "last words".to_owned(), None);
    nursery.ended(&place.id, End::Failed("too late".to_owned()), String::new(), None);
    // It comes between turns and not in the middle of one.
    assert!(nursery.at_boundary(&AgentId::main()).is_empty());
    let told = taken(&nursery);
    assert!(
        told.len() == 1 && told[0].contains("<status>killed</status>") && told[0].contains("last words"),
        "{told:?}"
    );
    assert!(taken(&nursery).is_empty() && nursery.get(&place.id).unwrap().life.told());
}

#[test]
fn who_reads_an_end_is_not_told_of_it_again() {
    let (_dir, nursery) = nursery(4);
    let place = nursery.register(child(None, true), None).unwrap();
    nursery.ended(&place.id, End::Completed, String::new(), None);
    assert_eq!(nursery.waiting(&AgentId::main()), 1);
    nursery.step(&place.id, Event::Told);
    assert!(taken(&nursery).is_empty());
    // In the foreground the call itself tells.
    let place = nursery.register(child(None, false), None).unwrap();
    nursery.ended(&place.id, End::Completed, String::new(), None);
    assert!(taken(&nursery).is_empty());
}

#[test]
fn moved_to_the_background_it_is_told_of_and_the_same_run_goes_on() {
    let (_dir, nursery) = nursery(4);
    assert!(!nursery.to_background(), "there is none");
    let place = nursery.register(child(None, false), None).unwrap();
    nursery.step(&place.id, Event::Started);
    assert!(nursery.to_background() && !place.stop.is_cancelled());
    nursery.ended(&place.id, End::Completed, "done".to_owned(), None);
    assert_eq!(taken(&nursery).len(), 1);
}

#[test]
fn messages_wait_for_a_running_child_in_their_order_and_for_nobody_else() {
    let (_dir, nursery) = nursery(4);
    let place = nursery.register(child(Some("scout"), true), None).unwrap();
    let id = AgentId::parse(&place.id).unwrap();
    for text in ["one", "two"] {
        assert!(nursery.message(&place.id, vec![Block::text(text)]));
    }
    assert!(taken(&nursery).is_empty());
    let came: Vec<String> = nursery.at_boundary(&id).iter().map(Turn::text).collect();
    assert_eq!(came, ["one", "two"]);
    nursery.ended(&place.id, End::Completed, String::new(), None);
    assert!(!nursery.message(&place.id, vec![Block::text("late")]), "it is to be resumed");
    assert!(!nursery.message("a00000000", vec![]));
}

#[test]
fn a_name_belongs_to_one_that_lives_and_too_many_are_refused() {
    let (_dir, nursery) = nursery(2);
    let first = nursery.register(child(Some("scout"), true), None).unwrap();
    assert!(nursery.register(child(Some("scout"), true), None).unwrap_err().contains("scout"));
    nursery.ended(&first.id, End::Completed, String::new(), None);
    let second = nursery.register(child(Some("scout"), true), None).unwrap();
    assert_eq!(nursery.find("scout").unwrap().id, second.id, "the one that lives");
    assert_eq!(nursery.find(&first.id).unwrap().id, first.id);
    let _third = nursery.register(child(None, true), None).unwrap();
    assert!(nursery.register(child(None, true), None).unwrap_err().contains("2 run already"));
    // Shells are counted by themselves.
    let shell = ShellTask { owner: AgentId::main(), command: "sleep 9".to_owned(), description: None };
    let shell = nursery.register_shell(shell).unwrap();
    nursery.shell_ended(&shell.id, ShellEnd::Exited(3));
    assert_eq!(nursery.get(&shell.id).unwrap().end(), Some(&End::Failed("exit code 3".to_owned())));
    nursery.stop_all();
    assert!(nursery.get(&second.id).unwrap().stop.is_cancelled());
}

#[test]
fn one_that_goes_on_is_the_same_one_and_ends_again() {
    let (_dir, nursery) = nursery(2);
    let place = nursery.register(child(Some("scout"), true), None).unwrap();
    let id = AgentId::parse(&place.id).unwrap();
    assert!(nursery.register(child(Some("other"), true), Some(&id)).unwrap_err().contains("runs already"));
    nursery.ended(&place.id, End::Completed, "first".to_owned(), None);
    let again = nursery.register(child(Some("scout"), true), Some(&id)).unwrap();
    assert_eq!(again.id, place.id);
    nursery.step(&again.id, Event::Started);
    nursery.ended(&again.id, End::Completed, "second".to_owned(), None);
    let told = taken(&nursery);
    assert_eq!(told.len(), 2, "each end is told: {told:?}");
    assert!(told[0].contains("first") && told[1].contains("second"));
}
