// MapCoins: coins of a map, which counts the reads.
#pragma once

#include "storage/coins_reader.h"

#include <map>

namespace ibd::test {

class MapCoins final : public CoinsReader {
public:
    Found<Coin> Read(const OutPoint& outpoint) const override
    {
        ++reads;
        const auto it = coins.find(outpoint);
        if (it == coins.end()) return std::optional<Coin>();
        return std::optional<Coin>(it->second);
    }
    bool IsInMemory(const OutPoint& outpoint) const override
    {
        return !on_disk && coins.contains(outpoint);
    }
    std::map<OutPoint, Coin> coins;
    bool on_disk = false;     //!< all of them
    mutable size_t reads = 0; //!< that could have been of a disk
};

} // namespace ibd::test
