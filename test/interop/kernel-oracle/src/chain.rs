//! Commands on a data directory: tip, chain, read, connect, import, reindex.

use crate::args::{hex, unhex, Args};
use crate::node::{prev_hash, reject_reason, tip_hash, Node, OpenOptions};
use bitcoinkernel::{
    prelude::*, Block, BlockCheckResult, BlockHash, BlockTreeEntry, BlockValidationResult,
    ProcessBlockResult, ValidationMode, BLOCK_CHECK_ALL,
};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::Instant;

type Done = Result<(), String>;

fn finish(node: Node) -> Done {
    let notes = node.close();
    for note in &notes {
        println!("note {note}");
    }
    match notes.iter().find(|note| !note.starts_with("warning")) {
        Some(note) => Err(note.clone()),
        None => Ok(()),
    }
}

pub fn tip(args: &Args) -> Done {
    let node = Node::open(args, OpenOptions::from(args)?)?;
    println!("{}", node.tip_line());
    if let Some(best) = node.chainman.best_entry() {
        println!("best-header {} {}", best.height(), best.block_hash());
    }
    finish(node)
}

pub fn chain(args: &Args) -> Done {
    let node = Node::open(args, OpenOptions::from(args)?)?;
    let mut out = std::io::stdout().lock();
    for entry in node.chainman.active_chain().iter() {
        writeln!(out, "{} {}", entry.height(), entry.block_hash()).map_err(|e| e.to_string())?;
    }
    drop(out);
    finish(node)
}

/// Prints `block HEIGHT HASH HEX` and one `spent TX INPUT AMOUNT HEIGHT COINBASE SCRIPT` per input.
pub fn read(args: &Args) -> Done {
    let node = Node::open(args, OpenOptions::from(args)?)?;
    let chain = node.chainman.active_chain();
    let first = args.number("height", chain.height() as usize)?;
    for height in first..first + args.number("count", 1)? {
        let entry = chain.at_height(height).ok_or(format!("height {height} is above the tip"))?;
        read_one(&node, &entry)?;
    }
    finish(node)
}

fn read_one(node: &Node, entry: &BlockTreeEntry) -> Done {
    let block = node.chainman.read_block_data(entry).map_err(|e| e.to_string())?;
    let raw = block.consensus_encode().map_err(|e| e.to_string())?;
    println!("block {} {} {}", entry.height(), entry.block_hash(), hex(&raw));
    if entry.height() == 0 {
        return Ok(());
    }
    let spent = node.chainman.read_spent_outputs(entry).map_err(|e| e.to_string())?;
    for (t, tx) in spent.iter().enumerate() {
        for (i, coin) in tx.coins().enumerate() {
            let output = coin.output();
            let script = hex(&output.script_pubkey().to_bytes());
            let (amount, height) = (output.value(), coin.confirmation_height());
            let coinbase = u8::from(coin.is_coinbase());
            let script = if script.is_empty() { "-" } else { &script };
            println!("spent {} {i} {amount} {height} {coinbase} {script}", t + 1);
        }
    }
    Ok(())
}

pub fn class_name(class: BlockValidationResult) -> &'static str {
    match class {
        BlockValidationResult::Unset => "BLOCK_RESULT_UNSET",
        BlockValidationResult::Consensus => "BLOCK_CONSENSUS",
        BlockValidationResult::CachedInvalid => "BLOCK_CACHED_INVALID",
        BlockValidationResult::InvalidHeader => "BLOCK_INVALID_HEADER",
        BlockValidationResult::Mutated => "BLOCK_MUTATED",
        BlockValidationResult::MissingPrev => "BLOCK_MISSING_PREV",
        BlockValidationResult::InvalidPrev => "BLOCK_INVALID_PREV",
        BlockValidationResult::TimeFuture => "BLOCK_TIME_FUTURE",
        BlockValidationResult::HeaderLowWork => "BLOCK_HEADER_LOW_WORK",
    }
}

/// One line per block: `VERDICT HASH TIPHEIGHT TIPHASH CLASS REASON`, see README.md.
fn connect_one(node: &Node, line: &str) -> String {
    let block = unhex(line.trim()).and_then(|raw| Block::new(&raw).map_err(|e| e.to_string()));
    let Ok(block) = block else {
        return "undecodable - - - - -".into();
    };
    let hash = block.hash().to_string();
    let result = node.process(&block);
    let reports = node.reports.lock().unwrap();
    let checked = reports.checked.iter().find(|c| c.hash == hash);
    let failed = checked.filter(|c| c.mode != ValidationMode::Valid);
    let tip = node.chainman.active_chain().tip();
    let verdict = match (result, failed) {
        (_, Some(c)) if c.mode == ValidationMode::InternalError => "error",
        (_, Some(_)) | (ProcessBlockResult::Rejected, None) => "invalid",
        (ProcessBlockResult::Duplicate, None) => "duplicate",
        (ProcessBlockResult::NewBlock, None) if tip_hash(node) == hash => "connected",
        (ProcessBlockResult::NewBlock, None) => "stored",
    };
    let class = failed.map_or("-", |c| class_name(c.class));
    let reason = match verdict {
        "invalid" | "error" => reject_reason(&reports.log, &hash).unwrap_or("-".into()),
        _ => "-".into(),
    };
    format!("{verdict} {hash} {} {} {class} {reason}", tip.height(), tip.block_hash())
}

