use proptest::prelude::*;

use super::*;
use crate::model::name::AgentId;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn id(n: u64) -> RequestId {
    RequestId::derived(&[&n.to_string()])
}

fn life(n: u64) -> Life {
    Life::derived(&[&n.to_string()])
}

fn at(seconds: i64) -> Timestamp {
    Timestamp(seconds * 1_000_000)
}

fn request(n: u64, kind: RequestKind, member: &str) -> Request {
    Request {
        id: id(n),
        kind,
        from: AgentId::new(name(member), name("audit")),
        member: name(member),
        life: Some(life(1)),
        state: RequestState::Open,
        created_at: at(i64::try_from(n).unwrap()),
        expires: Some(at(100)),
        summary: "s".into(),
        hash: (kind == RequestKind::Plan).then(|| "h1".into()),
        body: Value::Null,
        decision: None,
        answered: false,
        asked_by: None,
    }
}

fn operator() -> Decider {
    Decider { name: Name::operator(), life: None, authority: Authority::Operator }
}

fn lead() -> Decider {
    Decider { name: Name::lead(), life: None, authority: Authority::Lead }
}

fn member(text: &str, n: u64) -> Decider {
    Decider { name: name(text), life: Some(life(n)), authority: Authority::Member }
}

const YES: Verdict<'_> = Verdict { approve: true, hash: None, feedback: None, always: false };

fn ledger() -> Ledger {
    let mut ledger = Ledger::default();
    for (n, kind) in [(1, RequestKind::Plan), (2, RequestKind::Shutdown), (3, RequestKind::Permission)] {
        ledger.apply(ledger.open(request(n, kind, "scan")).unwrap());
    }
    ledger
}

#[test]
fn only_those_who_were_asked_decide() {
    let ledger = ledger();
    for (n, by, code) in [
        (1, operator(), 0),
        (1, lead(), 0),
        (1, member("scan", 1), 4),
        (1, member("other", 1), 4),
        (2, operator(), 4),
        (2, lead(), 4),
        (2, member("scan", 1), 0),
        (2, member("scan", 2), 7),
        (2, member("other", 1), 4),
        (3, operator(), 0),
        (3, lead(), 0),
        (3, member("scan", 1), 4),
        (9, operator(), 3),
    ] {
        let got = ledger.decide(id(n), &by, &YES, at(10)).map_or_else(|e| e.exit_code(), |_| 0);
        assert_eq!(got, code, "request {n} by {by:?}");
    }
}

#[test]
fn an_agent_that_leads_does_not_decide_its_own_plan() {
    let mut ledger = Ledger::default();
    let plan = Request { member: Name::lead(), ..request(1, RequestKind::Plan, "scan") };
    ledger.apply(ledger.open(plan).unwrap());
    assert_eq!(ledger.decide(id(1), &lead(), &YES, at(10)).unwrap_err().exit_code(), 4);
}

#[test]
fn a_second_a_late_and_a_foreign_decision_are_inert() {
    let mut ledger = ledger();
    let other = Verdict { hash: Some("h2"), ..YES };
    assert!(matches!(ledger.decide(id(1), &operator(), &other, at(10)), Err(LedgerError::OtherHash { .. })));
    assert!(matches!(ledger.decide(id(1), &operator(), &YES, at(100)), Err(LedgerError::Late { .. })));
    let bound = Verdict { hash: Some("h1"), feedback: Some("good"), ..YES };
    ledger.apply(ledger.decide(id(1), &operator(), &bound, at(10)).unwrap());
    let before = ledger.clone();
    for approve in [true, false] {
        let again = ledger.decide(id(1), &operator(), &Verdict { approve, ..YES }, at(11)).unwrap_err();
        assert_eq!(again.exit_code(), 7);
        assert_eq!(again.to_string(), format!("request {} is approved already, by operator", id(1)));
    }
    assert_eq!(ledger, before);
    let decision = ledger.get(id(1)).unwrap().decision.clone().unwrap();
    assert_eq!((decision.approve, decision.feedback.as_deref()), (true, Some("good")));
}

#[test]
fn always_is_for_permissions_alone() {
    let ledger = ledger();
    let always = Verdict { always: true, ..YES };
    assert_eq!(ledger.decide(id(1), &lead(), &always, at(10)).unwrap_err().exit_code(), 2);
    assert!(ledger.decide(id(3), &lead(), &always, at(10)).is_ok());
    let never = Verdict { approve: false, ..always };
    assert_eq!(ledger.decide(id(3), &lead(), &never, at(10)).unwrap_err().exit_code(), 2);
}

