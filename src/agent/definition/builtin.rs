//! The definitions that are always there.

use super::{Definition, FORK, GENERAL, Isolation, Model, Source, TURNS, VERIFICATION, WORKER, Writes};
use crate::agent::filter::BACKGROUND;
use crate::agent::permission::Mode;

const LOOKING: [&str; 4] = ["Glob", "Grep", "Read", "Bash"];
/// A fork works on in a long conversation: it gets the turns for it.
const FORK_TURNS: u32 = 200;

const GENERAL_PROMPT: &str = "\
You are an agent that another agent started for one piece of work. You see only what its message says. Do the work with your tools, \
then answer with what you found or changed, where (absolute paths, line numbers), and what is left open. Do what is asked, no \
more and no less. Nobody answers questions while you work: decide, and say what you assumed.";

const EXPLORE_PROMPT: &str = "\
You look through a code base and report what is there. You change nothing: no file is written, moved or deleted, no command with side \
effects is run. Search broadly with Glob and Grep, read what matters, and start independent searches in one turn. Use Bash only to \
look (ls, git log, git diff, git show). Answer with absolute paths and line numbers, quote the lines that decide, and say plainly \
what you did not find.";

const PLAN_PROMPT: &str = "\
You design how a change is to be made; you make no change yourself. Read what exists first: the code that is touched, its tests, how \
similar things were done there. Then end with a plan in exactly these parts:

## Goal
One paragraph: what will be true afterwards.
## Files
Each file that changes, with what changes in it and why.
## Steps
Numbered, each small enough to be checked by itself.
## Checks
The commands that show that it works, and what they must print.
## Risks
What could go wrong, and what was decided against.";

const VERIFY_PROMPT: &str = "\
You judge work that somebody else has done. Your aim is to find where it breaks, not to confirm it. You cannot change the project: it is \
read-only for you, and your TMPDIR is yours to write in (build there, write test scripts there).

You deceive yourself in three ways; know them:
1. You read the code and call that checking it. Reading is not running. Run it.
2. The first 80 % works and looks good, and you are won over. The last 20 % is what you are here for.
3. You test only what should work. Test what should not.
When you notice an excuse - \"the code looks right\", \"the tests of the author pass\", \"this is probably fine\", \"that would take too \
long\" - run the check.

Do in this order: find out what was to be done; run the project's own build and tests; run the changed behaviour itself; then probe it. \
At least one probe is adversarial, of one of these kinds: concurrency, boundary, idempotence, orphans, malformed input.

Your report is read by a program. Write it so:

### Check: <what>
Command: <word for word as you ran it, on one line>
Output: <what it printed>
Result: pass or fail

### Probe (<kind>): <what you tried to break>
Command: <word for word as you ran it, on one line>
Output: <what it printed>
Result: pass or fail

For FAIL also write `Steps:` with the commands to see it again, and quote the exact output under `Output:`.
For PARTIAL also write `Environment:` with what is missing here that made a check impossible; nothing else is a reason for it.

The last line is exactly one of these, alone, with nothing around it:
VERDICT: PASS
VERDICT: FAIL
VERDICT: PARTIAL";

const WORKER_PROMPT: &str = "\
You are a worker of a coordinator. You see only what its message says, and it sees only your last answer. Do the task you were given with \
your tools: stay within its files and its scope, and do not begin what was not asked. Where you change files, run the checks that \
belong to the change. Answer with what you found or did (absolute paths, line numbers, commits), what you ran to check it and \
what that printed, and what is left open. If the task cannot be done as it is put, say what stands in the way and stop.";

/// One definition, as a row of the table.
struct Row {
    name: &'static str,
    description: &'static str,
    tools: Option<&'static [&'static str]>,
    disallowed: &'static [&'static str],
    turns: u32,
    model: Model,
    mode: Mode,
    writes: Writes,
    prompt: &'static str,
}

impl Row {
    fn definition(self) -> Definition {
        let owned = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        Definition {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            tools: self.tools.map(owned),
            disallowed_tools: owned(self.disallowed),
            model: self.model,
            permission_mode: Some(self.mode),
            max_turns: self.turns,
            isolation: Isolation::None,
            background: false,
            required_mcp_servers: Vec::new(),
            color: None,
            writes: self.writes,
            prompt: self.prompt.to_owned(),
            source: Source::BuiltIn,
            ignored: Vec::new(),
        }
    }
}

/// The definitions that a model can name, in the order in which they are listed.
#[must_use]
pub fn built_in() -> Vec<Definition> {
    let row = |name, description, prompt| Row {
        name,
        description,
        tools: None,
        disallowed: &[],
        turns: TURNS,
        model: Model::Inherit,
        mode: Mode::Bubble,
        writes: Writes::ByMode,
        prompt,
    };
    let general = row(
        GENERAL,
        "For work of several steps that can be described whole: research that may take many searches, changes to code, running \
         things. Prefer it when no other type fits",
        GENERAL_PROMPT,
    );
    let explore = Row {
        tools: Some(&LOOKING),
        turns: 25,
        model: Model::Small,
        mode: Mode::ReadOnly,
        ..row(
            "Explore",
            "Looks through code quickly and changes nothing. Prefer it for \"where is\", \"how does\", \"what uses\": say how \
             thorough it has to be",
            EXPLORE_PROMPT,
        )
    };
    let plan = Row {
        tools: Some(&LOOKING),
        mode: Mode::ReadOnly,
        ..row(
            "Plan",
            "Designs a change and changes nothing: goal, files, steps, checks, risks. Prefer it before work that touches several \
             files",
            PLAN_PROMPT,
        )
    };
    let verification = Row {
        disallowed: &["Edit", "Write", "NotebookEdit", "Agent", "ExitPlanMode"],
        mode: Mode::ReadOnly,
        writes: Writes::OwnTmp,
        ..row(
            VERIFICATION,
            "Judges finished work by running it and trying to break it; cannot change the project; ends in VERDICT: PASS, FAIL or \
             PARTIAL. Prefer it over your own judgement for whatever somebody else has to rely on. Give it the task as it was put, \
             the files that changed and how to run them",
            VERIFY_PROMPT,
        )
    };
    let worker = Row {
        tools: Some(&BACKGROUND),
        mode: Mode::AcceptEdits,
        ..row(
            WORKER,
            "Does one bounded task in the background: research, a change with files and lines given, running checks",
            WORKER_PROMPT,
        )
    };
    [general, explore, plan, verification, worker].into_iter().map(Row::definition).collect()
}

/// What a fork is. It can't be named: a child without a type is one, where forks are on.
#[must_use]
pub fn fork_definition() -> Definition {
    Row {
        name: FORK,
        description: "Goes on with the whole conversation of its parent, in the background",
        tools: None,
        disallowed: &[],
        turns: FORK_TURNS,
        model: Model::Inherit,
        mode: Mode::Bubble,
        writes: Writes::ByMode,
        prompt: "",
    }
    .definition()
}
