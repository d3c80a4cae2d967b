//! Difficulty of header chains whose work nobody checks. A line is "TIME BITS PROBE ..."; the
//! answer is "TIME NEXT PROBE PERMITTED": the bits that a header of that time must carry, and
//! whether PROBE could follow the last ones. Then the header joins the chain, with its own bits.

use crate::args::Args;
use crate::ffi::Headers;
use std::io::{BufRead, BufWriter, Write};

fn numbers(line: &str) -> Result<[u32; 3], String> {
    let mut words = line.split_ascii_whitespace();
    let mut next = || {
        let word = words.next().ok_or("expected TIME BITS PROBE")?;
        word.parse().map_err(|_| format!("{word}: not a number of 32 bits"))
    };
    Ok([next()?, next()?, next()?])
}

pub fn headers(args: &Args) -> Result<(), String> {
    let name = args.get("network").unwrap_or("regtest");
    let mut chain = Headers::new(name).ok_or(format!("--network {name}: unknown"))?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let [time, bits, probe] = numbers(&line.map_err(|e| e.to_string())?)?;
        let (next, permitted) = (chain.next(time), chain.permitted(probe));
        writeln!(out, "{time} {next} {probe} {}", u8::from(permitted)).map_err(|e| e.to_string())?;
        chain.add(time, bits);
    }
    out.flush().map_err(|e| e.to_string())
}
