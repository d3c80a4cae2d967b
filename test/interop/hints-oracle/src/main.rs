//! The published crate for BIP 456's files as a program for tests:
//!
//!     hints-oracle read HINTS      the hints as lines of runs of zeros, on standard output
//!     hints-oracle write HINTS     writes such lines, from standard input, as a hints file
//!
//! Line i speaks of block i: the run of zeros before each unspent output, with commas between.

use hintsfile::{EliasFano, Hintsfile, HintsfileBuilder};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};

fn runs_of(indices: &[u32]) -> String {
    let mut next = 0;
    let mut runs = Vec::new();
    for &index in indices {
        runs.push((index - next).to_string());
        next = index + 1;
    }
    runs.join(",")
}

fn indices_of(line: &str) -> Vec<u32> {
    let mut next = 0;
    let mut indices = Vec::new();
    for run in line.split(',').filter(|run| !run.is_empty()) {
        let index = next + run.parse::<u32>().expect("a run is a number");
        indices.push(index);
        next = index + 1;
    }
    indices
}

fn read(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let hints = Hintsfile::from_reader(&mut BufReader::new(File::open(path)?))?;
    for height in 1..=hints.stop_height() {
        println!("{}", runs_of(&hints.indices_at_height(height).expect("it was read")));
    }
    Ok(())
}

fn write(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let blocks: Vec<_> = text.lines().map(indices_of).collect();
    let out = BufWriter::new(File::create(path)?);
    let mut builder = HintsfileBuilder::new(out).initialize(blocks.len() as u32)?;
    for block in &blocks {
        builder.append(EliasFano::compress(block))?;
    }
    Ok(builder.finish()?)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["read", path] => read(path),
        ["write", path] => write(path),
        _ => Err("hints-oracle read|write HINTS".into()),
    };
    if let Err(error) = done {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
