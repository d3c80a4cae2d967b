//! Command-line arguments: `--name value` options and positional words.

use bitcoinkernel::{ChainParams, ChainType};
use std::collections::HashMap;

pub struct Args {
    options: HashMap<String, String>,
    pub words: Vec<String>,
}

const SWITCHES: [&str; 5] = ["hashes", "list", "chainstate-only", "quiet", "api"];

impl Args {
    pub fn parse(raw: impl Iterator<Item = String>) -> Result<Args, String> {
        let mut args = Args { options: HashMap::new(), words: Vec::new() };
        let mut raw = raw.peekable();
        while let Some(word) = raw.next() {
            let Some(name) = word.strip_prefix("--") else {
                args.words.push(word);
                continue;
            };
            let value = if let Some((name, value)) = name.split_once('=') {
                args.options.insert(name.into(), value.into());
                continue;
            } else if SWITCHES.contains(&name) {
                "1".into()
            } else {
                raw.next().ok_or(format!("--{name} needs a value"))?
            };
            args.options.insert(name.into(), value);
        }
        Ok(args)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    pub fn need(&self, name: &str) -> Result<&str, String> {
        self.get(name).ok_or(format!("--{name} is missing"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.options.contains_key(name)
    }

    pub fn number(&self, name: &str, default: usize) -> Result<usize, String> {
        match self.get(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("--{name} {text}: not a number")),
        }
    }

    pub fn network(&self) -> Result<Network, String> {
        let challenge = self.get("signet-challenge").map(unhex).transpose()?;
        Network::new(self.get("network").unwrap_or("regtest"), challenge)
    }
}

/// A chain's parameters and the four bytes that open each record of its block files.
pub struct Network {
    pub chain: ChainType,
    pub magic: [u8; 4],
    pub challenge: Option<Vec<u8>>,
}

impl Network {
    fn new(name: &str, challenge: Option<Vec<u8>>) -> Result<Network, String> {
        let (chain, magic) = match name {
            "main" | "mainnet" => (ChainType::Mainnet, [0xf9, 0xbe, 0xb4, 0xd9]),
            "test" | "testnet" | "testnet3" => (ChainType::Testnet, [0x0b, 0x11, 0x09, 0x07]),
            "testnet4" => (ChainType::Testnet4, [0x1c, 0x16, 0x3f, 0x28]),
            "signet" => (ChainType::Signet, [0x0a, 0x03, 0xcf, 0x40]),
            "regtest" => (ChainType::Regtest, [0xfa, 0xbf, 0xb5, 0xda]),
            _ => return Err(format!("unknown network {name}")),
        };
        Ok(Network { chain, magic, challenge })
    }

    pub fn params(&self) -> ChainParams {
        match &self.challenge {
            Some(script) => ChainParams::new_signet(script),
            None => ChainParams::new(self.chain),
        }
    }
}

pub fn unhex(text: &str) -> Result<Vec<u8>, String> {
    fn digit(c: u8) -> Option<u8> {
        match c {
            b'0'..=b'9' => Some(c - b'0'),
            b'a'..=b'f' => Some(c - b'a' + 10),
            b'A'..=b'F' => Some(c - b'A' + 10),
            _ => None,
        }
    }
    let raw = text.as_bytes();
    if raw.len() % 2 != 0 {
        return Err("odd number of hex digits".into());
    }
    raw.chunks_exact(2)
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect::<Option<Vec<u8>>>()
        .ok_or("not hex".into())
}

pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)] as char);
        out.push(DIGITS[usize::from(byte & 15)] as char);
    }
    out
}

/// A hash as people read it: most significant byte first.
pub fn hash_hex(bytes: &[u8; 32]) -> String {
    let mut reversed = *bytes;
    reversed.reverse();
    hex(&reversed)
}
