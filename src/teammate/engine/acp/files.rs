//! Files that an agent asks its client for. They are read and written by programs of the member's own sandbox, so an
//! agent reaches no more through its client than by itself.

use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{AcpEvent, Tell};
use crate::os::spawn::{Program, StdioChild, spawn_with_stdio};

/// Makes a program of the member's environment and sandbox from an argv.
pub(super) type Serve = Box<dyn Fn(Vec<String>) -> Program + Send + Sync>;

/// Most bytes of a file that are given to an agent.
const MOST: u64 = 10 * 1024 * 1024;
/// Writes its input to a file, whose folder it makes.
const WRITE: &str = r#"mkdir -p -- "$(dirname -- "$1")" && exec cat >"$1""#;

pub(super) async fn read(
    serve: &Arc<Serve>,
    tell: &Tell,
    request: ReadTextFileRequest,
) -> Result<ReadTextFileResponse, Error> {
    let path = absolute(&request.path)?;
    let text = run(serve, vec!["cat".to_owned(), "--".to_owned(), path.clone()], "").await;
    let text = told(tell, "read", &path, text)?;
    let skip = request.line.map_or(0, |line| line.saturating_sub(1) as usize);
    let take = request.limit.map_or(usize::MAX, |limit| limit as usize);
    if request.line.is_none() && request.limit.is_none() {
        return Ok(ReadTextFileResponse::new(text));
    }
    Ok(ReadTextFileResponse::new(text.split_inclusive('\n').skip(skip).take(take).collect::<String>()))
}

pub(super) async fn write(
    serve: &Arc<Serve>,
    tell: &Tell,
    request: WriteTextFileRequest,
) -> Result<WriteTextFileResponse, Error> {
    let path = absolute(&request.path)?;
    let argv = ["sh", "-c", WRITE, "sh", &path].map(str::to_owned).to_vec();
    told(tell, "wrote", &path, run(serve, argv, &request.content).await)?;
    Ok(WriteTextFileResponse::new())
}

fn absolute(path: &std::path::Path) -> Result<String, Error> {
    let text = path.to_str().filter(|_| path.is_absolute());
    text.map(str::to_owned).ok_or_else(|| Error::invalid_params().data("the path must be absolute"))
}

fn told(tell: &Tell, did: &str, path: &str, result: Result<String, String>) -> Result<String, Error> {
    match result {
        Ok(text) => {
            tell.say(AcpEvent::Served(format!("{did} {path}")));
            Ok(text)
        }
        Err(why) => {
            tell.say(AcpEvent::Served(format!("refused: {why}")));
            Err(Error::internal_error().data(why))
        }
    }
}

/// Runs a program with `input`; its output, or what it said instead.
async fn run(serve: &Arc<Serve>, argv: Vec<String>, input: &str) -> Result<String, String> {
    let program = serve(argv);
    let StdioChild { mut child, mut stdin, stdout, stderr, kept, .. } =
        spawn_with_stdio(&program).map_err(|e| e.to_string())?;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let write = async {
        // One that ends early says why itself.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
    };
    let (mut stdout, mut stderr) = (stdout.take(MOST + 1), stderr.take(4096));
    let ((), read, _) = tokio::join!(write, stdout.read_to_end(&mut out), stderr.read_to_end(&mut err));
    drop((stdout, stderr));
    let status = child.wait().await;
    drop(kept);
    read.map_err(|e| e.to_string())?;
    if out.len() as u64 > MOST {
        return Err(format!("the file is larger than {} MiB", MOST / (1024 * 1024)));
    }
    match status {
        Ok(status) if status.success() => String::from_utf8(out).map_err(|_| "the file is not UTF-8".to_owned()),
        Ok(_) if !err.is_empty() => Err(String::from_utf8_lossy(&err).trim().to_owned()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
