// A C interface over the parts of Bitcoin Core's engine that its kernel API 0.3.2 does not expose:
// script verification with every flag (policy ones too) and the exact error, and reading the
// chainstate database. Used only by the oracle program next to it. Owner: the caller of *_new frees
// its result with *_free. Strings returned are static. Threads: an OracleTx may be used by several
// threads at once; nothing else keeps state.
#ifndef IBD_TEST_INTEROP_ORACLE_SHIM_H
#define IBD_TEST_INTEROP_ORACLE_SHIM_H

#include <cstddef>
#include <cstdint>

extern "C" {

struct OracleTx;

// Parses a transaction (witness encoding allowed, no trailing bytes) and, if spent_len > 0, the
// outputs it spends: one serialized output per input, nothing after them. Null if either is bad.
OracleTx* oracle_tx_new(const uint8_t* tx, size_t tx_len, const uint8_t* spent, size_t spent_len);
void oracle_tx_free(OracleTx* tx);
size_t oracle_tx_inputs(const OracleTx* tx);

// Results of oracle_verify below zero; zero is success, above zero is Core's ScriptError.
enum { kOracleBadFlags = -1, kOracleNeedSpent = -2, kOracleBadInput = -3 };

// Verifies input `input`. If spk is null, script and amount come from the spent outputs.
int oracle_verify(const OracleTx* tx, size_t input, const uint8_t* spk, size_t spk_len,
                  int64_t amount, uint64_t flags);

// Context-free transaction rules: 0 valid, 1 invalid with the reject reason in `reason`, -1 not a
// transaction (or bytes after it).
int oracle_check_tx(const uint8_t* tx, size_t tx_len, char* reason, size_t reason_len);

// "EVAL_FALSE" and so on, as in Core's script test vectors; "OK" for zero.
const char* oracle_error_name(int error);
// Bits of a flag name ("P2SH"), or of NONE, MANDATORY, STANDARD, ALL; all ones if unknown.
uint64_t oracle_flag_bits(const char* name);
// Name of bit `bit`, or null past the last one.
const char* oracle_flag_name(unsigned bit);

struct OracleCoin {
    uint8_t txid[32];
    uint32_t vout;
    uint32_t height;
    uint8_t coinbase;
    int64_t amount;
    const uint8_t* script;
    size_t script_len;
};
using OracleCoinFn = void (*)(void* user, const OracleCoin* coin);

struct OracleCoinsInfo {
    uint8_t best_block[32];
    uint64_t coins;
    int64_t total_amount;
    uint8_t hash_serialized[32];
    uint8_t muhash[32];
};

// Opens a chainstate database and visits every coin in key order (each may be null: `each`).
// Hashes are computed only if `hashes` is non-zero. Returns 0, or -1 with a message in `error`.
int oracle_coins_scan(const char* path, int hashes, OracleCoinFn each, void* user,
                      OracleCoinsInfo* info, char* error, size_t error_len);
// Looks up one coin: 1 found (visited), 0 absent, -1 error.
int oracle_coin_get(const char* path, const uint8_t* txid, uint32_t vout, OracleCoinFn each,
                    void* user, char* error, size_t error_len);
}

#endif
