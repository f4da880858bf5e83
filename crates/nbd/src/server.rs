//! The event loop: one thread that serves all clients of one export.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno as SystemErrno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::clock::{Clock, Timekeeper};
use crate::connections::Connections;
use crate::control::{self, Control};
use crate::control_socket::ControlClients;
use crate::error::Error;
use crate::export::Export;
use crate::limits::Limits;
use crate::listener::{Listen, Listener};
use crate::poller::{Interest, Poller, Ready, Token};
use crate::service::Service;
use crate::stop::StopHandle;

/// Open files that are not connections: listening sockets, the export's own, and what the process needs besides.
const OTHER_FILES: u64 = 64;

/// Clients accepted from one socket before others are served.
const ACCEPTS_MAX: usize = 64;

/// How long a listening socket rests when the system can't give another file.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// An event of the export that is nearer than this is awaited without sleeping: waking up takes longer.
const AWAKE_BEFORE_EVENT: Duration = Duration::from_micros(60);

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where clients connect; at least one place.
    pub listen: Vec<Listen>,
    /// The control socket's file.
    pub control: Option<PathBuf>,
    /// How time passes.
    pub clock: Clock,
    /// What clients may take.
    pub limits: Limits,
}

impl Options {
    /// One address, real time, no control socket.
    #[must_use]
    pub fn new(listen: Listen) -> Self {
        Self { listen: vec![listen], control: None, clock: Clock::Real, limits: Limits::default() }
    }
}

/// An NBD server.
pub struct Server<E> {
    service: Service<E>,
    options: Options,
    poller: Poller,
    connections: Connections,
    control_clients: ControlClients,
    /// NBD sockets, and last the control socket if there is one.
    listeners: Vec<Listener>,
    is_accepting: bool,
    rests_until: Option<Duration>,
    stop: StopHandle,
    stop_reader: OwnedFd,
    /// Set when the stop has come: when the last reply must be out.
    farewell_until: Option<Duration>,
}

impl<E: Export + Control> Server<E> {
    /// Opens all sockets. Clients may connect from now on; they are served by [`Server::run`].
    ///
    /// # Errors
    /// An option or the export's info is out of its bounds, or an address can't be listened on.
    pub fn bind(export: E, options: Options) -> Result<Self, Error> {
        export.info().validate().and_then(|()| options.clock.validate()).map_err(Error::Option)?;
        let mut options = options;
        options.limits.validate(export.info().maximum_payload_bytes).map_err(Error::Option)?;
        options.limits.connections_max = options.limits.connections_max.min(files_for(&options.limits));
        let poller = Poller::new().map_err(Error::system("epoll"))?;
        let (stop, stop_reader) = StopHandle::new().map_err(Error::system("pipe"))?;
        poller.add(&stop_reader, Token::Stop, Interest::READ).map_err(Error::system("epoll"))?;
        let mut listeners: Vec<_> = options.listen.iter().map(Listener::bind).collect::<Result<_, _>>()?;
        if let Some(path) = &options.control {
            let listener = Listener::bind(&Listen::Unix(path.clone()))?;
            listener.make_private()?;
            listeners.push(listener);
        }
        Ok(Self {
            service: Service::new(export, &options.limits),
            connections: Connections::new(&options.limits),
            control_clients: ControlClients::new(),
            options,
            poller,
            listeners,
            is_accepting: false,
            rests_until: None,
            stop,
            stop_reader,
            farewell_until: None,
        })
    }

    /// What users type to reach the export, one line per address.
    pub fn uris(&self) -> Vec<String> {
        let name = &self.service.export.info().name;
        let listeners = self.listeners.iter().zip(&self.options.listen);
        listeners.map(|(listener, _)| listener.uri(name)).collect()
    }

    /// What stops the server.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// What was done, as the control socket's `stats` tells it, without time.
    pub fn statistics(&self) -> Value {
        self.service.statistics_json(self.connections.count())
    }

    /// The export, when the server has stopped.
    pub fn into_export(self) -> E {
        self.service.export
    }

    /// Serves until it is told to stop, and all replies are out.
    ///
    /// # Errors
    /// The system refuses to tell of events. Whatever clients do is no error.
    pub fn run(&mut self) -> Result<(), Error> {
        let mut time = Timekeeper::new(self.options.clock);
        let mut ready: Vec<Ready> = Vec::new();
        let mut is_busy = false;
        self.accept_again()?;
        loop {
            let timeout = if is_busy { Some(Duration::ZERO) } else { self.timeout(&time) };
            self.poller.wait(timeout, &mut ready).map_err(Error::system("epoll"))?;
            if !time.is_instant() {
                self.connections.advance(time.now_ns(), &mut self.service);
            }
            for event in &ready {
                self.dispatch(event, &time)?;
            }
            self.advance(&mut time);
            let now = (time.now_ns(), time.wall());
            is_busy = self.connections.send(now, &self.poller, &mut self.service);
            if self.rests_until.is_some_and(|until| until <= now.1) {
                self.accept_again()?;
            }
            if let Some(until) = self.farewell_until
                && (self.connections.count() == 0 || until <= now.1)
            {
                self.control_clients.say_farewell();
                return Ok(());
            }
        }
    }

