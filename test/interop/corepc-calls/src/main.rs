//! The calls of a program that uses the published crate `corepc-client`, to a node on regtest:
//!
//!     corepc-calls URL COOKIE-FILE ADDRESS PARENT CHILD
//!
//! PARENT and CHILD are transactions in hex; CHILD spends an output of PARENT. They are sent, found
//! in the pool, and mined; ADDRESS gets the coinbase. Each answer is read into the crate's types
//! for Core 31, which take no member that they do not know. A line on standard output tells of each
//! call: its name, then `ok` or what was wrong.

#![allow(deprecated)] // the client for one version, whose types are stricter than the other's

use corepc_client::bitcoin::consensus::encode::deserialize_hex;
use corepc_client::bitcoin::secp256k1::Secp256k1;
use corepc_client::bitcoin::{
    Address, Amount, Network, OutPoint, PrivateKey, SignedAmount, Transaction,
};
use corepc_client::client_sync::v31::{
    AddNodeCommand, Client, FeeEstimateMode, Input, Output, SetBanCommand, TemplateRequest,
    TemplateRules,
};
use corepc_client::client_sync::Auth;
use std::fmt::Debug;

type Failure = Box<dyn std::error::Error>;

fn report<T, E: Debug>(name: &str, answer: Result<T, E>) -> Option<T> {
    match answer {
        Ok(value) => {
            println!("{name} ok");
            Some(value)
        }
        Err(error) => {
            println!("{name} {error:?}");
            None
        }
    }
}

/// Calls a method; with `model` its answer is also converted to the types of the crate `bitcoin`.
macro_rules! call {
    ($client:ident.$method:ident($($arg:expr),*)) => {
        report(stringify!($method), $client.$method($($arg),*))
    };
    (model $client:ident.$method:ident($($arg:expr),*)) => {
        match report(stringify!($method), $client.$method($($arg),*)) {
            Some(answer) => report(concat!(stringify!($method), ".model"), answer.into_model()),
            None => None,
        }
    };
}

fn at_start(client: &Client) -> Result<(), Failure> {
    call!(client.check_expected_server_version());
    call!(model client.get_network_info());
    call!(model client.get_blockchain_info());
    call!(client.get_deployment_info_tip());
    call!(model client.get_mempool_info());
    call!(client.get_peer_info());
    call!(model client.get_mining_info());
    call!(client.get_index_info());
    call!(model client.get_chain_tips());
    call!(model client.get_chain_tx_stats());
    call!(client.get_chain_states());
    call!(client.get_net_totals());
    call!(client.get_node_addresses());
    call!(client.get_addr_man_info());
    call!(client.get_rpc_info());
    call!(client.get_memory_info());
    call!(client.logging());
    call!(client.uptime());
    call!(client.help());
    call!(model client.estimate_smart_fee(6));
    call!(model client.estimate_smart_fee_with_mode(2, FeeEstimateMode::Conservative));
    call!(model client.estimate_raw_fee(6));
    call!(model client.get_tx_out_set_info());
    Ok(())
}

fn blocks(client: &Client) -> Result<(), Failure> {
    let count = client.get_block_count()?.0;
    let hash = client.get_block_hash(count)?.block_hash()?;
    assert_eq!(hash, client.best_block_hash()?);
    let block = client.get_block(hash)?;
    assert_eq!(block.block_hash(), hash);
    assert!(block.check_merkle_root());
    call!(model client.get_block_verbose_one(hash));
    call!(model client.get_block_verbose_two(hash));
    call!(model client.get_block_verbose_three(hash));
    call!(model client.get_block_header(&hash));
    call!(model client.get_block_header_verbose(&hash));
    call!(model client.get_block_stats_by_height(count as u32, None));
    call!(client.verify_chain());
    Ok(())
}

fn pool(client: &Client, parent: &Transaction, child: &Transaction) -> Result<(), Failure> {
    let (txid, child_txid) = (parent.compute_txid(), child.compute_txid());
    let pair = [parent.clone(), child.clone()];
    call!(model client.test_mempool_accept(&pair));
    let sent = client.send_raw_transaction(parent)?.into_model()?;
    assert_eq!(sent.0, txid);
    call!(model client.submit_package(&pair, None, None));
    let waiting = client.get_raw_mempool()?.into_model()?;
    assert!(waiting.0.contains(&txid) && waiting.0.contains(&child_txid));
    call!(model client.get_raw_mempool_verbose());
    call!(model client.get_raw_mempool_sequence());
    call!(model client.get_mempool_entry(child_txid));
    call!(model client.get_mempool_ancestors(child_txid));
    call!(model client.get_mempool_ancestors_verbose(child_txid));
    call!(model client.get_mempool_descendants(txid));
    call!(model client.get_mempool_descendants_verbose(txid));
    call!(model client.get_mempool_cluster(txid));
    call!(model client.get_mempool_feerate_diagram());
    call!(model client.get_mempool_info());
    call!(model client.get_raw_transaction(txid));
    call!(model client.get_raw_transaction_verbose(child_txid));
    call!(model client.decode_raw_transaction(child));
    call!(model client.get_tx_spending_prevout(&[OutPoint::new(txid, 0)]));
    call!(model client.get_tx_out(child_txid, 0));
    call!(client.prioritise_transaction(&txid, SignedAmount::from_sat(100)));
    call!(model client.get_prioritised_transactions());
    call!(client.get_orphan_txs());
    call!(client.save_mempool());
    Ok(())
}

