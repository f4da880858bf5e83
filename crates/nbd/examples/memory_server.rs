//! A disk in memory behind the server: what the protocol costs without a drive.
//!
//!     cargo run --release -p drivelab-nbd --example memory_server -- /tmp/memory.sock 512 [instant|real]

use std::error::Error;

use drivelab_nbd::{Clock, ExportInfo, MemoryExport, Options, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [listen, size_mib, rest @ ..] = &arguments[..] else {
        return Err("usage: memory_server LISTEN SIZE_MIB [instant|real]".into());
    };
    let mut options = Options::new(listen.parse()?);
    options.clock =
        if rest.first().is_some_and(|clock| clock == "real") { Clock::Real } else { Clock::Instant };
    options.control = Some(format!("{listen}.control").into());
    let info = ExportInfo::new("memory", size_mib.parse::<u64>()? << 20);
    let mut server = Server::bind(MemoryExport::new(info), options)?;
    server.uris().iter().for_each(|uri| println!("{uri}"));
    server.run()?;
    Ok(())
}
