//! The door, on a real team folder: who may do what, and what a verb leaves in the files.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::testing::{Made, make, member, name, task};
use super::*;
use crate::model::id::{Life, MessageId, RequestId, SpawnId, TaskId};
use crate::model::message::{Body, Lane, MAX_BLOB_BYTES, MAX_INLINE_BYTES, Message, Priority, ReportStatus};
use crate::model::name::Name;
use crate::model::spec::EngineKind;
use crate::model::task::{NewTask, TaskResult, TaskStatus};
use crate::store::intake::Intake;
use crate::store::{Lease, MemberDir};

fn fresh() -> MessageId {
    static SAID: AtomicU64 = AtomicU64::new(0);
    MessageId::derived(&["fresh", &SAID.fetch_add(1, Ordering::Relaxed).to_string()])
}

/// A team `t` of `a` and `b`, which live, and `gone`, which has ended; with a lead.
struct World {
    made: Made,
    _lead: Lease,
}

impl World {
    fn new() -> Self {
        let mut gone = member("gone", EngineKind::Worker);
        gone.is_active = false;
        let made = Made::team(&[member("a", EngineKind::Command), member("b", EngineKind::Worker), gone]);
        let lead = made.lease("team-lead", Life::derived(&["lead"]));
        Self { made, _lead: lead }
    }

    fn who(&mut self, text: &str) -> Who {
        match text {
            "operator" => Who::operator(),
            _ => {
                let life = self.made.desk.member(&name(text)).unwrap().life.unwrap();
                Who::member(name(text), life)
            }
        }
    }

    fn does(&mut self, who: &str, verb: Verb) -> Result<Done, ActError> {
        let who = self.who(who);
        act(&mut self.made.desk, &who, fresh(), verb)
    }

    fn answer(&mut self, who: &str, verb: Verb) -> Answer {
        match self.does(who, verb).unwrap() {
            Done::Answer(answer) => answer,
            Done::Asked(id) => panic!("the lead was asked: {id}"),
        }
    }

    fn refused(&mut self, who: &str, verb: Verb) -> ActError {
        self.does(who, verb).unwrap_err()
    }

    fn sends(&mut self, who: &str, to: &str, text: &str) -> Result<Done, ActError> {
        self.does(who, send(to, text))
    }

    fn dir(&self, who: &str) -> MemberDir {
        self.made.desk.dir.member(&name(who))
    }

    fn lane(&self, who: &str, lane: Lane) -> Vec<Message> {
        let mut intake = Intake::open(&self.dir(who), lane).unwrap();
        intake.poll().unwrap();
        intake.messages().unwrap()
    }

    fn inbox(&self, who: &str) -> Vec<Message> {
        self.lane(who, Lane::Inbox)
    }

    fn texts(&self, who: &str) -> Vec<String> {
        self.inbox(who).iter().map(|m| m.content().unwrap_or_default().to_owned()).collect()
    }
}

fn send(to: &str, text: &str) -> Verb {
    Verb::Send(Send { to: to.to_owned(), text: text.to_owned(), ..Send::default() })
}

fn new_task(subject: &str) -> Verb {
    let task: NewTask = serde_json::from_value(json!({"subject": subject})).unwrap();
    Verb::TaskAdd { task }
}

fn done(id: u64) -> Verb {
    let result = TaskResult { text: "all good".to_owned(), ..TaskResult::default() };
    Verb::TaskDone { id: TaskId(id), epoch: None, result }
}

fn shutdown(who: Option<&str>) -> Verb {
    Verb::Shutdown { name: who.map(name), reason: None, grace_ms: None, force: false }
}

fn spawn(text: &str) -> Verb {
    let spec = serde_json::from_value(json!({"name": text, "cwd": "/"})).unwrap();
    Verb::Spawn { spawn_id: SpawnId::derived(&[text]), spec: Box::new(spec) }
}

fn decide() -> Verb {
    let request_id = RequestId::derived(&["r"]);
    Verb::Decide { request_id, approve: true, hash: None, feedback: None, always: false }
}

