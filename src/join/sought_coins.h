// SoughtCoins: the outpoints that some inputs spend, to be looked up by whoever reads the blocks
// that may make them. Add() on one thread, then Take() on any number. Memory: as given.
#pragma once

#include "consensus/limits.h"
#include "crypto/siphash128.h"
#include "join/join_record.h"
#include "primitives/transaction.h"

#include <atomic>
#include <optional>
#include <vector>

namespace ibd {

class SoughtCoins {
public:
    /** Inputs of so many blocks at most. */
    static constexpr uint32_t kMostBlocks = 511;

    /** So many inputs so many blocks can have. */
    static constexpr uint64_t MostInputs(uint32_t blocks)
    {
        constexpr uint64_t kLeastInputBytes = 41; // outpoint, empty script with length, sequence
        return blocks * (kMaxBlockWeight / kWitnessScaleFactor / kLeastInputBytes);
    }

    /** Of inputs of blocks from height `first` on. `bytes`: that it may take, unless it needs less
     *  for `most_inputs`. `key`: secret. */
    SoughtCoins(uint32_t first, uint64_t most_inputs, size_t bytes, SipKey key);

    /** Forgets all. */
    void Clear();
    /** Adds the outpoint (36 bytes) that the input at `place` (JoinRecord::Place) spends. False:
     *  there is no room. */
    bool Add(const uint8_t* outpoint, uint64_t place);
    size_t Size() const { return m_size; }

    /** False: no output of that transaction is sought. True mostly means that one is. */
    bool MayHold(const Txid& txid) const
    {
        const uint64_t bit = FilterBit(txid.data());
        return (m_filter[bit / 64] >> bit % 64 & 1) != 0;
    }
    sip::State Begin(const Txid& txid) const { return m_hash.Begin(txid.data()); }
    /** What an output is looked up by. Brings near where that is: to be taken a little later. */
    Hash128 Prepare(const sip::State& begun, uint32_t vout) const
    {
        const Hash128 hash = OutpointHash::Finish(begun, vout);
        __builtin_prefetch(&m_slots[FirstSlot(hash)]);
        return hash;
    }
    /** The place of the input that spends the prepared output of a block at `height`, once for each
     *  input; nothing if none is sought that may. `again`: it is no news that it was taken before.
     */
    std::optional<uint64_t> Take(const Hash128& prepared, uint32_t height, bool again);

    /** An outpoint is spent or made more than once: which spend is of which making, it does not
     *  know. */
    bool Repeated() const { return m_repeated; }
    /** The lowest place whose coin was not taken; nothing: all were. */
    std::optional<uint64_t> FirstMissing() const;

private:
    /** Ninety-six bits of the outpoint's hash, and its input: height above m_first (9 bits), index
     *  (22, never 0), and whether it was taken. */
    struct Slot {
        std::array<uint32_t, 3> key{};
        uint32_t spent = 0;
    };
    static constexpr uint32_t kTaken = uint32_t{1} << 31;

    uint64_t FilterBit(const uint8_t* txid) const
    {
        return ReadLE64(txid) * m_filter_key >> m_filter_shift;
    }
    static std::array<uint32_t, 3> KeyOf(const Hash128& hash);
    size_t FirstSlot(const Hash128& hash) const { return hash.first & (m_slots.size() - 1); }
    uint64_t PlaceOf(uint32_t spent) const;

    const uint32_t m_first;
    const OutpointHash m_hash;
    const uint64_t m_filter_key;
    std::vector<Slot> m_slots; //!< a power of two of them; open addressing
    int m_filter_shift = 0;
    std::vector<uint64_t> m_filter; //!< eight bits a slot
    size_t m_size = 0;
    std::atomic<bool> m_repeated = false;
};

} // namespace ibd
