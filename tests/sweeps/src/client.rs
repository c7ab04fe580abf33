//! A connection to the test server over its Unix socket. It speaks only the simple query protocol. That lets
//! a sweep watch the backend while a statement runs, which client libraries hide.

use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// SQLSTATE with which a session ends because another one has crashed.
pub const CRASH_ELSEWHERE: &str = "57P02";

/// An error that the server reported.
#[derive(Clone, Debug, Default)]
pub struct ServerError {
    /// SQLSTATE, such as `22023`.
    pub code: String,
    /// Primary message.
    pub message: String,
    /// CONTEXT lines, empty if there are none.
    pub context: String,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // One line, however long the message is.
        let message: String = self.message.chars().take(300).collect();
        write!(f, "{}: {}", self.code, message.replace('\n', " "))
    }
}

/// Reason why a statement gave no result.
#[derive(Debug)]
pub enum Trouble {
    /// The server reported an error; the connection is still open.
    Server(ServerError),
    /// The connection ended, with the last error that the server reported, if any.
    Lost(Option<ServerError>),
}

impl Trouble {
    /// Returns whether the statement was cancelled, by a signal or a timeout.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Trouble::Server(error) if error.code == "57014")
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Trouble::Server(error) => error.fmt(f),
            Trouble::Lost(Some(error)) => write!(f, "the connection was lost, {error}"),
            Trouble::Lost(None) => f.write_str("the connection was lost"),
        }
    }
}

/// Rows of all statements that were sent together, with NULL as an empty text.
pub type Rows = Vec<Vec<String>>;

/// Everything but rows that the server sent in answer to statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Errors, notices and notifications, with all of their fields.
    pub messages: Vec<String>,
    /// Command tags.
    pub tags: Vec<String>,
    /// What COPY TO STDOUT sent.
    pub copied: Vec<u8>,
}

/// A connection, and the state of the statement that it runs.
pub struct Client {
    stream: UnixStream,
    received: Vec<u8>,
    keeps_rows: bool,
    rows: Rows,
    error: Option<ServerError>,
    /// What was heard since the last statements were sent.
    pub heard: Heard,
    /// Process id of the backend.
    pub pid: u32,
}

impl Client {
    /// Connects as `user` to the test database, and runs `settings`.
    pub fn connect(user: &str, settings: &str) -> Result<Client, String> {
        Client::connect_to(&variable("PGDATABASE")?, user, settings)
    }

