//! The engine opened on a data directory, with everything it reported kept for the caller.

use crate::args::{hash_hex, Args, Network};
use bitcoinkernel::{
    prelude::*, Block, BlockValidationResult, BlockValidationStateRef, ChainstateManager, Context,
    ContextBuilder, Log, Logger, ProcessBlockResult, ValidationMode,
};
use std::sync::{Arc, Mutex};

/// One finished check of a block, as the engine signalled it.
pub struct Checked {
    pub hash: String,
    pub mode: ValidationMode,
    pub class: BlockValidationResult,
}

#[derive(Default)]
pub struct Reports {
    pub log: Vec<String>,
    pub notes: Vec<String>,
    pub checked: Vec<Checked>,
}

pub type Shared = Arc<Mutex<Reports>>;

struct LogSink(Shared);

/// Log lines kept: enough to explain a failure, bounded for long imports.
const MAX_LOG_LINES: usize = 10_000;

impl Log for LogSink {
    fn log(&self, message: &str) {
        let mut reports = self.0.lock().unwrap();
        if reports.log.len() == MAX_LOG_LINES {
            reports.log.drain(..MAX_LOG_LINES / 2);
        }
        reports.log.push(message.trim_end().into());
    }
}

// Field order is drop order: the manager flushes while the context and the log still exist.
pub struct Node {
    pub chainman: ChainstateManager,
    _context: Context,
    _logger: Logger,
    pub reports: Shared,
}

pub struct OpenOptions {
    pub threads: usize,
    pub wipe_index: bool,
    pub wipe_chainstate: bool,
}

impl OpenOptions {
    pub fn from(args: &Args) -> Result<OpenOptions, String> {
        let threads = args.number("par", 1)?;
        Ok(OpenOptions { threads, wipe_index: false, wipe_chainstate: false })
    }
}

pub fn context(network: &Network, reports: &Shared) -> Result<Context, String> {
    let (fatal, flush, warning) = (reports.clone(), reports.clone(), reports.clone());
    let checked = reports.clone();
    let builder = ContextBuilder::new()
        .notifications(move |registry| {
            registry.register_fatal_error(move |text: String| {
                fatal.lock().unwrap().notes.push(format!("fatal {text}"));
            });
            registry.register_flush_error(move |text: String| {
                flush.lock().unwrap().notes.push(format!("flush {text}"));
            });
            registry.register_warning_set(move |_, text: String| {
                warning.lock().unwrap().notes.push(format!("warning {text}"));
            });
        })
        .validation(move |registry| {
            registry.register_block_checked(move |block: Block, state: BlockValidationStateRef| {
                checked.lock().unwrap().checked.push(Checked {
                    hash: block.hash().to_string(),
                    mode: state.mode(),
                    class: state.result(),
                });
            });
        });
    let builder = match &network.challenge {
        Some(script) => builder.signet(script),
        None => builder.chain_type(network.chain),
    };
    builder.build().map_err(|e| e.to_string())
}

impl Node {
    pub fn open(args: &Args, options: OpenOptions) -> Result<Node, String> {
        let network = args.network()?;
        let datadir = args.need("datadir")?;
        let blocks = match args.get("blocksdir") {
            Some(dir) => dir.to_string(),
            None => format!("{datadir}/blocks"),
        };
        std::fs::create_dir_all(&blocks).map_err(|e| format!("{blocks}: {e}"))?;
        let reports = Shared::default();
        let logger = Logger::new(LogSink(reports.clone())).map_err(|e| e.to_string())?;
        let context = context(&network, &reports)?;
        let workers = options.threads.max(1) as i32 - 1;
        let chainman = ChainstateManager::builder(&context, datadir, &blocks)
            .and_then(|b| b.wipe_db(options.wipe_index, options.wipe_chainstate))
            .and_then(|b| b.worker_threads(workers).build())
            .map_err(|e| explain(&reports, e.to_string()))?;
        Ok(Node { chainman, _context: context, _logger: logger, reports })
    }

    pub fn tip_line(&self) -> String {
        let tip = self.chainman.active_chain().tip();
        format!("tip {} {}", tip.height(), tip.block_hash())
    }

    pub fn process(&self, block: &Block) -> ProcessBlockResult {
        {
            let mut reports = self.reports.lock().unwrap();
            reports.checked.clear();
            reports.log.clear();
        }
        self.chainman.process_block(block)
    }

    /// Closes the databases (which flushes them) and returns what was notified.
    pub fn close(self) -> Vec<String> {
        let reports = self.reports.clone();
        drop(self);
        let notes = std::mem::take(&mut reports.lock().unwrap().notes);
        notes
    }
}

fn explain(reports: &Shared, error: String) -> String {
    let reports = reports.lock().unwrap();
    let mut text = error;
    let start = reports.log.len().saturating_sub(20);
    for line in reports.notes.iter().chain(&reports.log[start..]) {
        text.push_str("\nlog ");
        text.push_str(line);
    }
    text
}

/// The reject reason and its detail, which the kernel API does not pass on, from the log lines the
/// engine writes about this block.
pub fn reject_reason(log: &[String], hash: &str) -> Option<String> {
    let connect = format!("ConnectBlock {hash} failed, ");
    log.iter().rev().find_map(|line| {
        if let Some(at) = line.find(&connect) {
            return Some(line[at + connect.len()..].to_string());
        }
        let at = line.find("AcceptBlock FAILED (")? + "AcceptBlock FAILED (".len();
        Some(line[at..].trim_end_matches(')').to_string())
    })
}

pub fn prev_hash(block: &[u8]) -> Option<[u8; 32]> {
    block.get(4..36)?.try_into().ok()
}

pub fn tip_hash(node: &Node) -> String {
    hash_hex(&node.chainman.active_chain().tip().block_hash().to_bytes())
}
