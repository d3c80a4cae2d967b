//! Script verification: a line protocol for tests and a timed run over one block.

use crate::args::{unhex, Args};
use crate::ffi::{check_tx, error_name, flag_name, parse_flags, Tx};
use bitcoinkernel::{prelude::*, Block, Context};
use std::io::{BufRead, BufReader, Write};
use std::time::Instant;

/// Lines verified between two writes when they come in faster than they are verified.
const BATCH: usize = 4096;

fn compact_size(n: usize, out: &mut Vec<u8>) {
    match n {
        0..=252 => out.push(n as u8),
        253..=0xffff => {
            out.push(253);
            out.extend_from_slice(&(n as u16).to_le_bytes());
        }
        _ => {
            out.push(254);
            out.extend_from_slice(&(n as u32).to_le_bytes());
        }
    }
}

/// `amount:script,amount:script` to serialized outputs; `-` is an empty list.
fn spent_outputs(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for item in text.split(',').filter(|_| text != "-") {
        let (amount, script) = item.split_once(':').ok_or("spent output without ':'")?;
        let amount: i64 = amount.parse().map_err(|_| "bad amount")?;
        let script = unhex(script)?;
        out.extend_from_slice(&amount.to_le_bytes());
        compact_size(script.len(), &mut out);
        out.extend_from_slice(&script);
    }
    Ok(out)
}

/// The transaction of the line before, kept because its other inputs usually follow.
#[derive(Default)]
struct Cache {
    key: (String, String),
    tx: Option<Tx>,
}

impl Cache {
    fn load(&mut self, tx: &str, spent: &str) -> Result<Option<&Tx>, String> {
        if self.key.0 != tx || self.key.1 != spent {
            self.tx = Tx::new(&unhex(tx)?, &spent_outputs(spent)?);
            self.key = (tx.into(), spent.into());
        }
        Ok(self.tx.as_ref())
    }
}

fn verdict(line: &str, cache: &mut Cache) -> Result<String, String> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let [spk, amount, tx, index, flags, spent] = fields[..] else {
        return Err(format!("expected 6 fields, got {}", fields.len()));
    };
    let flags = parse_flags(flags)?;
    let Some(tx) = cache.load(tx, spent)? else {
        return Ok("TX_DECODE".into());
    };
    if index == "*" {
        let failed = (0..tx.inputs()).map(|i| (i, tx.verify(i, None, flags))).find(|r| r.1 != 0);
        return Ok(match failed {
            None => "OK".into(),
            Some((i, error)) => format!("{} {i}", error_name(error)),
        });
    }
    let index = index.parse().map_err(|_| "bad input index")?;
    if spk == "-" && amount == "-" {
        return Ok(error_name(tx.verify(index, None, flags)).into());
    }
    let script = if spk == "-" { Vec::new() } else { unhex(spk)? };
    let amount = amount.parse().map_err(|_| "bad amount")?;
    Ok(error_name(tx.verify(index, Some((&script, amount)), flags)).into())
}

fn verify_chunk(lines: &[String]) -> String {
    let mut cache = Cache::default();
    let mut out = String::new();
    for line in lines {
        out += &verdict(line, &mut cache).unwrap_or_else(|e| format!("BAD_LINE {e}"));
        out.push('\n');
    }
    out
}

fn verify_batch(lines: &[String], threads: usize) -> String {
    let size = lines.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            lines.chunks(size).map(|chunk| scope.spawn(move || verify_chunk(chunk))).collect();
        workers.into_iter().map(|w| w.join().expect("worker")).collect()
    })
}

/// Reads lines until there are `BATCH` of them or none is waiting, so that a caller who sends one
/// line gets its verdict at once. False at the end of input.
fn read_batch(reader: &mut BufReader<impl std::io::Read>, lines: &mut Vec<String>) -> bool {
    lines.clear();
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) => lines.push(line),
        }
        if lines.len() >= BATCH || !reader.buffer().contains(&b'\n') {
            return true;
        }
    }
}

/// One verdict per line of stdin: OK or the script error's name. See README.md.
pub fn verify_scripts(args: &Args) -> Result<(), String> {
    let _context = Context::new().map_err(|e| e.to_string())?; // selects the fast SHA-256
    let threads = args.number("par", 1)?.max(1);
    let mut reader = BufReader::with_capacity(1 << 20, std::io::stdin().lock());
    let mut lines = Vec::new();
    let mut out = std::io::stdout().lock();
    loop {
        let more = read_batch(&mut reader, &mut lines);
        let text = if threads == 1 || lines.len() < 2 {
            verify_chunk(&lines)
        } else {
            verify_batch(&lines, threads)
        };
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| e.to_string())?;
        if !more {
            return Ok(());
        }
    }
}

