//! Why a server could not be started, or had to end.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// One line for people: what, where, why.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option is out of its bounds; the text names key, value and limit.
    #[error("{0}")]
    Option(String),
    /// Somebody answers there.
    #[error("{}: a server is running here; stop it, or choose another socket", path.display())]
    InUse {
        /// The socket.
        path: PathBuf,
    },
    /// Some program listens there.
    #[error("tcp:{address}: is in use by another program; stop it, or choose another port")]
    PortInUse {
        /// Address and port.
        address: SocketAddr,
    },
    /// Something is there that no server left behind.
    #[error("{}: exists and is not a socket; remove it, or choose another path", path.display())]
    NotASocket {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{doing}: {source}")]
    System {
        /// What was tried.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    /// For [`Result::map_err`].
    pub(crate) fn system<S: Into<io::Error>>(doing: impl Into<String>) -> impl FnOnce(S) -> Self {
        let doing = doing.into();
        move |source| Self::System { doing, source: source.into() }
    }
}