fn plan(text: &str) -> Verb {
    Verb::SubmitPlan { request_id: RequestId::derived(&["p"]), plan: text.to_owned(), summary: None }
}

#[test]
fn f18_f30_the_table_of_rights() {
    // The verb, and the exit code that the operator and a member get; 0 is done or asked.
    let id = TaskId(1);
    let (epoch, result) = (None, TaskResult::default);
    let table: Vec<(Verb, u8, u8)> = vec![
        (send("b", "hi"), 0, 0),
        (Verb::Ack { ids: Vec::new(), up_to: Some(1) }, 0, 0),
        (Verb::Ready, 4, 4),
        (new_task("more"), 0, 0),
        (Verb::TaskClaim { id: Some(id) }, 4, 0),
        (Verb::TaskDone { id, epoch, result: result() }, 0, 7),
        (Verb::TaskFail { id, epoch, result: result() }, 0, 7),
        (Verb::TaskRelease { id, epoch }, 7, 7),
        (Verb::TaskAssign { id, member: Some(name("b")) }, 0, 4),
        (Verb::TaskRm { id }, 0, 4),
        (plan("p"), 4, 0),
        (decide(), 0, 4),
        (spawn("c"), 0, 4),
        (Verb::Stop { name: name("b") }, 0, 4),
        (Verb::Restart { name: name("b") }, 0, 4),
        (shutdown(Some("b")), 0, 4),
        (shutdown(None), 0, 4),
    ];
    for (verb, operator, of_member) in table {
        for (who, expected) in [("operator", operator), ("a", of_member)] {
            let mut world = World::new();
            world.made.tasks(&[task(1, TaskStatus::Pending)]);
            let result = world.does(who, verb.clone());
            let code = result.as_ref().map_or_else(|e| e.code, |_| 0);
            assert_eq!(code, expected, "{who}: {}: {result:?}", verb.word());
            let hints = result.err().map(|e| e.to_string()).unwrap_or_default();
            assert_eq!(hints.is_empty(), code == 0, "a refusal says why");
        }
    }
}

#[test]
fn what_is_refused_leaves_nothing_behind() {
    let mut world = World::new();
    for verb in [spawn("c"), Verb::Stop { name: name("b") }, shutdown(None), decide()] {
        world.refused("a", verb);
    }
    assert!(world.lane("team-lead", Lane::Control).is_empty());
}

#[test]
fn a_verb_for_the_lead_is_control_mail_that_its_reply_will_name() {
    let mut world = World::new();
    let Done::Asked(id) = world.does("operator", Verb::Stop { name: name("a") }).unwrap() else { panic!() };
    let mail = world.lane("team-lead", Lane::Control);
    assert_eq!((mail.len(), mail[0].id, mail[0].from.name.as_str()), (1, id, "operator"));
    assert_eq!(mail[0].typed(), Some(Body::StopRequest { name: name("a") }));
}

#[test]
fn a_verb_for_a_lead_that_is_not_there_or_about_nobody_is_refused() {
    let mut world = World::new();
    assert_eq!(world.refused("operator", Verb::Stop { name: name("x") }).code, 3);
    assert_eq!(world.refused("operator", shutdown(Some("team-lead"))).code, 4);
    let made = Made::team(&[member("a", EngineKind::Command)]);
    let mut desk = made.desk;
    let error = act(&mut desk, &Who::operator(), fresh(), spawn("b")).unwrap_err();
    assert_eq!(error.code, 6);
    assert!(error.hints[0].contains("up --resume t"), "{error:?}");
}

#[test]
fn a_text_lies_in_its_mailbox_with_who_it_is_from() {
    let mut world = World::new();
    let answer = world.answer("a", send("b", "hello"));
    assert_eq!(answer.value["deliveries"], json!([{"to": "b", "seq": 1, "queued": 1}]));
    let mail = world.inbox("b");
    assert_eq!((mail[0].from.to_string(), mail[0].content()), ("a@t".to_owned(), Some("hello")));
}

