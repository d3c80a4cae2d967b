//! Bitcoin Core's own engine as a command-line oracle for tests. README.md in the directory above
//! gives the protocol of each command.

mod args;
mod chain;
mod coins;
mod ffi;
mod headers;
mod node;
mod scripts;

use args::Args;
use std::process::ExitCode;

const USAGE: &str = "kernel-oracle COMMAND [--network N] [--datadir D] ...
  tip chain read connect check import reindex coins coin check-tx verify-scripts
  verify-block headers flags";

fn run() -> Result<(), String> {
    let mut words = std::env::args().skip(1);
    let command = words.next().ok_or(USAGE)?;
    let args = Args::parse(words)?;
    match command.as_str() {
        "tip" => chain::tip(&args),
        "chain" => chain::chain(&args),
        "read" => chain::read(&args),
        "connect" => chain::connect(&args),
        "check" => chain::check(&args),
        "import" => chain::import(&args),
        "reindex" => chain::reindex(&args),
        "coins" => coins::coins(&args),
        "coin" => coins::coin(&args),
        "check-tx" => scripts::check_txs(&args),
        "verify-scripts" => scripts::verify_scripts(&args),
        "verify-block" => scripts::verify_block(&args),
        "headers" => headers::headers(&args),
        "flags" => scripts::flags(&args),
        _ => Err(format!("unknown command {command}\n{USAGE}")),
    }
}

extern "C" {
    fn signal(number: i32, action: usize) -> usize;
}

const SIGPIPE: i32 = 13;
const SIG_DFL: usize = 0;

fn main() -> ExitCode {
    // A reader that stops early ends this program quietly, as with any other filter.
    unsafe { signal(SIGPIPE, SIG_DFL) };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error {error}");
            ExitCode::FAILURE
        }
    }
}
