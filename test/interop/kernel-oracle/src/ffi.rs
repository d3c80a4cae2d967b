//! Rust side of shim/oracle_shim.h and shim/header_shim.h.

use std::ffi::{c_char, c_int, c_void, CStr, CString};

#[repr(C)]
struct RawTx {
    _private: [u8; 0],
}

#[repr(C)]
struct RawHeaders {
    _private: [u8; 0],
}

#[repr(C)]
struct RawCoin {
    txid: [u8; 32],
    vout: u32,
    height: u32,
    coinbase: u8,
    amount: i64,
    script: *const u8,
    script_len: usize,
}

#[repr(C)]
#[derive(Default)]
pub struct CoinsInfo {
    pub best_block: [u8; 32],
    pub coins: u64,
    pub total_amount: i64,
    pub hash_serialized: [u8; 32],
    pub muhash: [u8; 32],
}

type CoinFn = unsafe extern "C" fn(*mut c_void, *const RawCoin);

extern "C" {
    fn oracle_tx_new(tx: *const u8, len: usize, spent: *const u8, n: usize) -> *mut RawTx;
    fn oracle_tx_free(tx: *mut RawTx);
    fn oracle_tx_inputs(tx: *const RawTx) -> usize;
    fn oracle_verify(
        tx: *const RawTx,
        input: usize,
        spk: *const u8,
        spk_len: usize,
        amount: i64,
        flags: u64,
    ) -> c_int;
    fn oracle_check_tx(tx: *const u8, len: usize, reason: *mut c_char, n: usize) -> c_int;
    fn oracle_error_name(error: c_int) -> *const c_char;
    fn oracle_flag_bits(name: *const c_char) -> u64;
    fn oracle_flag_name(bit: u32) -> *const c_char;
    fn oracle_coins_scan(
        path: *const c_char,
        hashes: c_int,
        each: Option<CoinFn>,
        user: *mut c_void,
        info: *mut CoinsInfo,
        error: *mut c_char,
        error_len: usize,
    ) -> c_int;
    fn oracle_coin_get(
        path: *const c_char,
        txid: *const u8,
        vout: u32,
        each: CoinFn,
        user: *mut c_void,
        error: *mut c_char,
        error_len: usize,
    ) -> c_int;
    fn oracle_headers_new(network: *const c_char) -> *mut RawHeaders;
    fn oracle_headers_free(headers: *mut RawHeaders);
    fn oracle_headers_next(headers: *const RawHeaders, time: u32) -> u32;
    fn oracle_headers_permitted(headers: *const RawHeaders, bits: u32) -> c_int;
    fn oracle_headers_add(headers: *mut RawHeaders, time: u32, bits: u32);
}

/// A chain of times and bits.
pub struct Headers(*mut RawHeaders);

impl Headers {
    /// From the genesis block of the network on; nothing for an unknown name.
    pub fn new(network: &str) -> Option<Headers> {
        let name = CString::new(network).ok()?;
        let raw = unsafe { oracle_headers_new(name.as_ptr()) };
        (!raw.is_null()).then_some(Headers(raw))
    }

    pub fn next(&self, time: u32) -> u32 {
        unsafe { oracle_headers_next(self.0, time) }
    }

    pub fn permitted(&self, bits: u32) -> bool {
        unsafe { oracle_headers_permitted(self.0, bits) != 0 }
    }

    pub fn add(&mut self, time: u32, bits: u32) {
        unsafe { oracle_headers_add(self.0, time, bits) }
    }
}

impl Drop for Headers {
    fn drop(&mut self) {
        unsafe { oracle_headers_free(self.0) }
    }
}

/// A parsed transaction with the hashes its inputs share.
pub struct Tx(*mut RawTx);

// The engine only reads it after construction.
unsafe impl Send for Tx {}
unsafe impl Sync for Tx {}

impl Tx {
    /// `spent` is the concatenation of the serialized outputs the inputs spend, or empty.
    pub fn new(tx: &[u8], spent: &[u8]) -> Option<Tx> {
        let raw = unsafe { oracle_tx_new(tx.as_ptr(), tx.len(), spent.as_ptr(), spent.len()) };
        (!raw.is_null()).then_some(Tx(raw))
    }

    pub fn inputs(&self) -> usize {
        unsafe { oracle_tx_inputs(self.0) }
    }

