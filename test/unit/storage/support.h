// Shared code of storage tests: random coins and blocks, and Core's golden data directory.
#pragma once

#include "script/coin.h"
#include "storage/block_store.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"
#include "util/env.h"
#include "util/log.h"

#include "support/catch.h"

namespace ibd::test {

inline constexpr std::array<uint8_t, 4> kMainMagic = {0xf9, 0xbe, 0xb4, 0xd9};

/** Env and logger for a test, one of each. */
Env& TestEnv();
Logger& TestLog();

/** Core's data directory at height 14131, unpacked into `to`; false (skip) without test data. */
bool UnpackGolden(const TempDir& to);

uint64_t RandomBelow(uint64_t n);
/** A script of one of the kinds that occur, valid and invalid keys included. */
Bytes RandomScript();
Coin RandomCoin();
OutPoint RandomOutPoint();
/** A header of random bytes and `extra` more. */
Bytes RandomBlock(size_t extra);

} // namespace ibd::test