/// One word per transaction on stdin, from the rules that need no context.
pub fn check_txs(_args: &Args) -> Result<(), String> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let word = unhex(line.trim()).map_or("BAD_LINE".into(), |raw| check_tx(&raw));
        writeln!(out, "{word}").map_err(|e| e.to_string())?;
    }
    out.flush().map_err(|e| e.to_string())
}

pub fn flags(_args: &Args) -> Result<(), String> {
    for bit in 0..64 {
        if let Some(name) = flag_name(bit) {
            println!("{name} {}", 1u64 << bit);
        }
    }
    for name in ["MANDATORY", "STANDARD", "ALL"] {
        println!("{name} {}", parse_flags(name)?);
    }
    println!("API {}", bitcoinkernel::VERIFY_ALL);
    Ok(())
}

/// Length of one `i64 amount, compact size, script` record at the start of `data`.
fn output_len(data: &[u8]) -> Option<usize> {
    let script = |at: usize, len: u64| Some(at + usize::try_from(len).ok()?);
    let end = match *data.get(8)? {
        253 => script(11, u16::from_le_bytes(data.get(9..11)?.try_into().ok()?).into())?,
        254 => script(13, u32::from_le_bytes(data.get(9..13)?.try_into().ok()?).into())?,
        255 => return None,
        n => script(9, n.into())?,
    };
    (end <= data.len()).then_some(end)
}

struct Job {
    tx: Vec<u8>,
    spent: Vec<u8>,
}

fn block_jobs(block: &Block, mut spent: &[u8]) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for tx in block.transactions().skip(1) {
        let mut end = 0;
        for _ in 0..tx.input_count() {
            end += output_len(&spent[end..]).ok_or("spent outputs end before the inputs do")?;
        }
        let raw = tx.consensus_encode().map_err(|e| e.to_string())?;
        jobs.push(Job { tx: raw, spent: spent[..end].to_vec() });
        spent = &spent[end..];
    }
    if spent.is_empty() {
        Ok(jobs)
    } else {
        Err("more spent outputs than inputs".into())
    }
}

/// Inputs verified, inputs failed.
fn run_jobs(jobs: &[Job], flags: u64, at: usize, step: usize) -> (usize, usize) {
    let (mut done, mut failed) = (0, 0);
    for i in (at..jobs.len()).step_by(step) {
        let tx = Tx::new(&jobs[i].tx, &jobs[i].spent).expect("parsed before the clock started");
        for input in 0..tx.inputs() {
            done += 1;
            failed += usize::from(tx.verify(input, None, flags) != 0);
        }
    }
    (done, failed)
}

fn run_threads(jobs: &[Job], flags: u64, threads: usize) -> (usize, usize) {
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads).map(|t| scope.spawn(move || run_jobs(jobs, flags, t, threads))).collect();
        workers
            .into_iter()
            .map(|w| w.join().expect("worker"))
            .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    })
}

fn read_maybe_hex(path: &str) -> Result<Vec<u8>, String> {
    let data = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    match std::str::from_utf8(&data) {
        Ok(text) => unhex(text.trim()),
        Err(_) => Ok(data),
    }
}

/// `BLOCK SPENT [--flags F] [--par N] [--repeat K]`: one line per run with the time it took.
pub fn verify_block(args: &Args) -> Result<(), String> {
    let _context = Context::new().map_err(|e| e.to_string())?;
    let [block, spent] = &args.words[..] else {
        return Err("expected BLOCK-FILE SPENT-FILE".into());
    };
    let block = Block::new(&read_maybe_hex(block)?).map_err(|e| e.to_string())?;
    let jobs = block_jobs(&block, &read_maybe_hex(spent)?)?;
    let flags = parse_flags(args.get("flags").unwrap_or("MANDATORY"))?;
    if jobs.iter().any(|job| Tx::new(&job.tx, &job.spent).is_none()) {
        return Err("a transaction does not parse".into());
    }
    for _ in 0..args.number("repeat", 1)? {
        let start = Instant::now();
        let threads = args.number("par", 1)?.max(1);
        let (inputs, failed) = run_threads(&jobs, flags, threads);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        println!("inputs {inputs} failed {failed} ms {ms:.2}");
    }
    Ok(())
}
