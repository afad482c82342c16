//! A conversation that goes on: from its transcript, and with other tools than it began with.

use super::*;

#[tokio::test]
async fn a_conversation_goes_on_from_its_transcript() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    let mut world = World::new(&[says("first")], Vec::new());
    world.parts.transcript = Some(Transcript::at(path.clone()));
    let (mut conversation, ..) = begin(world);
    go(&mut conversation, "one").await.unwrap();
    let recalled = Transcript::recall(&path).unwrap();
    assert_eq!(recalled.spent.unwrap().requests, 1);
    let world = World::new(&[says("second")], Vec::new());
    let provider = Arc::clone(&world.provider);
    let mut resumed = Conversation::resumed(world.parts, recalled.turns);
    go(&mut resumed, "two").await.unwrap();
    let body: Value = serde_json::from_slice(&provider.bodies.lock().unwrap()[0]).unwrap();
    let texts: Vec<&str> =
        body["messages"].as_array().unwrap().iter().map(|m| m["content"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one", "first", "two"]);
    assert_eq!(resumed.turns().last().unwrap().role, Role::Assistant);
}

#[tokio::test]
async fn the_list_of_tools_follows_what_is_possible() {
    let world = World::new(&[says("a"), says("b")], vec![tool("Act", Kind::Execute, async |_, _| Outcome::text("ok"))]);
    let provider = Arc::clone(&world.provider);
    let mut conversation = Conversation::new(world.parts);
    go(&mut conversation, "one").await.unwrap();
    conversation.parts_mut().registry.add(tool("More", Kind::Read, async |_, _| Outcome::text("ok")));
    go(&mut conversation, "two").await.unwrap();
    let bodies = provider.bodies.lock().unwrap();
    let names = |at: usize| {
        let body: Value = serde_json::from_slice(&bodies[at]).unwrap();
        body["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(0), ["Act"]);
    assert_eq!(names(1), ["Act", "More"]);
}