#[test]
fn f26_an_address_that_is_nobody_is_refused_with_the_nearest_and_creates_nothing() {
    let mut world = World::new();
    let error = world.sends("operator", "gon", "x").unwrap_err();
    assert_eq!(error.code, 3);
    assert!(error.hints[0].contains("gone"), "{error:?}");
    for bad in ["../b", "b@nowhere", "uds:/tmp/x", "all", ""] {
        assert_eq!(world.sends("operator", bad, "x").unwrap_err().code, 3, "{bad}");
    }
    assert!(!world.dir("gon").exists());
}

#[test]
fn an_ended_member_gets_no_mail_unless_it_is_to_wait() {
    let mut world = World::new();
    let error = world.sends("a", "gone", "x").unwrap_err();
    assert_eq!(error.code, 4);
    assert!(error.hints[0].contains("--queue"), "{error:?}");
    crate::store::mailbox::close(&world.dir("gone"), "it has ended").unwrap();
    let waits = Send { to: "gone".to_owned(), text: "later".to_owned(), queue: true, ..Send::default() };
    world.answer("a", Verb::Send(waits));
    assert_eq!(world.texts("gone"), ["later"]);
    assert_eq!(world.sends("a", "gone", "x").unwrap_err().code, 4, "it is still closed");
}

#[test]
fn everyone_is_all_who_live_and_the_lead_but_not_oneself() {
    let mut world = World::new();
    let answer = world.answer("a", send("*", "hear"));
    let to: Vec<&str> =
        answer.value["deliveries"].as_array().unwrap().iter().filter_map(|d| d["to"].as_str()).collect();
    assert_eq!(to, ["team-lead", "b"]);
    assert_eq!(answer.notes, ["`gone` has ended and was left out"]);
    assert!(world.inbox("a").is_empty() && world.inbox("gone").is_empty());

    let answer = world.answer("operator", send("*", "hear too"));
    assert_eq!(answer.value["deliveries"].as_array().unwrap().len(), 2, "the lead's mailbox is the operator's own");
    assert_eq!(world.texts("b"), ["hear", "hear too"]);
}

#[test]
fn the_lead_its_alias_and_the_operator_are_one_mailbox() {
    let mut world = World::new();
    for to in ["lead", "team-lead", "operator", "team-lead@t"] {
        world.answer("a", send(to, to));
    }
    assert_eq!(world.texts("team-lead"), ["lead", "team-lead", "operator", "team-lead@t"]);
}

#[test]
fn one_may_write_to_oneself_and_to_another_team() {
    let mut world = World::new();
    world.answer("a", send("a", "remember"));
    assert_eq!(world.texts("a"), ["remember"]);
    let other = make(&world.made.home, "other", &[member("x", EngineKind::Command)]);
    world.answer("a", send("x@other", "hi"));
    let mut intake = Intake::open(&other.dir.member(&name("x")), Lane::Inbox).unwrap();
    intake.poll().unwrap();
    let mail = &intake.messages().unwrap()[0];
    assert_eq!((mail.from.to_string(), mail.to.as_str()), ("a@t".to_owned(), "x"));
    assert_eq!(world.sends("a", "y@other", "hi").unwrap_err().code, 3);
}

#[test]
fn the_same_id_twice_is_one_message() {
    let mut world = World::new();
    let id = fresh();
    let again = Send { to: "*".to_owned(), text: "once".to_owned(), id: Some(id), ..Send::default() };
    let first = world.answer("a", Verb::Send(again.clone()));
    let second = world.answer("a", Verb::Send(again));
    let seqs = |a: &Answer| -> Vec<Value> {
        a.value["deliveries"].as_array().unwrap().iter().map(|d| d["seq"].clone()).collect()
    };
    assert_eq!(seqs(&first), seqs(&second));
    assert_eq!((world.inbox("b").len(), world.inbox("team-lead").len()), (1, 1));
    assert_eq!(world.inbox("b")[0].id, id);
}