pub fn connect(args: &Args) -> Done {
    let node = Node::open(args, OpenOptions::from(args)?)?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        if line.trim().is_empty() {
            continue;
        }
        println!("{}", connect_one(&node, &line));
        std::io::stdout().flush().map_err(|e| e.to_string())?;
    }
    println!("{}", node.tip_line());
    finish(node)
}

/// Context-free checks of blocks on stdin: `ok HASH`, `bad HASH CLASS` or `undecodable -`.
pub fn check(args: &Args) -> Done {
    let params = args.network()?.params();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let block = unhex(line.trim()).and_then(|r| Block::new(&r).map_err(|e| e.to_string()));
        match block {
            Err(_) => println!("undecodable -"),
            Ok(block) => match block.check(&params, BLOCK_CHECK_ALL) {
                BlockCheckResult::Valid => println!("ok {}", block.hash()),
                BlockCheckResult::Invalid(state) => {
                    println!("bad {} {}", block.hash(), class_name(state.result()))
                }
            },
        }
    }
    Ok(())
}

/// Counts of an import; `waiting` holds blocks whose parent has not been seen yet.
#[derive(Default)]
struct Import {
    connected: usize,
    rejected: usize,
    undecodable: usize,
    waiting: HashMap<[u8; 32], Vec<Vec<u8>>>,
}

impl Import {
    fn add(&mut self, node: &Node, raw: Vec<u8>) {
        let mut stack = vec![raw];
        while let Some(raw) = stack.pop() {
            let (Some(prev), Ok(block)) = (prev_hash(&raw), Block::new(&raw)) else {
                self.undecodable += 1;
                continue;
            };
            let genesis = prev == [0; 32];
            let parent = BlockHash::from(prev);
            if !genesis && node.chainman.get_block_tree_entry(&parent).is_none() {
                self.waiting.entry(prev).or_default().push(raw);
                continue;
            }
            match node.process(&block) {
                ProcessBlockResult::NewBlock => self.connected += 1,
                ProcessBlockResult::Duplicate => {}
                ProcessBlockResult::Rejected => self.rejected += 1,
            }
            stack.extend(self.waiting.remove(&block.hash().to_bytes()).unwrap_or_default());
        }
    }
}

/// Splits a file of hex lines, or of `magic length block` records with anything in between.
fn split_blocks(data: &[u8], magic: &[u8; 4], mut each: impl FnMut(Vec<u8>)) {
    let head = &data[..data.len().min(160)];
    if !head.is_empty() && head.iter().all(|b| b.is_ascii_hexdigit() || b.is_ascii_whitespace()) {
        for line in data.split(|b| b.is_ascii_whitespace()).filter(|line| !line.is_empty()) {
            each(unhex(&String::from_utf8_lossy(line)).unwrap_or_default());
        }
        return;
    }
    let mut at = 0;
    while at + 8 <= data.len() {
        if &data[at..at + 4] != magic {
            at += 1;
            continue;
        }
        let length = u32::from_le_bytes(data[at + 4..at + 8].try_into().unwrap()) as usize;
        match data.get(at + 8..at + 8 + length) {
            Some(block) if length >= 80 => {
                each(block.to_vec());
                at += 8 + length;
            }
            _ => at += 1,
        }
    }
}

pub fn import(args: &Args) -> Done {
    let network = args.network()?;
    let node = Node::open(args, OpenOptions::from(args)?)?;
    let mut import = Import::default();
    let start = Instant::now();
    for file in &args.words {
        let data = std::fs::read(file).map_err(|e| format!("{file}: {e}"))?;
        split_blocks(&data, &network.magic, |raw| import.add(&node, raw));
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", node.tip_line());
    let orphans: usize = import.waiting.values().map(Vec::len).sum();
    let Import { connected, rejected, undecodable, .. } = import;
    print!("blocks new {connected} rejected {rejected} ");
    println!("undecodable {undecodable} orphan {orphans}");
    report_times(node, start, seconds)
}

/// Rebuilds from the block files already in the directory, as a node's own -reindex does.
pub fn reindex(args: &Args) -> Done {
    let mut options = OpenOptions::from(args)?;
    options.wipe_chainstate = true;
    options.wipe_index = !args.has("chainstate-only");
    let start = Instant::now();
    let node = Node::open(args, options)?;
    node.chainman.import_blocks().map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", node.tip_line());
    report_times(node, start, seconds)
}

fn report_times(node: Node, start: Instant, seconds: f64) -> Done {
    let done = finish(node);
    println!("seconds {seconds:.3} with-flush {:.3}", start.elapsed().as_secs_f64());
    done
}