    /// Zero is success. Without `spk` the spent outputs given to `new` are used.
    pub fn verify(&self, input: usize, spk: Option<(&[u8], i64)>, flags: u64) -> i32 {
        // An empty Vec's pointer is dangling but not null, so an empty script stays "given".
        let (ptr, len, amount) = match spk {
            Some((script, amount)) => (script.as_ptr(), script.len(), amount),
            None => (std::ptr::null(), 0, 0),
        };
        unsafe { oracle_verify(self.0, input, ptr, len, amount, flags) }
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        unsafe { oracle_tx_free(self.0) }
    }
}

/// `OK`, `TX_DECODE` or the reject reason of the context-free rules.
pub fn check_tx(tx: &[u8]) -> String {
    let mut reason = [0u8; 512];
    let out = reason.as_mut_ptr() as *mut c_char;
    match unsafe { oracle_check_tx(tx.as_ptr(), tx.len(), out, 512) } {
        0 => "OK".into(),
        1 => message(&reason),
        _ => "TX_DECODE".into(),
    }
}

pub fn error_name(error: i32) -> &'static str {
    unsafe { CStr::from_ptr(oracle_error_name(error)) }.to_str().unwrap_or("UNKNOWN_ERROR")
}

pub fn flag_name(bit: u32) -> Option<&'static str> {
    let name = unsafe { oracle_flag_name(bit) };
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("?"))
}

/// An integer, or names joined by commas; an empty string means no flag.
pub fn parse_flags(text: &str) -> Result<u64, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let mut flags = 0;
    for name in text.split(',').filter(|name| !name.is_empty()) {
        let c_name = CString::new(name).map_err(|_| "zero byte in a flag name")?;
        match unsafe { oracle_flag_bits(c_name.as_ptr()) } {
            u64::MAX => return Err(format!("unknown flag {name}")),
            bits => flags |= bits,
        }
    }
    Ok(flags)
}

pub struct Coin<'a> {
    pub txid: [u8; 32],
    pub vout: u32,
    pub height: u32,
    pub coinbase: bool,
    pub amount: i64,
    pub script: &'a [u8],
}

type Visitor<'a> = &'a mut dyn FnMut(&Coin);

unsafe extern "C" fn visit(user: *mut c_void, raw: *const RawCoin) {
    let visitor = &mut *(user as *mut Visitor);
    let raw = &*raw;
    let script = match raw.script_len {
        0 => &[][..],
        len => std::slice::from_raw_parts(raw.script, len),
    };
    visitor(&Coin {
        txid: raw.txid,
        vout: raw.vout,
        height: raw.height,
        coinbase: raw.coinbase != 0,
        amount: raw.amount,
        script,
    });
}

fn message(buffer: &[u8; 512]) -> String {
    let end = buffer.iter().position(|&b| b == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).trim().into()
}

/// Visits every coin of a chainstate directory in key order.
pub fn scan_coins(path: &str, hashes: bool, each: Option<Visitor>) -> Result<CoinsInfo, String> {
    let c_path = CString::new(path).map_err(|_| "zero byte in the path")?;
    let mut info = CoinsInfo::default();
    let mut error = [0u8; 512];
    let mut each = each;
    let user = match &mut each {
        Some(visitor) => visitor as *mut Visitor as *mut c_void,
        None => std::ptr::null_mut(),
    };
    let callback = (!user.is_null()).then_some(visit as CoinFn);
    let status = unsafe {
        let out = error.as_mut_ptr() as *mut c_char;
        oracle_coins_scan(c_path.as_ptr(), hashes.into(), callback, user, &mut info, out, 512)
    };
    if status == 0 {
        Ok(info)
    } else {
        Err(message(&error))
    }
}

/// `each` is called if the coin exists. `txid` in wire order.
pub fn get_coin(path: &str, txid: &[u8; 32], vout: u32, each: Visitor) -> Result<bool, String> {
    let c_path = CString::new(path).map_err(|_| "zero byte in the path")?;
    let mut error = [0u8; 512];
    let mut each = each;
    let user = &mut each as *mut Visitor as *mut c_void;
    let status = unsafe {
        let out = error.as_mut_ptr() as *mut c_char;
        oracle_coin_get(c_path.as_ptr(), txid.as_ptr(), vout, visit, user, out, 512)
    };
    if status < 0 {
        Err(message(&error))
    } else {
        Ok(status == 1)
    }
}
