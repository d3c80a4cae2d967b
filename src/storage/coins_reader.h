// CoinsReader: an interface to look up coins; implemented here for the database. Several threads
// may call Read() while the set is not changed.
#pragma once

#include "storage/coins_db.h"
#include "util/found.h"

namespace ibd {

class CoinsReader {
public:
    virtual ~CoinsReader() = default;
    /** The coin if it is unspent. Errors are of the disk. */
    virtual Found<Coin> Read(const OutPoint& outpoint) const = 0;
    /** Whether the coin is known, without a disk read, to be unspent. */
    virtual bool IsInMemory(const OutPoint& outpoint) const = 0;
};

class CoinsDbReader final : public CoinsReader {
public:
    explicit CoinsDbReader(const CoinsDb& db) : m_db(db) {}
    Found<Coin> Read(const OutPoint& outpoint) const override { return m_db.Get(outpoint); }
    bool IsInMemory(const OutPoint&) const override { return false; }

private:
    const CoinsDb& m_db;
};

} // namespace ibd
