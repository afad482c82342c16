//! The command queue: what waits to enter a conversation.
//!
//! `now` before `next` (people) before `later` (notifications), first in first out within one. It is plain data: who waits on
//! it and who wakes whom is the shell's business.

use std::sync::Arc;

use super::id::AgentId;
pub use crate::model::message::Priority;

/// Where a command comes from; it decides how it is shown, and whether a person may edit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A person typed it.
    Person,
    /// A client's prompt, or mail of the team.
    Prompt,
    /// How a child or a background shell ended: its id.
    Notification { of: String },
}

/// One thing that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Rises by one with each that was ever queued.
    pub id: u64,
    pub to: AgentId,
    pub priority: Priority,
    pub origin: Origin,
    pub content: Vec<super::wire::Block>,
}

impl Command {
    /// Whether it may come back into a person's input line. What a child's end says is nobody's to edit: changed, it would
    /// enter as if the person had seen it happen.
    #[must_use]
    pub fn editable(&self) -> bool {
        self.origin == Origin::Person
    }
}

/// What a reader sees: the queue as it was at one moment, whatever happens to it afterwards.
pub type Snapshot = Arc<[Command]>;

#[derive(Clone, Debug)]
pub struct Queue {
    next: u64,
    /// In the order in which they leave.
    waiting: Snapshot,
}

impl Default for Queue {
    fn default() -> Self {
        Self { next: 1, waiting: Arc::new([]) }
    }
}

impl Queue {
    /// Queues a command and gives its id.
    pub fn push(&mut self, to: AgentId, priority: Priority, origin: Origin, content: Vec<super::wire::Block>) -> u64 {
        let id = self.next;
        self.next += 1;
        let mut all = self.waiting.to_vec();
        // Behind all of its own priority.
        let at = all.partition_point(|c| c.priority <= priority);
        all.insert(at, Command { id, to, priority, origin, content });
        self.waiting = all.into();
        id
    }

    /// Takes the first that fits.
    pub fn pop(&mut self, fits: impl Fn(&Command) -> bool) -> Option<Command> {
        let at = self.waiting.iter().position(fits)?;
        let mut all = self.waiting.to_vec();
        let taken = all.remove(at);
        self.waiting = all.into();
        Some(taken)
    }

    /// Takes all that fit, in their order: a turn takes whatever waits, so that `later` waits one turn at most.
    pub fn drain(&mut self, fits: impl Fn(&Command) -> bool) -> Vec<Command> {
        let (taken, rest): (Vec<_>, Vec<_>) = self.waiting.iter().cloned().partition(fits);
        if !taken.is_empty() {
            self.waiting = rest.into();
        }
        taken
    }

    /// Takes what a person may edit back out, in the order in which it was typed; notifications stay.
    pub fn drain_editable(&mut self) -> Vec<Command> {
        let mut taken = self.drain(Command::editable);
        taken.sort_by_key(|c| c.id);
        taken
    }

    /// The queue as it is now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Arc::clone(&self.waiting)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agent::wire::Block;

    fn note(of: &str) -> Origin {
        Origin::Notification { of: of.to_owned() }
    }

    fn push(queue: &mut Queue, priority: Priority, origin: Origin) -> u64 {
        queue.push(AgentId::main(), priority, origin, vec![Block::text("x")])
    }

    #[test]
    fn now_before_next_before_later_and_first_in_first_out() {
        let mut queue = Queue::default();
        let later = push(&mut queue, Priority::Later, note("a"));
        let next = push(&mut queue, Priority::Next, Origin::Person);
        let now = push(&mut queue, Priority::Now, Origin::Prompt);
        let next2 = push(&mut queue, Priority::Next, Origin::Prompt);
        let later2 = push(&mut queue, Priority::Later, note("b"));
        let order: Vec<u64> = queue.drain(|_| true).iter().map(|c| c.id).collect();
        assert_eq!(order, [now, next, next2, later, later2]);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_reader_keeps_what_it_saw() {
        let mut queue = Queue::default();
        push(&mut queue, Priority::Next, Origin::Person);
        let seen = queue.snapshot();
        push(&mut queue, Priority::Now, Origin::Person);
        queue.pop(|_| true);
        assert_eq!((seen.len(), queue.len()), (1, 1));
        assert_eq!(seen[0].priority, Priority::Next);
    }

    #[test]
    fn a_notification_is_nobody_s_to_edit() {
        let mut queue = Queue::default();
        push(&mut queue, Priority::Now, note("a"));
        let second = push(&mut queue, Priority::Next, Origin::Person);
        let first = push(&mut queue, Priority::Now, Origin::Person);
        push(&mut queue, Priority::Now, Origin::Prompt);
        let taken: Vec<u64> = queue.drain_editable().iter().map(|c| c.id).collect();
        assert_eq!(taken, [second, first], "in the order of typing");
        assert!(queue.snapshot().iter().all(|c| !c.editable()));
        assert_eq!(queue.len(), 2);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(u8, u8),
        Pop(u8),
        Drain(u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0..3u8, 0..3u8).prop_map(|(p, to)| Step::Push(p, to)),
            1 => (0..3u8).prop_map(Step::Pop),
            1 => (0..3u8).prop_map(Step::Drain),
        ]
    }

    fn agent(n: u8) -> AgentId {
        AgentId::parse(&format!("a0000000{n}")).unwrap()
    }

    proptest! {
        /// Against the plainest queue there is: a list that is searched for the least (priority, id).
        #[test]
        fn any_order_of_steps(steps in proptest::collection::vec(step(), 0..60)) {
            let mut queue = Queue::default();
            let mut model: Vec<(Priority, u64, AgentId)> = Vec::new();
            for step in steps {
                match step {
                    Step::Push(p, to) => {
                        let priority = [Priority::Now, Priority::Next, Priority::Later][usize::from(p)];
                        let id = queue.push(agent(to), priority, Origin::Prompt, Vec::new());
                        model.push((priority, id, agent(to)));
                    }
                    Step::Pop(to) => {
                        let wanted = model.iter().filter(|m| m.2 == agent(to)).min().cloned();
                        model.retain(|m| Some(m) != wanted.as_ref());
                        prop_assert_eq!(queue.pop(|c| c.to == agent(to)).map(|c| c.id), wanted.map(|w| w.1));
                    }
                    Step::Drain(to) => {
                        let mut wanted: Vec<_> = model.iter().filter(|m| m.2 == agent(to)).cloned().collect();
                        wanted.sort();
                        model.retain(|m| m.2 != agent(to));
                        let got: Vec<u64> = queue.drain(|c| c.to == agent(to)).iter().map(|c| c.id).collect();
                        prop_assert_eq!(got, wanted.iter().map(|w| w.1).collect::<Vec<_>>());
                    }
                }
                prop_assert_eq!(queue.len(), model.len());
            }
        }
    }
}
