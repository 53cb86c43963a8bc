//! The process of a server.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde::Deserialize;

/// The program could not be started, or the server was not ready.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program, from the environment variable COXSWAIN or PATH, could not be started.
    #[error("cannot start {0:?}: {1}")]
    Program(OsString, #[source] io::Error),
    /// The program ended, or printed something else than a server.
    #[error("coxswain did not start a server; standard error has its message")]
    NotReady,
}

/// The line that the program prints when the server is ready.
#[derive(Deserialize)]
struct Announcement {
    url: String,
    kubeconfig: PathBuf,
}

/// A running server, which serves until its standard input closes.
pub struct Process {
    child: Child,
    server: Announcement,
}

impl Process {
    /// Starts the program and waits, on a thread for blocking tasks, until the server is ready.
    pub async fn start(flags: Vec<String>) -> Result<Process, StartError> {
        let started = tokio::task::spawn_blocking(move || Process::start_blocking(&flags));
        started.await.expect("starting a process does not panic")
    }

    fn start_blocking(flags: &[String]) -> Result<Process, StartError> {
        let program = env::var_os("COXSWAIN").unwrap_or_else(|| "coxswain".into());
        let mut child = Command::new(&program)
            .args(["test", "--until-stdin-closes"])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| StartError::Program(program, error))?;
        match announced(&mut child) {
            Some(server) => Ok(Process { child, server }),
            None => {
                end(&mut child);
                Err(StartError::NotReady)
            }
        }
    }

    pub fn url(&self) -> &str {
        &self.server.url
    }

    pub fn kubeconfig(&self) -> &Path {
        &self.server.kubeconfig
    }
}

/// The server prints one line when it is ready, and none if it cannot start.
fn announced(child: &mut Child) -> Option<Announcement> {
    let mut line = String::new();
    BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// Closes standard input and waits for the end. The result is of no use to a test that is over.
fn end(child: &mut Child) {
    drop(child.stdin.take());
    let _ = child.wait();
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}