/// Calls that need no coin: addresses, descriptors, messages, PSBTs of a transaction.
fn tools(client: &Client, address: &Address, tx: &Transaction) -> Result<(), Failure> {
    let key = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA".parse::<PrivateKey>()?;
    let public = key.public_key(&Secp256k1::new());
    call!(model client.validate_address(address));
    call!(model client.decode_script("51"));
    call!(model client.create_multisig(1, vec![public]));
    if let Some(known) = call!(client.get_descriptor_info(&format!("pkh({public})"))) {
        call!(model client.derive_addresses(&known.descriptor));
        call!(model client.scan_tx_out_set_start(&[known.descriptor.as_str()]));
        call!(client.scan_tx_out_set_status());
    }
    if let Some(signed) = call!(model client.sign_message_with_privkey(&key, "text")) {
        let owner = Address::p2pkh(public, Network::Regtest);
        let verified = client.verify_message(&owner, &signed.0, "text")?;
        assert!(verified.0);
    }
    let spent = tx.input[0].previous_output;
    let inputs = [Input {
        txid: spent.txid,
        vout: spent.vout.into(),
        sequence: None,
    }];
    let outputs = [Output::new(address.clone(), Amount::from_sat(1_000))];
    call!(model client.create_raw_transaction(&inputs, &outputs));
    call!(model client.sign_raw_transaction_with_key(tx, &[key]));
    if let Some(psbt) = call!(model client.create_psbt(&inputs, &outputs)) {
        call!(model client.decode_psbt(&psbt.0.to_string()));
        call!(model client.analyze_psbt(&psbt.0));
        call!(model client.utxo_update_psbt(&psbt.0));
        call!(model client.finalize_psbt(&psbt.0));
        call!(model client.combine_psbt(&[psbt.0]));
    }
    Ok(())
}

fn peers(client: &Client) -> Result<(), Failure> {
    call!(client.get_connection_count());
    call!(client.add_node("127.0.0.1:1", AddNodeCommand::Add));
    call!(client.get_added_node_info());
    call!(client.add_node("127.0.0.1:1", AddNodeCommand::Remove));
    call!(client.set_ban("192.0.2.0/24", SetBanCommand::Add));
    call!(client.list_banned());
    call!(client.clear_banned());
    call!(client.ping());
    call!(client.get_raw_addrman());
    call!(client.get_orphan_txs_verbosity_1());
    call!(model client.get_orphan_txs_verbosity_2());
    Ok(())
}

fn mining(client: &Client, address: &Address) -> Result<(), Failure> {
    let request = TemplateRequest {
        rules: vec![TemplateRules::Segwit],
        ..TemplateRequest::default()
    };
    if let Some(template) = call!(model client.get_block_template(&request)) {
        assert_eq!(template.transactions.len(), 2);
    }
    call!(client.get_network_hash_ps());
    call!(client.get_difficulty());
    call!(model client.generate_to_address(1, address));
    call!(model client.generate_block(&address.to_string(), &[], true));
    call!(model client.wait_for_block_height(1));
    assert!(client.get_raw_mempool()?.0.is_empty());
    Ok(())
}

fn run(args: &[String]) -> Result<(), Failure> {
    let [url, cookie, address, parent, child] = args else {
        return Err("corepc-calls URL COOKIE-FILE ADDRESS PARENT CHILD".into());
    };
    let client = Client::new_with_auth(url, Auth::CookieFile(cookie.into()))?;
    let address = address.parse::<Address<_>>()?.assume_checked();
    at_start(&client)?;
    peers(&client)?;
    blocks(&client)?;
    let parent = deserialize_hex(parent)?;
    tools(&client, &address, &parent)?;
    pool(&client, &parent, &deserialize_hex(child)?)?;
    mining(&client, &address)?;
    blocks(&client)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Err(error) = run(&args) {
        println!("stopped {error:?}");
        std::process::exit(1);
    }
}