#[test]
fn time_and_the_end_of_a_life_end_requests() {
    let mut ledger = ledger();
    assert_eq!(ledger.next_expiry(), Some(at(100)));
    assert!(ledger.expire(at(99)).is_empty());
    assert!(ledger.withdraw_life(&name("scan"), life(2)).is_empty());
    let expired = ledger.expire(at(100));
    let withdrawn = ledger.withdraw_life(&name("scan"), life(1));
    assert_eq!((expired.len(), withdrawn.len()), (3, 3));

    ledger.apply(withdrawn[0].clone());
    for record in expired {
        ledger.apply(record);
    }
    let states: Vec<_> = [1, 2, 3].map(|n| ledger.get(id(n)).unwrap().state).into();
    assert_eq!(states, [RequestState::Withdrawn, RequestState::Expired, RequestState::Expired]);
    assert_eq!(ledger.unanswered().iter().map(|r| r.id).collect::<Vec<_>>(), [id(2), id(3)]);
    assert_eq!(ledger.decide(id(3), &lead(), &YES, at(10)).unwrap_err().exit_code(), 7);
    assert_eq!(ledger.withdraw(id(3)).unwrap_err().exit_code(), 7);
}

#[test]
fn an_answer_is_noted_once_and_only_after_the_end() {
    let mut ledger = ledger();
    assert_eq!(ledger.answered(id(1)).unwrap_err(), LedgerError::StillOpen(id(1)));
    ledger.apply(ledger.decide(id(1), &lead(), &YES, at(10)).unwrap());
    assert_eq!(ledger.unanswered().len(), 1);
    ledger.apply(ledger.answered(id(1)).unwrap().unwrap());
    assert_eq!(ledger.answered(id(1)).unwrap(), None);
    assert!(ledger.unanswered().is_empty());
}

#[test]
fn a_withdrawn_shutdown_that_someone_waits_for_is_answered() {
    let mut ledger = Ledger::default();
    let asked_by = Some(crate::model::id::MessageId::derived(&["verb"]));
    ledger.apply(ledger.open(Request { asked_by, ..request(1, RequestKind::Shutdown, "scan") }).unwrap());
    assert!(ledger.open_for(&name("scan"), RequestKind::Shutdown).is_some());
    ledger.apply(ledger.withdraw(id(1)).unwrap());
    assert!(ledger.open_for(&name("scan"), RequestKind::Shutdown).is_none());
    assert_eq!(ledger.unanswered().len(), 1);
}

#[test]
fn nothing_enters_twice_or_decided() {
    let ledger = ledger();
    assert_eq!(ledger.open(request(1, RequestKind::Plan, "scan")).unwrap_err().exit_code(), 7);
    let decided = Request { state: RequestState::Approved, ..request(4, RequestKind::Plan, "scan") };
    assert_eq!(ledger.open(decided).unwrap_err(), LedgerError::NotNew);
}

