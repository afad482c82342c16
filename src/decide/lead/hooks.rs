//! What a hook's word means to the lead.

use super::state::{Effect, EventRecord, Lead};
use crate::model::hook::{HookKind, Said};
use crate::model::id::{MessageId, RequestId, TaskId};
use crate::model::message::{Body, Text};
use crate::model::name::Name;
use crate::model::request::{RequestKind, RequestState};
use crate::model::time::Timestamp;

impl Lead {
    /// A hook of the lead's own has run. An objection rejects a plan or a permission; nothing else can be undone by
    /// one, so the operator gets its words.
    pub(super) fn hook_said(
        &mut self,
        kind: HookKind,
        name: Option<&Name>,
        request: Option<RequestId>,
        said: Said,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let why = match said {
            Said::Passed => return,
            Said::Failed(why) | Said::CutOff(why) => return out.push(Effect::Log(hook_event(false, kind, name, &why))),
            Said::Vetoed(why) => why,
        };
        out.push(Effect::Log(hook_event(true, kind, name, &why)));
        let open = request.and_then(|id| self.ledger.get(id)).filter(|r| r.state == RequestState::Open).cloned();
        match open.filter(|r| r.kind != RequestKind::Shutdown) {
            Some(request) => {
                self.settle(&request, &Name::lead(), false, Some(why), now, out);
            }
            None => {
                let at = now.to_string();
                let about = name.map_or("", Name::as_str);
                let id = MessageId::derived(&["hook", kind.as_str(), about, &at]);
                let body = Box::new(Body::Text(Text { content: Some(why), ..Text::default() }));
                out.push(Effect::Mail { to: Name::operator(), id, body });
            }
        }
    }

    /// A teammate or a person's command ran one.
    pub(super) fn hook_report(
        &self,
        from: &Name,
        hook: HookKind,
        vetoed: bool,
        said: &str,
        task: Option<TaskId>,
        out: &mut Vec<Effect>,
    ) {
        let from = Some(from).filter(|name| !name.is_operator());
        let mut record = hook_event(vetoed, hook, from, said);
        if let Some(task) = task {
            record = record.with("task_id", task);
        }
        out.push(Effect::Log(record));
    }
}

fn hook_event(vetoed: bool, hook: HookKind, name: Option<&Name>, said: &str) -> EventRecord {
    let record = if vetoed { EventRecord::team("hook_vetoed") } else { EventRecord::team("hook_failed") };
    EventRecord { member: name.cloned(), ..record }.with("hook", hook).with("said", said)
}
