//! Requests to the served drive itself, beside the data: one JSON object a line, answered by one a line.
//!
//! `{"command": "stats"}` is answered by `{"ok": true, ...}`, or `{"ok": false, "error": "why"}`. The server answers
//! `stats` and `stop`; everything else is the export's.

use serde_json::{Map, Value, json};

/// What an export answers besides NBD.
pub trait Control {
    /// Answers one request, an object with a text `command`; the answer is made by [`done`] or [`refused`].
    fn handle(&mut self, request: Value) -> Value;

    /// What it adds to the server's `stats`.
    fn statistics(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// The answer to a request that was carried out: `{"ok": true}` with the fields of an object `result`.
#[must_use]
pub fn done(result: Value) -> Value {
    let mut answer = json!({"ok": true});
    if let (Value::Object(fields), Value::Object(more)) = (&mut answer, result) {
        fields.extend(more);
    }
    answer
}

/// The answer to a request that was not carried out, with a line that says why.
#[must_use]
pub fn refused(error: impl Into<String>) -> Value {
    json!({"ok": false, "error": error.into()})
}

/// The answer to a command that nobody here knows.
#[must_use]
pub fn unknown(request: &Value) -> Value {
    refused(format!("command: {} is not known here", request["command"]))
}