#[test]
fn records_read_as_they_are_documented() {
    let ledger = ledger();
    let record = ledger.decide(id(1), &lead(), &YES, at(10)).unwrap();
    let line = serde_json::to_value(&record).unwrap();
    assert_eq!((&line["type"], &line["event"]), (&"request".into(), &"approved".into()));
    assert_eq!(serde_json::from_value::<LedgerRecord>(line).unwrap(), record);
    let snapshot = ledger.snapshot();
    let text = serde_json::to_string(&snapshot).unwrap();
    assert!(text.starts_with(r#"{"type":"snapshot","requests":["#));
    assert_eq!(serde_json::from_str::<LedgerRecord>(&text).unwrap(), snapshot);
}

#[derive(Clone, Debug)]
enum Op {
    Open(u64, RequestKind),
    Decide(u64, u8, bool, bool),
    Expire,
    Withdraw(u64),
    WithdrawLife,
    Answered(u64),
    ReplayOld(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let kind = prop_oneof![Just(RequestKind::Plan), Just(RequestKind::Shutdown), Just(RequestKind::Permission)];
    prop_oneof![
        3 => (0..6u64, kind).prop_map(|(n, k)| Op::Open(n, k)),
        5 => (0..6u64, 0..4u8, any::<bool>(), any::<bool>()).prop_map(|(n, w, a, h)| Op::Decide(n, w, a, h)),
        1 => Just(Op::Expire),
        1 => (0..6u64).prop_map(Op::Withdraw),
        1 => Just(Op::WithdrawLife),
        2 => (0..6u64).prop_map(Op::Answered),
        2 => (0..50usize).prop_map(Op::ReplayOld),
    ]
}

proptest! {
    #[test]
    fn a_request_ends_once(ops in prop::collection::vec((op(), 0..30i64), 1..60)) {
        let mut ledger = Ledger::default();
        let mut log: Vec<LedgerRecord> = Vec::new();
        let mut now = 0;
        for (op, pass) in ops {
            now += pass;
            let records: Vec<LedgerRecord> = match op {
                Op::Open(n, kind) => ledger.open(Request { expires: Some(at(now + 60)), ..request(n, kind, "scan") }).into_iter().collect(),
                Op::Decide(n, who, approve, wrong) => {
                    let by = [operator(), lead(), member("scan", 1), member("other", 1)][usize::from(who)].clone();
                    let hash = wrong.then_some("h2");
                    ledger.decide(id(n), &by, &Verdict { approve, hash, ..YES }, at(now)).into_iter().collect()
                }
                Op::Expire => ledger.expire(at(now)),
                Op::Withdraw(n) => ledger.withdraw(id(n)).into_iter().collect(),
                Op::WithdrawLife => ledger.withdraw_life(&name("scan"), life(1)),
                Op::Answered(n) => ledger.answered(id(n)).ok().flatten().into_iter().collect(),
                Op::ReplayOld(n) => {
                    // A record that comes again, however old, changes nothing.
                    if let Some(old) = log.get(n).cloned() {
                        let before = ledger.clone();
                        ledger.apply(old);
                        prop_assert_eq!(&ledger, &before);
                    }
                    Vec::new()
                }
            };
            for record in records {
                let request = record.request().unwrap();
                let before = ledger.get(request.id).cloned();
                let LedgerRecord::Request { event, .. } = &record else { unreachable!() };
                match event {
                    RequestEvent::Opened => prop_assert!(before.is_none()),
                    RequestEvent::Answered => prop_assert!(before.is_some_and(|r| r.state != RequestState::Open && !r.answered)),
                    _ => prop_assert!(before.is_some_and(|r| r.state == RequestState::Open && r.decision.is_none())),
                }
                let decided = matches!(request.state, RequestState::Approved | RequestState::Rejected);
                prop_assert_eq!(request.decision.is_some(), decided);
                log.push(record.clone());
                ledger.apply(record);
            }
        }
        let mut replayed = Ledger::default();
        log.iter().cloned().for_each(|r| replayed.apply(r));
        prop_assert_eq!(&replayed, &ledger);
        let mut from_snapshot = Ledger::default();
        from_snapshot.apply(ledger.snapshot());
        prop_assert_eq!(&from_snapshot, &ledger);
    }
}

#[test]
fn a_word_for_always_covers_the_same_tool_with_the_same_scope_or_input() {
    let mut ledger = Ledger::default();
    let input = serde_json::json!({"command": "git status"});
    for (n, scope) in [(1, Value::Null), (2, Value::from("git"))] {
        let mut asked = request(n, RequestKind::Permission, "scan");
        asked.body = serde_json::json!({"tool": "shell", "input": input, "scope": scope});
        ledger.apply(ledger.open(asked).unwrap());
    }
    assert!(ledger.allowed_always("shell", &input, None).is_none(), "an open one allows nothing");
    ledger.apply(ledger.decide(id(1), &operator(), &YES, at(50)).unwrap());
    assert!(ledger.allowed_always("shell", &input, None).is_none(), "once is once");

    let always = Verdict { always: true, ..YES };
    ledger.apply(ledger.decide(id(2), &operator(), &always, at(50)).unwrap());
    let other = serde_json::json!({"command": "git push"});
    let allowed = |tool, input, scope| ledger.allowed_always(tool, input, scope).map(|r| r.id);
    assert_eq!(allowed("shell", &other, Some("git")), Some(id(2)));
    assert_eq!(allowed("shell", &other, Some("rm")), None);
    assert_eq!(allowed("edit", &other, Some("git")), None);
    assert_eq!(allowed("shell", &input, None), None, "what was given for a scope is asked with it");

    let mut plain = request(3, RequestKind::Permission, "scan");
    plain.body = serde_json::json!({"tool": "shell", "input": input});
    ledger.apply(ledger.open(plain).unwrap());
    ledger.apply(ledger.decide(id(3), &operator(), &always, at(50)).unwrap());
    let allowed = |input| ledger.allowed_always("shell", input, None).map(|r| r.id);
    assert_eq!((allowed(&input), allowed(&other)), (Some(id(3)), None));
    let folded = {
        let mut again = Ledger::default();
        again.apply(ledger.snapshot());
        again
    };
    assert_eq!(folded.grants().len(), 2, "a snapshot remembers them");
}
