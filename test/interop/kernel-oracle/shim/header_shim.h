// A C interface over Core's rules for the difficulty of the next header, on a chain that holds
// times and bits only: its work is not checked. Used only by the oracle program. Owner: the caller
// of oracle_headers_new frees its result. Threads: none.
#ifndef IBD_TEST_INTEROP_HEADER_SHIM_H
#define IBD_TEST_INTEROP_HEADER_SHIM_H

#include <cstdint>

extern "C" {

struct OracleHeaders;

// A chain that holds the genesis block of main, testnet3, testnet4, signet or regtest; else null.
OracleHeaders* oracle_headers_new(const char* network);
void oracle_headers_free(OracleHeaders* headers);

// Bits that the next header must carry if it has this time.
uint32_t oracle_headers_next(const OracleHeaders* headers, uint32_t time);
// 1 if the bits could follow those of the last header, whatever the times.
int oracle_headers_permitted(const OracleHeaders* headers, uint32_t bits);
void oracle_headers_add(OracleHeaders* headers, uint32_t time, uint32_t bits);
}

#endif