#[test]
fn only_who_leads_may_interrupt() {
    let mut world = World::new();
    let now = |to: &str| Send { to: to.to_owned(), text: "!".to_owned(), priority: Priority::Now, ..Send::default() };
    let answer = world.answer("a", Verb::Send(now("b")));
    assert_eq!(answer.notes.len(), 1, "and it is told so");
    assert_eq!(world.answer("operator", Verb::Send(now("b"))).notes, Vec::<String>::new());
    let got: Vec<Priority> = world.inbox("b").iter().map(|m| m.priority).collect();
    assert_eq!(got.len(), 2);
    assert!(got.contains(&Priority::Next) && got.contains(&Priority::Now), "{got:?}");
}

#[test]
fn a_mailbox_that_is_full_refuses_and_says_which_setting_helps() {
    let mut world = World::new();
    world.made.roster(|team| team.settings.limits.queue_depth = 2);
    world.answer("a", send("b", "1"));
    world.answer("a", send("b", "2"));
    let error = world.sends("a", "b", "3").unwrap_err();
    assert_eq!(error.code, 1);
    assert!(error.message.contains("2 unread") && error.hints[0].contains("queue_depth"), "{error:?}");
    world.answer("operator", send("a", "others are not full"));
    let ids: Vec<MessageId> = world.inbox("b").iter().map(|m| m.id).collect();
    inbox::ack(&world.dir("b"), &ids, None).unwrap();
    world.answer("a", send("b", "3"));
}

#[test]
fn a_long_text_lies_in_a_blob_and_a_longer_one_is_refused() {
    let mut world = World::new();
    let inline = "x".repeat(MAX_INLINE_BYTES);
    world.answer("a", send("b", &inline));
    assert_eq!(world.inbox("b")[0].content().map(str::len), Some(MAX_INLINE_BYTES));

    let long = "y".repeat(MAX_INLINE_BYTES + 1);
    world.answer("a", send("b", &long));
    let message = world.inbox("b").pop().unwrap();
    assert_eq!((message.content(), message.body["bytes"].as_u64()), (None, Some(long.len() as u64)));
    assert_eq!(send::read_text(&world.made.desk.dir, &message), Some(long));

    let most = "z".repeat(MAX_BLOB_BYTES);
    world.answer("a", send("b", &most));
    let error = world.sends("a", "b", &(most + "z")).unwrap_err();
    assert_eq!(error.code, 2);
    assert!(error.message.contains("8388609 bytes") && error.hints[0].contains("SCRATCH"), "{error:?}");
    assert_eq!(world.inbox("b").len(), 3);
}

fn reports(world: &World) -> Vec<(TaskId, ReportStatus, String)> {
    let mail = world.inbox("team-lead");
    let reports = mail.iter().filter_map(|m| match m.typed() {
        Some(Body::Report(report)) => Some((report.task_id.unwrap(), report.status, report.result)),
        _ => None,
    });
    reports.collect()
}

#[test]
fn f50_the_end_of_a_task_is_reported_exactly_once() {
    let mut world = World::new();
    world.answer("operator", new_task("one"));
    let claimed = world.answer("a", Verb::TaskClaim { id: None });
    assert_eq!((&claimed.value["id"], &claimed.value["owner"]), (&json!("1"), &json!("a")));
    assert!(reports(&world).is_empty());
    world.answer("a", done(1));
    let once = vec![(TaskId(1), ReportStatus::Completed, "all good".to_owned())];
    assert_eq!(reports(&world), once);
    let _ = world.does("a", done(1));
    let _ = world.does("operator", done(1));
    assert_eq!(reports(&world), once, "said again, it is told once");
}

