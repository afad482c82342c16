//! What a client may look at and be told of when it changes: the roster, the board, its own mailbox.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rmcp::RoleServer;
use rmcp::model::{Resource, ResourceUpdatedNotificationParam};
use rmcp::service::Peer;
use serde_json::{Value, json};

use super::answer::{MOST_TEXT, Result, cut};
use super::members;
use super::session::{Session, lock};
use crate::act::send::read_text;
use crate::act::{ActError, Client};
use crate::store::Watch;
use crate::view::TaskCounts;
use crate::view::mailbox::Mailbox;

/// Most tasks, or messages, in one resource.
const MOST: usize = 100;
/// A lost wake-up costs no more than this.
const LOOK: Duration = Duration::from_secs(5);

/// What there is: uri, name, what it holds.
pub const ALL: [(&str, &str, &str); 3] = [
    ("crewmux://roster", "roster", "Who is in the team, what each is at, and the open requests"),
    ("crewmux://board", "board", "The tasks of the team's board"),
    ("crewmux://inbox", "inbox", "Your unread mail; reading it here leaves it unread"),
];

pub(super) fn list() -> Vec<Resource> {
    let resource = |(uri, name, about): &(&str, &str, &str)| {
        Resource::new(*uri, *name).with_description(*about).with_mime_type("application/json")
    };
    ALL.iter().map(resource).collect()
}

/// The resource's text; `None` where there is no such thing.
pub(super) async fn read(session: &Arc<Session>, uri: &str) -> Option<Result<String>> {
    let role = session.role();
    let value = match uri {
        "crewmux://roster" => session.with(move |client| members::look(client, role)).await,
        "crewmux://board" => session.with(board).await,
        "crewmux://inbox" => session.with(inbox).await,
        _ => return None,
    };
    Some(value.map(|value| value.to_string()))
}

fn board(client: &mut Client) -> Result {
    let board = &client.desk.board.view()?.board;
    let counts = TaskCounts::of(board.tasks().values());
    // What has not ended comes first: that is what somebody can still do something about.
    let mut tasks: Vec<_> = board.tasks().values().collect();
    tasks.sort_by_key(|t| (t.status.ended(), t.id));
    let shown: Vec<Value> = tasks
        .iter()
        .take(MOST)
        .map(|t| {
            json!({"id": t.id, "status": t.status, "subject": cut(&t.subject, 200).0, "owner": t.owner,
                "blocked_by": t.blocked_by})
        })
        .collect();
    Ok(json!({"counts": counts, "tasks": shown, "more": tasks.len().saturating_sub(MOST)}))
}

fn inbox(client: &mut Client) -> Result {
    let me = client.name();
    let dir = client.desk.mailbox(&me)?;
    let mut mail = Mailbox::unread(dir)?.read(&mut client.desk)?;
    mail.retain(|m| !m.read);
    let shown: Vec<Value> = mail
        .iter()
        .take(MOST)
        .map(|m| {
            let text = read_text(&client.desk.dir, &m.message);
            let content = text.as_deref().map_or_else(|| m.message.body.clone(), |t| json!(cut(t, MOST_TEXT / 6).0));
            json!({"id": m.message.id, "from": m.message.from, "ts": m.ts, "type": m.message.kind,
                "summary": m.message.summary, "content": content})
        })
        .collect();
    Ok(json!({"unread": shown, "more": mail.len().saturating_sub(MOST)}))
}

/// What a client wants to be told of.
#[derive(Default)]
pub(super) struct Subscriptions {
    uris: Arc<Mutex<BTreeSet<String>>>,
    watched: Mutex<bool>,
}

impl Subscriptions {
    /// Tells the client from now on when the resource changes.
    ///
    /// # Errors
    /// No such resource; the team is gone.
    pub async fn add(&self, session: &Arc<Session>, peer: Peer<RoleServer>, uri: &str) -> Result<()> {
        if !ALL.iter().any(|(known, ..)| *known == uri) {
            return Err(ActError::not_found(format!("no resource {uri}")));
        }
        lock(&self.uris).insert(uri.to_owned());
        if std::mem::replace(&mut *lock(&self.watched), true) {
            return Ok(());
        }
        let files = session.with(files).await?;
        tokio::spawn(tell(Arc::clone(session), peer, Arc::clone(&self.uris), files));
        Ok(())
    }

    pub fn remove(&self, uri: &str) {
        lock(&self.uris).remove(uri);
    }
}

/// The files that each resource is made of.
fn files(client: &mut Client) -> Result<Vec<(&'static str, Vec<PathBuf>)>> {
    let me = client.name();
    let mail = client.desk.mailbox(&me)?;
    let dir = &client.desk.dir;
    Ok(vec![
        ("crewmux://roster", vec![dir.team_json(), dir.requests()]),
        ("crewmux://board", vec![dir.tasks()]),
        ("crewmux://inbox", vec![mail.inbox(), mail.cursors()]),
    ])
}

async fn tell(
    session: Arc<Session>,
    peer: Peer<RoleServer>,
    uris: Arc<Mutex<BTreeSet<String>>>,
    files: Vec<(&'static str, Vec<PathBuf>)>,
) {
    let folders: BTreeSet<PathBuf> =
        files.iter().flat_map(|(_, paths)| paths).filter_map(|p| p.parent().map(PathBuf::from)).collect();
    let mut watch = Watch::start(&folders);
    let stamps = |paths: &[PathBuf]| paths.iter().map(|path| stamp(path)).collect::<Vec<_>>();
    let mut seen: Vec<_> = files.iter().map(|(_, paths)| stamps(paths)).collect();
    loop {
        tokio::select! {
            () = session.gone().cancelled() => return,
            _ = watch.changed() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
        for ((uri, paths), seen) in files.iter().zip(&mut seen) {
            let now = stamps(paths);
            if *seen == now {
                continue;
            }
            *seen = now;
            if lock(&uris).contains(*uri)
                && peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(*uri)).await.is_err()
            {
                return;
            }
        }
    }
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}
