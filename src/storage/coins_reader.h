// CoinsReader: a set of coins that can be asked for one, and the database as such a set. Read() may
// be called from several threads while nobody changes the set.
#pragma once

#include "storage/coins_db.h"

namespace ibd {

class CoinsReader {
public:
    virtual ~CoinsReader() = default;
    /** The coin if it is unspent. Errors are of the disk. */
    virtual Result<std::optional<Coin>> Read(const OutPoint& outpoint) const = 0;
};

class CoinsDbReader final : public CoinsReader {
public:
    explicit CoinsDbReader(const CoinsDb& db) : m_db(db) {}
    Result<std::optional<Coin>> Read(const OutPoint& outpoint) const override
    {
        return m_db.Get(outpoint);
    }

private:
    const CoinsDb& m_db;
};

} // namespace ibd
