//! How far a team is: what came of its tasks and what will never come.

use super::desk::Desk;
use super::error::ActError;
use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::spec::EngineKind;
use crate::model::task::{Task, TaskStatus};
use crate::model::team::{Exit, Member};

/// The board against the roster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TeamOutlook {
    /// Nothing is in progress and nothing pending can still be claimed by a member that lives or will be started
    /// again. Of a team without tasks: every `command` member has ended.
    pub done: bool,
    /// Done, and nothing is left over or failed.
    pub all_completed: bool,
    /// Each failed task: id, subject, error.
    pub failed: Vec<(TaskId, String, String)>,
    /// Each pending task that nobody can take: id, subject, why.
    pub stuck: Vec<(TaskId, String, String)>,
    /// Of a team without tasks: members whose program ended badly, and how.
    pub failed_members: Vec<(Name, String)>,
    pub counts: Counts,
}

/// The board in numbers; deleted tasks do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub pending: usize,
    pub in_progress: usize,
    pub completed: usize,
    pub failed: usize,
}

impl Counts {
    #[must_use]
    pub fn total(self) -> usize {
        self.pending + self.in_progress + self.completed + self.failed
    }
}

/// Looks at the team as its files have it now.
///
/// # Errors
/// When the roster or the board cannot be read.
pub fn outlook(desk: &mut Desk) -> Result<TeamOutlook, ActError> {
    // The roster first: a member that it has as ended writes nothing to the board that is read after it.
    let team = desk.team()?;
    let teammates: Vec<Member> = team.teammates().cloned().collect();
    // A place whose teammate has not said hello yet is somebody who may still take a task.
    let coming: Vec<Member> = team.reserved.clone();
    let there: Vec<(Name, &[String])> =
        teammates.iter().filter(|m| m.is_active).chain(&coming).map(|m| (m.name.clone(), capabilities(m))).collect();

    let board = &desk.board.view()?.board;
    let look = board.outlook(&there);
    let counts =
        Counts { pending: look.pending, in_progress: look.in_progress, completed: look.completed, failed: look.failed };
    let subject = |id: TaskId| board.get(id).map(|t| t.subject.clone()).unwrap_or_default();
    let mut out = TeamOutlook {
        done: look.done,
        all_completed: look.done && look.all_completed(),
        failed: board.tasks().values().filter(|t| t.status == TaskStatus::Failed).map(failed).collect(),
        stuck: look.stuck.into_iter().map(|(id, why)| (id, subject(id), why)).collect(),
        failed_members: Vec::new(),
        counts,
    };
    if counts.total() == 0 {
        let ends = |m: &&Member| !matches!(engine(m), EngineKind::Worker | EngineKind::Mcp);
        let programs = || teammates.iter().filter(ends);
        out.done = coming.is_empty() && programs().all(|m| !m.is_active);
        out.failed_members = programs().filter(|m| !m.is_active).filter_map(ended_badly).collect();
        out.all_completed = out.done && out.failed_members.is_empty();
    }
    Ok(out)
}

fn capabilities(member: &Member) -> &[String] {
    member.spec.as_ref().map_or(&[], |s| s.capabilities.as_slice())
}

fn engine(member: &Member) -> EngineKind {
    member.spec.as_ref().map(|s| s.engine).unwrap_or_default()
}

fn failed(task: &Task) -> (TaskId, String, String) {
    let result = task.result.as_ref();
    let error = result.and_then(|r| r.error.clone()).or_else(|| {
        let code = result?.exit_code?;
        Some(format!("exit code {code}"))
    });
    (task.id, task.subject.clone(), error.unwrap_or_else(|| "failed".to_owned()))
}

fn ended_badly(member: &Member) -> Option<(Name, String)> {
    let exit = member.exit.as_ref()?;
    let how = how_it_ended(exit)?;
    Some((member.name.clone(), how))
}

/// How a program ended that did not end well; one that was asked to end did.
#[must_use]
pub fn how_it_ended(exit: &Exit) -> Option<String> {
    match (exit.code, exit.signal, exit.reason.as_str()) {
        (Some(0), ..) | (_, _, "shutdown") => None,
        (Some(code), ..) => Some(format!("exit code {code}")),
        (None, Some(signal), _) => Some(format!("signal {signal}")),
        (None, None, "exited") => None,
        (None, None, reason) => Some(reason.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Made, member, name, task};
    use super::*;

    fn ended(text: &str, code: i32) -> Member {
        let mut out = member(text, EngineKind::Command);
        out.is_active = false;
        out.exit = Some(Exit {
            life: out.life,
            code: Some(code),
            signal: None,
            reason: "exited".to_owned(),
            at: crate::os::clock::now(),
        });
        out
    }

    #[test]
    fn a_team_without_tasks_is_done_when_its_programs_have_ended() {
        let mut made = Made::team(&[member("a", EngineKind::Command), member("w", EngineKind::Worker)]);
        assert!(!outlook(&mut made.desk).unwrap().done);

        let mut made = Made::team(&[ended("a", 0), member("w", EngineKind::Worker)]);
        let look = outlook(&mut made.desk).unwrap();
        assert!(look.done && look.all_completed);

        let mut made = Made::team(&[ended("a", 0), ended("b", 3)]);
        let look = outlook(&mut made.desk).unwrap();
        assert!(look.done && !look.all_completed);
        assert_eq!(look.failed_members, [(name("b"), "exit code 3".to_owned())]);
    }

    #[test]
    fn tasks_that_nobody_can_take_end_it_and_are_named() {
        let mut made = Made::team(&[member("a", EngineKind::Worker)]);
        made.tasks(&[task(1, TaskStatus::Pending)]);
        let look = outlook(&mut made.desk).unwrap();
        assert!(!look.done && look.stuck.is_empty());

        let mut made = Made::team(&[ended("a", 0)]);
        made.tasks(&[task(1, TaskStatus::Pending), task(2, TaskStatus::Failed), task(3, TaskStatus::Completed)]);
        let look = outlook(&mut made.desk).unwrap();
        assert!(look.done && !look.all_completed);
        assert_eq!(look.stuck, [(TaskId(1), "task 1".to_owned(), "nobody is left to take it".to_owned())]);
        assert_eq!(look.failed, [(TaskId(2), "task 2".to_owned(), "failed".to_owned())]);
        assert_eq!(look.counts, Counts { pending: 1, in_progress: 0, completed: 1, failed: 1 });
    }

    #[test]
    fn someone_who_is_still_starting_may_take_a_task() {
        let mut made = Made::team(&[]);
        made.tasks(&[task(1, TaskStatus::Pending)]);
        assert!(outlook(&mut made.desk).unwrap().done);
        made.roster(|team| team.reserved.push(member("a", EngineKind::Worker)));
        assert!(!outlook(&mut made.desk).unwrap().done);
    }
}