    /// How long nothing will happen; `None`: until a client does something.
    fn timeout(&mut self, time: &Timekeeper) -> Option<Duration> {
        let now = time.wall();
        let expiry = self.connections.expire(now, &mut self.service);
        if self.connections.can_try_line(&self.service) {
            return Some(Duration::ZERO);
        }
        let deadline = expiry.into_iter().chain(self.rests_until).chain(self.farewell_until).min();
        let mut timeout = deadline.map(|until| until.saturating_sub(now));
        if !time.is_instant()
            && let Some(event_ns) = self.service.export.next_event()
        {
            let until_event = time.until(event_ns);
            if until_event < AWAKE_BEFORE_EVENT && self.service.pending() > 0 {
                return Some(Duration::ZERO);
            }
            let until_event = until_event.saturating_sub(AWAKE_BEFORE_EVENT / 2);
            timeout = Some(timeout.map_or(until_event, |timeout| timeout.min(until_event)));
        }
        timeout
    }

    /// Lets time pass at the export: up to now, or until all requests are answered.
    fn advance(&mut self, time: &mut Timekeeper) {
        if !time.is_instant() {
            return self.connections.advance(time.now_ns(), &mut self.service);
        }
        while self.service.pending() > 0 {
            let Some(reply_ns) = self.service.export.next_reply(time.now_ns()) else { return };
            self.connections.advance(time.reach(reply_ns), &mut self.service);
        }
    }

    fn dispatch(&mut self, event: &Ready, time: &Timekeeper) -> Result<(), Error> {
        let now = (time.now_ns(), time.wall());
        match event.token {
            Token::Client(id) => self.connections.ready(event, id, now, &mut self.service),
            Token::Control(id) => self.control(id, time),
            Token::Listener(index) => self.accept(index as usize, time)?,
            Token::Stop => {
                let mut bytes = [0; 64];
                let count = rustix::io::read(&self.stop_reader, &mut bytes).unwrap_or_default();
                // Two that were asked for before this server looked are two.
                for _ in 0..count.min(2) {
                    self.begin_farewell(now.1);
                }
            }
        }
        Ok(())
    }

    /// Hears nobody any more; whoever has asked is still answered. The second time, not even that.
    fn begin_farewell(&mut self, now: Duration) {
        let is_second = self.farewell_until.is_some();
        self.farewell_until = Some(if is_second { now } else { now + self.options.limits.farewell });
        self.listeners.clear();
        self.is_accepting = false;
        self.rests_until = None;
        self.connections.say_farewell();
    }

    fn control(&mut self, id: crate::pending::ClientId, time: &Timekeeper) {
        let Self { service, control_clients, poller, connections, stop, .. } = self;
        let count = connections.count();
        control_clients.ready(id, poller, &mut |request| match request["command"].as_str() {
            Some("stop") => {
                stop.stop();
                control::done(json!({}))
            }
            Some("stats") => {
                let mut told = service.statistics_json(count);
                told["time_ns"] = json!(time.now_ns());
                told["wall_s"] = json!(time.wall().as_secs_f64());
                told.as_object_mut().into_iter().for_each(|told| told.extend(service.export.statistics()));
                control::done(told)
            }
            _ => service.export.handle(request),
        });
    }

    /// Watches the listening sockets.
    fn accept_again(&mut self) -> Result<(), Error> {
        self.rests_until = None;
        if !self.is_accepting {
            for (index, listener) in self.listeners.iter().enumerate() {
                self.poller
                    .add(listener, Token::Listener(index as u32), Interest::READ)
                    .map_err(Error::system("epoll"))?;
            }
            self.is_accepting = true;
        }
        Ok(())
    }

    /// Lets clients wait outside for a while: the system has no more files, or the server no more places.
    fn rest(&mut self, now: Duration) -> Result<(), Error> {
        for listener in &self.listeners {
            self.poller.remove(listener).map_err(Error::system("epoll"))?;
        }
        self.is_accepting = false;
        self.rests_until = Some(now + ACCEPT_REST);
        Ok(())
    }

    fn accept(&mut self, index: usize, time: &Timekeeper) -> Result<(), Error> {
        let now = time.wall();
        let is_control = index >= self.options.listen.len();
        for count in 0..ACCEPTS_MAX {
            // It may have been closed by an event of the same wake-up.
            let Some(listener) = self.listeners.get(index).filter(|_| self.is_accepting) else { break };
            if !is_control && self.connections.count() >= self.options.limits.connections_max {
                // Only of the first it is known that it is there.
                if count > 0 {
                    break;
                }
                if !self.connections.drop_oldest_handshake(&mut self.service) {
                    return self.rest(now);
                }
            }
            match listener.accept() {
                Ok(socket) if is_control => self.control_clients.insert(socket, &self.poller),
                Ok(socket) => {
                    if self.connections.insert(socket, now, &self.poller, &mut self.service).is_err() {
                        return self.rest(now);
                    }
                }
                Err(SystemErrno::AGAIN) => break,
                // The client has gone again; so it is with other errors of its network.
                Err(SystemErrno::INTR | SystemErrno::CONNABORTED) => {}
                Err(_) => return self.rest(now),
            }
        }
        Ok(())
    }
}

/// Raises the process's limit of open files as far as wanted and allowed; returns how many connections fit.
fn files_for(limits: &Limits) -> usize {
    let wanted = limits.connections_max as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let (Some(current_files), false) = (current, current.is_none_or(|files| files >= wanted)) else {
        return limits.connections_max;
    };
    let raised = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let is_raised = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }).is_ok();
    let files = if is_raised { raised } else { current_files };
    files.saturating_sub(OTHER_FILES).max(1) as usize
}