    /// Connects as `user` to a database, and runs `settings`.
    pub fn connect_to(database: &str, user: &str, settings: &str) -> Result<Client, String> {
        let (host, port) = (variable("PGHOST")?, variable("PGPORT")?);
        let path = format!("{host}/.s.PGSQL.{port}");
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let started = Client::start(&path, user, database).and_then(|mut client| {
                client
                    .execute(settings)
                    .map_err(|trouble| format!("{settings} {trouble}"))?;
                Ok(client)
            });
            match started {
                Ok(client) => return Ok(client),
                // After a crash, the server needs a moment to recover.
                Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(100)),
                Err(error) => return Err(format!("cannot connect to {path}: {error}")),
            }
        }
    }

    fn start(path: &str, user: &str, database: &str) -> Result<Client, String> {
        let stream = UnixStream::connect(path).map_err(|error| error.to_string())?;
        let mut client = Client {
            stream,
            received: Vec::new(),
            keeps_rows: false,
            rows: Vec::new(),
            error: None,
            heard: Heard::default(),
            pid: 0,
        };
        let mut body = 196_608_u32.to_be_bytes().to_vec(); // protocol 3.0
        for text in [
            "user",
            user,
            "database",
            database,
            "client_encoding",
            "UTF8",
            "application_name",
            "sweeps",
            "",
        ] {
            body.extend_from_slice(text.as_bytes());
            body.push(0);
        }
        let mut message = (body.len() as u32 + 4).to_be_bytes().to_vec();
        message.extend(body);
        client
            .stream
            .write_all(&message)
            .map_err(|error| error.to_string())?;
        client.finish().map_err(|trouble| trouble.to_string())?;
        Ok(client)
    }

    /// Runs statements and returns all of their rows.
    pub fn query(&mut self, sql: &str) -> Result<Rows, Trouble> {
        self.keeps_rows = true;
        self.send(sql)?;
        self.finish()
    }

    /// Runs statements and discards their rows.
    pub fn execute(&mut self, sql: &str) -> Result<(), Trouble> {
        self.begin(sql)?;
        self.finish().map(drop)
    }

    /// Sends statements whose rows are discarded; `wait` or `finish` must follow.
    pub fn begin(&mut self, sql: &str) -> Result<(), Trouble> {
        self.keeps_rows = false;
        self.send(sql)
    }

    fn send(&mut self, sql: &str) -> Result<(), Trouble> {
        self.rows.clear();
        self.error = None;
        self.heard = Heard::default();
        let mut message = vec![b'Q'];
        message.extend((sql.len() as u32 + 5).to_be_bytes());
        message.extend_from_slice(sql.as_bytes());
        message.push(0);
        self.stream.write_all(&message).map_err(|_| Trouble::Lost(None))
    }

    /// Waits until the statements that were sent are over, and returns their outcome.
    pub fn finish(&mut self) -> Result<Rows, Trouble> {
        loop {
            if let Some(outcome) = self.wait(Duration::from_secs(3600)) {
                return outcome;
            }
        }
    }

    /// Waits for at most `limit`. Returns `None` if the statement is still running.
    pub fn wait(&mut self, limit: Duration) -> Option<Result<Rows, Trouble>> {
        let deadline = Instant::now() + limit;
        loop {
            match self.take_messages() {
                Ok(true) => return Some(self.outcome()),
                Ok(false) => (),
                Err(_) => return Some(Err(Trouble::Lost(self.error.take()))),
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            if self.receive(left).is_err() {
                return Some(Err(Trouble::Lost(self.error.take())));
            }
        }
    }

    fn outcome(&mut self) -> Result<Rows, Trouble> {
        match self.error.take() {
            Some(error) => Err(Trouble::Server(error)),
            None => Ok(std::mem::take(&mut self.rows)),
        }
    }

    /// Receives the bytes that arrive within `limit`, if any do.
    fn receive(&mut self, limit: Duration) -> io::Result<()> {
        self.stream
            .set_read_timeout(Some(limit.max(Duration::from_millis(1))))?;
        let mut buffer = [0; 1 << 16];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.received.extend_from_slice(&buffer[..length]);
                Ok(())
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// Processes the complete messages that were received, and returns whether the server is ready for the
    /// next statement.
    fn take_messages(&mut self) -> io::Result<bool> {
        let received = std::mem::take(&mut self.received);
        let mut rest = &received[..];
        let mut ready = false;
        while let Some((&kind, body, after)) = next_message(rest)? {
            rest = after;
            match kind {
                b'E' | b'N' => self.heard.messages.push(printable(body)),
                b'A' => self.heard.messages.push(printable(&body[4.min(body.len())..])),
                b'C' => self.heard.tags.push(printable(body)),
                b'd' => self.heard.copied.extend_from_slice(body),
                _ => (),
            }
            match kind {
                b'Z' => ready = true,
                b'D' if self.keeps_rows => self.rows.push(row(body)),
                b'E' => self.error = Some(server_error(body)),
                // If another session has crashed, the last message that a session receives is only a warning.
                b'N' if server_error(body).code == CRASH_ELSEWHERE => self.error = Some(server_error(body)),
                b'K' => self.pid = word(body),
                b'R' if word(body) != 0 => return Err(io::Error::other("the server asks for a password")),
                _ => (),
            }
        }
        self.received = rest.to_vec();
        Ok(ready)
    }
}

/// Returns the value of an environment variable that tools/test sets.
pub fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("{name} is not set: see tools/test"))
}

/// Returns the texts in the body of a message, on one line.
fn printable(body: &[u8]) -> String {
    let texts = body.split(|&byte| byte == 0).filter(|text| !text.is_empty());
    let texts: Vec<_> = texts.map(String::from_utf8_lossy).collect();
    texts.join(" ").replace('\n', " ")
}

type Message<'a> = (&'a u8, &'a [u8], &'a [u8]);

/// Splits off the first message, and returns its kind, its body and the bytes that follow; `None` if it is
/// incomplete.
fn next_message(bytes: &[u8]) -> io::Result<Option<Message<'_>>> {
    if bytes.len() < 5 {
        return Ok(None);
    }
    let length = word(&bytes[1..]) as usize;
    if length < 4 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    match bytes.len() > length {
        true => Ok(Some((&bytes[0], &bytes[5..=length], &bytes[length + 1..]))),
        false => Ok(None),
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .take(4)
        .fold(0, |word, &byte| word << 8 | u32::from(byte))
}

fn row(body: &[u8]) -> Vec<String> {
    let mut rest = &body[2..];
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let length = word(rest) as i32;
        rest = &rest[4..];
        let field = &rest[..length.max(0) as usize];
        fields.push(String::from_utf8_lossy(field).into_owned());
        rest = &rest[field.len()..];
    }
    fields
}

fn server_error(body: &[u8]) -> ServerError {
    let mut error = ServerError::default();
    for field in body.split(|&byte| byte == 0).filter(|field| !field.is_empty()) {
        let text = String::from_utf8_lossy(&field[1..]).into_owned();
        match field[0] {
            b'C' => error.code = text,
            b'M' => error.message = text,
            b'W' => error.context = text,
            _ => (),
        }
    }
    error
}
