//! A session of the sweep's role, in which every call is rolled back.

use crate::client::{Client, Trouble};
use crate::watch::{self, Patience, Seen};
use std::time::Duration;

/// A session that is reopened if it is lost.
pub struct Session {
    role: String,
    settings: String,
    /// The connection.
    pub client: Client,
}

impl Session {
    /// Opens a session with these settings.
    pub fn open(role: &str, settings: &str) -> Result<Session, String> {
        let client = Client::connect(role, settings)?;
        Ok(Session {
            role: role.to_owned(),
            settings: settings.to_owned(),
            client,
        })
    }

    /// Makes a call in a transaction of its own and watches it. If it is still running when the patience is
    /// over, `stop` is called with the process id of the backend.
    pub fn call(
        &mut self,
        sql: &str,
        timeout: Option<Duration>,
        patience: Patience,
        stop: impl FnOnce(u32),
    ) -> Result<Seen, String> {
        let begin = match timeout {
            Some(timeout) => format!(
                "BEGIN; SET LOCAL statement_timeout = {}",
                timeout.as_millis().max(1)
            ),
            None => "BEGIN".to_owned(),
        };
        if let Err(Trouble::Lost(_)) = self.client.execute(&begin) {
            // The server has restarted, or the signal for the previous call came late.
            self.reopen()?;
            self.client
                .execute(&begin)
                .map_err(|trouble| trouble.to_string())?;
        }
        let pid = self.client.pid;
        Ok(watch::run(&mut self.client, sql, patience, || stop(pid)))
    }

    /// Rolls back the call. Returns whether the session is still the same.
    pub fn undo(&mut self, seen: &Seen) -> Result<bool, String> {
        let lost = matches!(seen.outcome, Err(Trouble::Lost(_)));
        match !lost && self.client.execute("ROLLBACK").is_ok() {
            true => Ok(true),
            false => self.reopen().map(|()| false),
        }
    }

    /// Opens the session again.
    pub fn reopen(&mut self) -> Result<(), String> {
        self.client = Client::connect(&self.role, &self.settings)?;
        Ok(())
    }
}
