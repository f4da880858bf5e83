//! A server in the thread that called it, stopped from another one.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use drivelab_nbd::{Clock, Control, Export, Limits, Listen, Options, Server, StdioServer, StopHandle};
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;

/// Ends a server from another thread, whether or not it serves already.
#[pyclass(frozen, module = "drivelab._engine")]
#[derive(Default)]
pub struct ServerStop {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_asked: bool,
    handle: Option<StopHandle>,
}

#[pymethods]
impl ServerStop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks for a clean end: nobody is heard any more, and who was heard is answered.
    fn stop(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_asked = true;
        if let Some(handle) = &state.handle {
            handle.stop();
        }
    }
}

impl ServerStop {
    fn attach(&self, handle: StopHandle) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_asked {
            handle.stop();
        }
        state.handle = Some(handle);
    }
}

/// Where and how something is served.
pub struct Place {
    /// Nothing: standard input and output.
    listen: Option<Listen>,
    control: Option<PathBuf>,
    clock: Clock,
}

impl Place {
    /// Reads `unix:PATH`, `HOST:PORT` or `stdio`, and `real`, `instant` or a scale.
    ///
    /// # Errors
    /// Key, value and what is allowed.
    pub fn parse(listen: &str, clock: &str, control: Option<PathBuf>) -> Result<Self, String> {
        let listen = match listen.strip_prefix("unix:") {
            Some(path) => Some(Listen::Unix(path.into())),
            None if listen == "stdio" => None,
            None => Some(format!("tcp:{listen}").parse()?),
        };
        let clock = match clock {
            "real" => Clock::Real,
            "instant" => Clock::Instant,
            scale => Clock::Scaled(
                scale.parse().map_err(|_| format!("clock: {scale:?}; real, instant or a number"))?,
            ),
        };
        Ok(Self { listen, control, clock })
    }

    /// Refuses addresses that are taken, before anything is served there.
    ///
    /// # Errors
    /// The option, the address, and what is wrong with it.
    pub fn check(&self) -> PyResult<()> {
        let control = self.control.clone().map(Listen::Unix);
        for (option, place) in [("--listen", &self.listen), ("--control", &control)] {
            if let Some(place) = place {
                place.try_out().map_err(|error| errors::address(option, &error))?;
            }
        }
        Ok(())
    }
}

/// Serves until it is stopped. `ready` hears of what ends the server, and of the URI, when clients can come, and may
/// refuse. Returns the export, and what was done.
///
/// # Errors
/// The address can't be listened on, the system fails, or `ready` does.
pub fn serve<E: Export + Control>(
    export: E,
    place: &Place,
    stop: &ServerStop,
    ready: impl FnOnce(StopHandle, &str) -> PyResult<()>,
) -> PyResult<(E, Value)> {
    let Some(listen) = &place.listen else {
        let mut server = StdioServer::new(export, place.clock, &Limits::default()).map_err(errors::server)?;
        stop.attach(server.stop_handle());
        ready(server.stop_handle(), "")?;
        server.run(std::io::stdin(), std::io::stdout()).map_err(errors::server)?;
        let statistics = server.statistics();
        return Ok((server.into_export(), statistics));
    };
    let options =
        Options { control: place.control.clone(), clock: place.clock, ..Options::new(listen.clone()) };
    let mut server = Server::bind(export, options).map_err(errors::server)?;
    stop.attach(server.stop_handle());
    ready(server.stop_handle(), &server.uris().swap_remove(0))?;
    server.run().map_err(errors::server)?;
    let statistics = server.statistics();
    Ok((server.into_export(), statistics))
}
