// WantedCoins: the outpoints that a set of inputs spends, for threads that look up the outputs of
// the blocks they read. Add() on one thread, then Take() on any number. Memory: as given.
#pragma once

#include "consensus/limits.h"
#include "crypto/siphash128.h"
#include "join/join_record.h"
#include "primitives/transaction.h"

#include <atomic>
#include <optional>
#include <vector>

namespace ibd {

class WantedCoins {
public:
    /** Most blocks whose inputs fit the bits of a slot. */
    static constexpr uint32_t kMostBlocks = 511;

    /** Most inputs that `blocks` blocks can have. */
    static constexpr uint64_t MostInputs(uint32_t blocks)
    {
        constexpr uint64_t kLeastInputBytes = 41; // outpoint, empty script with length, sequence
        return blocks * (kMaxBlockWeight / kWitnessScaleFactor / kLeastInputBytes);
    }

    /** For inputs of blocks from height `first` on. `bytes`: the most memory that it takes; less if
     *  `most_inputs` need less. `key`: secret. */
    WantedCoins(uint32_t first, uint64_t most_inputs, size_t bytes, SipKey key);

    /** Removes all outpoints. */
    void Clear();
    /** Adds the outpoint (36 bytes) that the input at `place` (JoinRecord::Place) spends. False:
     *  there is no room. */
    bool Add(const uint8_t* outpoint, uint64_t place);
    size_t Size() const { return m_size; }

    /** False: no output of that transaction is wanted. True: probably one is. */
    bool MayHold(const Txid& txid) const
    {
        const uint64_t bit = FilterBit(txid.data());
        return (m_filter[bit / 64] >> bit % 64 & 1) != 0;
    }
    sip::State Begin(const Txid& txid) const { return m_hash.Begin(txid.data()); }
    /** The lookup key of an output. Prefetches its slot, so call Take() a little later. */
    Hash128 Prepare(const sip::State& begun, uint32_t vout) const
    {
        const Hash128 hash = OutpointHash::Finish(begun, vout);
        __builtin_prefetch(&m_slots[FirstSlot(hash)]);
        return hash;
    }
    /** The place of the input that spends the prepared output of a block at `height`; returned once
     *  for each input. Nothing: no wanted input spends it. `again`: taking a coin a second time is
     *  no error. */
    std::optional<uint64_t> Take(const Hash128& prepared, uint32_t height, bool again);

    /** Whether an outpoint is spent or created more than once, so that spends cannot be matched. */
    bool Repeated() const { return m_repeated; }
    /** The lowest place whose coin was not taken; nothing: all were taken. */
    std::optional<uint64_t> FirstMissing() const;

private:
    /** A slot: 96 bits of the outpoint's hash; the input's height above m_first (9 bits) and its
     *  index (22 bits, never 0); and whether the coin was taken. */
    struct Slot {
        std::array<uint32_t, 3> key{};
        uint32_t spent = 0;
    };
    static constexpr uint32_t kTaken = uint32_t{1} << 31;

    /** One of `count` numbers from 0, by the high bits of `random`. */
    static uint64_t Scale(uint64_t random, uint64_t count)
    {
        __extension__ typedef unsigned __int128 Uint128;
        return static_cast<uint64_t>(Uint128{random} * count >> 64);
    }
    uint64_t FilterBit(const uint8_t* txid) const
    {
        return Scale(ReadLE64(txid) * m_filter_key, m_filter.size() * 64);
    }
    static std::array<uint32_t, 3> KeyOf(const Hash128& hash);
    size_t FirstSlot(const Hash128& hash) const { return Scale(hash.first, m_slots.size()); }
    size_t NextSlot(size_t slot) const { return slot + 1 == m_slots.size() ? 0 : slot + 1; }
    uint64_t PlaceOf(uint32_t spent) const;

    const uint32_t m_first;
    const OutpointHash m_hash;
    const uint64_t m_filter_key;
    std::vector<Slot> m_slots;      //!< open addressing
    std::vector<uint64_t> m_filter; //!< eight bits for each slot
    size_t m_size = 0;
    std::atomic<bool> m_repeated = false;
};

} // namespace ibd
