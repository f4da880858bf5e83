//! Addresses that a server listens on.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fs, iter};

use rustix::net::SocketFlags;

use crate::error::Error;

/// The port that is reserved for NBD.
pub const PORT: u16 = 10_809;

/// Clients that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A socket file.
    Unix(PathBuf),
    /// An address; port 0 lets the system choose.
    Tcp(SocketAddr),
}

impl Listen {
    /// Listens and ceases again, so that a taken address is known before anything is opened to be served there.
    ///
    /// # Errors
    /// The address can't be listened on.
    pub fn try_out(&self) -> Result<(), Error> {
        Listener::bind(self).map(drop)
    }
}

impl FromStr for Listen {
    type Err = String;

    /// `tcp` (loopback, the usual port), `tcp:PORT` (loopback), `tcp:HOST:PORT`, or the path of a socket.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("listen: {text:?}: {why}; tcp, tcp:PORT, tcp:HOST:PORT or a path");
        let Some(rest) = text.strip_prefix("tcp").filter(|rest| rest.is_empty() || rest.starts_with(':'))
        else {
            return if text.is_empty() { Err(wrong("empty")) } else { Ok(Self::Unix(text.into())) };
        };
        match rest.strip_prefix(':') {
            None => Ok(Self::Tcp((Ipv4Addr::LOCALHOST, PORT).into())),
            Some(port) if !port.contains(':') => match port.parse::<u16>() {
                Ok(port) => Ok(Self::Tcp((Ipv4Addr::LOCALHOST, port).into())),
                Err(_) => Err(wrong("not a port from 0 to 65535")),
            },
            Some(address) => match address.to_socket_addrs().map(|mut found| found.next()) {
                Ok(Some(found)) => Ok(Self::Tcp(found)),
                Ok(None) => Err(wrong("no such host")),
                Err(error) => Err(wrong(&error.to_string())),
            },
        }
    }
}

enum Socket {
    Unix { socket: UnixListener, path: PathBuf, identity: (u64, u64) },
    Tcp(TcpListener),
}

/// A socket that clients connect to. Its file goes with it, unless another server has replaced it.
pub(crate) struct Listener(Socket);

impl Listener {
    /// Listens. A socket file that no server answers behind is replaced.
    pub(crate) fn bind(listen: &Listen) -> Result<Self, Error> {
        match listen {
            Listen::Unix(path) => Self::bind_unix(path),
            Listen::Tcp(address) => {
                let doing = || format!("listening on tcp:{address}");
                let socket = TcpListener::bind(address).map_err(|error| match error.kind() {
                    io::ErrorKind::AddrInUse => Error::PortInUse { address: *address },
                    _ => Error::system(doing())(error),
                })?;
                socket.set_nonblocking(true).map_err(Error::system(doing()))?;
                rustix::net::listen(&socket, BACKLOG).map_err(Error::system(doing()))?;
                Ok(Self(Socket::Tcp(socket)))
            }
        }
    }

    fn bind_unix(path: &Path) -> Result<Self, Error> {
        let doing = || format!("listening on {}", path.display());
        let socket = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                remove_stale(path)?;
                UnixListener::bind(path)
            }
            bound => bound,
        };
        let socket = socket.map_err(Error::system(doing()))?;
        let metadata = fs::symlink_metadata(path).map_err(Error::system(doing()))?;
        let identity = (metadata.dev(), metadata.ino());
        let this = Self(Socket::Unix { socket, path: path.to_owned(), identity });
        let Socket::Unix { socket, .. } = &this.0 else { unreachable!("made above") };
        socket.set_nonblocking(true).map_err(Error::system(doing()))?;
        rustix::net::listen(socket, BACKLOG).map_err(Error::system(doing()))?;
        Ok(this)
    }

    /// Lets only its owner connect.
    pub(crate) fn make_private(&self) -> Result<(), Error> {
        let Socket::Unix { path, .. } = &self.0 else { return Ok(()) };
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(Error::system(format!("protecting {}", path.display())))
    }

    /// Takes one waiting client.
    pub(crate) fn accept(&self) -> rustix::io::Result<OwnedFd> {
        let client = rustix::net::accept_with(self, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?;
        if matches!(self.0, Socket::Tcp(_)) {
            rustix::net::sockopt::set_tcp_nodelay(&client, true)?;
        }
        Ok(client)
    }

    /// What a user types to reach an export here.
    pub(crate) fn uri(&self, export: &str) -> String {
        let export = escaped(export.as_bytes(), b"");
        match &self.0 {
            Socket::Unix { path, .. } => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                format!("nbd+unix:///{export}?socket={}", escaped(path.as_os_str().as_bytes(), b"/"))
            }
            Socket::Tcp(socket) => {
                let address =
                    socket.local_addr().map_or_else(|_| "?".to_owned(), |address| address.to_string());
                format!("nbd://{address}/{export}")
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Socket::Unix { socket, .. } => socket.as_fd(),
            Socket::Tcp(socket) => socket.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Socket::Unix { path, identity, .. } = &self.0
            && fs::symlink_metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == *identity)
        {
            // Whoever removes it first has done the work.
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes what a dead server has left behind; a live server's socket and other files stay.
fn remove_stale(path: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(Error::NotASocket { path: path.to_owned() });
        }
        _ => {}
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path)
            .map_err(Error::system(format!("removing the dead socket {}", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // It answers, or is too busy to.
        Ok(_) | Err(_) => Err(Error::InUse { path: path.to_owned() }),
    }
}

/// Text for a URI.
fn escaped(text: &[u8], kept: &[u8]) -> String {
    let mut out = String::new();
    for &byte in text {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.contains(&byte) {
            out.extend(iter::once(char::from(byte)));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_loopback_unless_told_otherwise() {
        let tcp = |address: &str| Ok(Listen::Tcp(address.parse().unwrap()));
        assert_eq!("tcp".parse(), tcp("127.0.0.1:10809"));
        assert_eq!("tcp:99".parse(), tcp("127.0.0.1:99"));
        assert_eq!("tcp:0.0.0.0:99".parse(), tcp("0.0.0.0:99"));
        assert_eq!("tcp:[::1]:99".parse(), tcp("[::1]:99"));
        assert_eq!("tcpsocket".parse(), Ok(Listen::Unix("tcpsocket".into())));
        assert_eq!("/run/a.sock".parse(), Ok(Listen::Unix("/run/a.sock".into())));
        for wrong in ["", "tcp:70000", "tcp:here:"] {
            let error = wrong.parse::<Listen>().unwrap_err();
            assert!(error.starts_with(&format!("listen: {wrong:?}: ")), "{error}");
        }
    }

    #[test]
    fn an_address_is_tried_out_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listen = Listen::Unix(path.clone());
        listen.try_out().unwrap();
        assert!(!path.exists());
        let server = Listener::bind(&listen).unwrap();
        assert!(matches!(listen.try_out(), Err(Error::InUse { .. })));
        assert!(path.exists(), "a live server keeps its socket");
        drop(server);
        fs::write(&path, "text").unwrap();
        assert!(matches!(listen.try_out(), Err(Error::NotASocket { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"text");
    }

    #[test]
    fn a_port_that_is_taken_is_told() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = taken.local_addr().unwrap();
        let error = Listen::Tcp(address).try_out().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("tcp:{address}: is in use by another program; stop it, or choose another port")
        );
    }

    #[test]
    fn names_and_paths_are_escaped_in_uris() {
        assert_eq!(escaped(b"/a b/c?", b"/"), "/a%20b/c%3F");
        assert_eq!(escaped("ä/".as_bytes(), b""), "%C3%A4%2F");
    }
}