#[test]
fn f50_a_failure_is_reported_when_no_retry_is_left() {
    let mut world = World::new();
    let new: NewTask = serde_json::from_value(json!({"subject": "one", "retries": 1})).unwrap();
    world.answer("operator", Verb::TaskAdd { task: new });
    for left in [1, 0] {
        world.answer("a", Verb::TaskClaim { id: None });
        let result = TaskResult { error: Some("no".to_owned()), ..TaskResult::default() };
        world.answer("a", Verb::TaskFail { id: TaskId(1), epoch: None, result });
        assert_eq!(reports(&world).len(), 1 - left);
    }
    assert_eq!(reports(&world)[0].1, ReportStatus::Failed);
}

#[test]
fn f48_a_late_word_of_another_epoch_is_refused_and_not_reported() {
    let mut world = World::new();
    world.answer("operator", new_task("one"));
    world.answer("a", Verb::TaskClaim { id: None });
    let late = Verb::TaskDone { id: TaskId(1), epoch: Some(99), result: TaskResult::default() };
    assert_eq!(world.refused("a", late).code, 7);
    assert_eq!(world.refused("b", done(1)).code, 7, "nor is it b's");
    assert!(reports(&world).is_empty());
}

#[test]
fn f46_a_claim_is_won_by_one_and_by_its_limit() {
    let mut world = World::new();
    world.answer("operator", new_task("one"));
    world.answer("operator", new_task("two"));
    world.answer("a", Verb::TaskClaim { id: Some(TaskId(1)) });
    assert_eq!(world.refused("b", Verb::TaskClaim { id: Some(TaskId(1)) }).code, 7);
    assert_eq!(world.refused("a", Verb::TaskClaim { id: Some(TaskId(2)) }).code, 7, "one at a time");
    assert_eq!(world.refused("gone", Verb::TaskClaim { id: None }).code, 4, "it has ended");
}

#[test]
fn who_is_assigned_a_task_hears_of_it_and_only_who_lives_is() {
    let mut world = World::new();
    world.answer("operator", new_task("one"));
    let assign = |who: &str| Verb::TaskAssign { id: TaskId(1), member: Some(name(who)) };
    assert_eq!(world.refused("operator", assign("gone")).code, 4);
    assert_eq!(world.refused("operator", assign("team-lead")).code, 4);
    assert_eq!(world.refused("operator", assign("x")).code, 3);
    world.answer("operator", assign("b"));
    let mail = world.inbox("b");
    assert!(matches!(mail[0].typed(), Some(Body::TaskAssigned { task_id: TaskId(1), .. })), "{mail:?}");
    assert!(world.inbox("a").is_empty());
}

#[test]
fn a_plan_goes_to_the_lead_with_its_hash_and_life() {
    let mut world = World::new();
    assert_eq!(world.refused("a", plan(" \n")).code, 2);
    assert_eq!(world.refused("a", plan(&"p".repeat(MAX_INLINE_BYTES + 1))).code, 2);
    let answer = world.answer("a", plan("# Do it"));
    let mail = world.lane("team-lead", Lane::Control);
    let Some(Body::PlanApprovalRequest { life, hash, plan, .. }) = mail[0].typed() else { panic!("{mail:?}") };
    assert_eq!((json!(hash), plan.as_str()), (answer.value["hash"].clone(), "# Do it"));
    assert_eq!(Some(life), world.who("a").life);
    assert_eq!(mail.len(), 1);
}

#[test]
fn the_operator_reads_and_marks_the_leads_mail() {
    let mut world = World::new();
    world.answer("a", send("operator", "1"));
    world.answer("a", send("operator", "2"));
    let first = world.answer("operator", Verb::Ack { ids: Vec::new(), up_to: Some(1) });
    assert_eq!(first.value["read"], 1);
    assert_eq!(world.texts("team-lead"), ["2"]);
}

#[test]
fn a_team_that_is_not_there_is_not_made() {
    let made = Made::team(&[]);
    let Err(error) = Desk::open(&made.home, &Name::parse("tt").unwrap()) else { panic!() };
    assert_eq!((error.code, error.hints), (3, vec!["did you mean t?".to_owned()]));
}
