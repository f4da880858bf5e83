//! Prints the C header: `make capi` keeps it in target/capi/drivelab.h.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    cbindgen::generate(env!("CARGO_MANIFEST_DIR"))?.write(std::io::stdout());
    Ok(())
}
