//! Commands on a chainstate database alone, through the engine's own database code.

use crate::args::{hash_hex, hex, unhex, Args};
use crate::ffi::{get_coin, scan_coins, Coin};
use std::io::{BufWriter, Write};

fn chainstate(args: &Args) -> Result<String, String> {
    let path = match args.get("chainstate") {
        Some(dir) => dir.to_string(),
        None => format!("{}/chainstate", args.need("datadir")?),
    };
    // Opening a database creates it; a wrong path must not look like an empty chainstate.
    if !std::path::Path::new(&path).join("CURRENT").exists() {
        return Err(format!("{path}: no database there"));
    }
    bitcoinkernel::disable_logging();
    Ok(path)
}

fn write_coin(out: &mut impl Write, coin: &Coin) {
    let script = if coin.script.is_empty() { "-".into() } else { hex(coin.script) };
    let (txid, coinbase) = (hash_hex(&coin.txid), u8::from(coin.coinbase));
    let Coin { vout, height, amount, .. } = coin;
    writeln!(out, "coin {txid} {vout} {height} {coinbase} {amount} {script}").expect("stdout");
}

/// `--list` prints every coin in database order; `--hashes` adds the two UTXO set hashes.
pub fn coins(args: &Args) -> Result<(), String> {
    let path = chainstate(args)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut print = |coin: &Coin| write_coin(&mut out, coin);
    let info = match args.has("list") {
        true => scan_coins(&path, args.has("hashes"), Some(&mut print))?,
        false => scan_coins(&path, args.has("hashes"), None)?,
    };
    let best = hash_hex(&info.best_block);
    let mut text = format!("best {best}\ncoins {}\namount {}\n", info.coins, info.total_amount);
    if args.has("hashes") {
        text += &format!("hash_serialized_3 {}\n", hash_hex(&info.hash_serialized));
        text += &format!("muhash {}\n", hash_hex(&info.muhash));
    }
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| e.to_string())
}

/// Looks up each `TXID:VOUT` argument: `coin ...` or `absent TXID VOUT`.
pub fn coin(args: &Args) -> Result<(), String> {
    let path = chainstate(args)?;
    for word in &args.words {
        let (txid, vout) = word.split_once(':').ok_or(format!("{word}: expected TXID:VOUT"))?;
        let mut id: [u8; 32] = unhex(txid)?.try_into().map_err(|_| "txid length")?;
        id.reverse();
        let n = vout.parse().map_err(|_| format!("{word}: bad output number"))?;
        let mut print = |coin: &Coin| write_coin(&mut std::io::stdout().lock(), coin);
        if !get_coin(&path, &id, n, &mut print)? {
            println!("absent {txid} {n}");
        }
    }
    Ok(())
}
