// What storage tests share: temporary folders and Core's golden data directory.
#pragma once

#include "script/coin.h"
#include "storage/block_store.h"
#include "support/testdata.h"
#include "util/env.h"
#include "util/log.h"

#include <catch2/catch.hpp>

namespace ibd::test {

/** A folder that disappears with the object. */
class TempDir {
public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    const Path& Get() const { return m_path; }
    Path operator/(const std::string& name) const { return m_path / name; }

private:
    Path m_path;
};

inline constexpr std::array<uint8_t, 4> kMainMagic = {0xf9, 0xbe, 0xb4, 0xd9};

/** Env and logger for a test, one of each. */
Env& TestEnv();
Logger& TestLog();

/** Core's data directory at height 14131, unpacked into `to`; false (skip) without test data. */
bool UnpackGolden(const TempDir& to);

/** A value of a Result, or the test fails with its message. */
template <typename T>
T Must(Result<T> result)
{
    if (!result) FAIL(result.Message());
    return std::move(result).Value();
}
inline void Must(Result<> result)
{
    if (!result) FAIL(result.Message());
}

uint64_t RandomBelow(uint64_t n);
/** A script of one of the kinds that occur, valid and invalid keys included. */
Bytes RandomScript();
Coin RandomCoin();
OutPoint RandomOutPoint();
/** A header of random bytes and `extra` more. */
Bytes RandomBlock(size_t extra);

} // namespace ibd::test
