// HintsGoal: the receiver of hints from peers; HintsProvider: the source of hints for peers.
// Interfaces owned by net, implemented by the node and by tests; called on the thread of the peers.
#pragma once

#include "net/wire/hints_messages.h"

#include <array>
#include <span>

namespace ibd {

/** A group of a hints file, from its index. */
struct HintsPiece {
    uint32_t size = 0; //!< bytes
    std::array<uint8_t, 8> checksum{};
    bool have = false; //!< fetched already
};

class HintsGoal {
public:
    virtual ~HintsGoal() = default;

    /** Whether the headers needed to judge offers are known. */
    virtual bool HasHeaders() = 0;
    /** The value of hints with that terminal block. */
    enum class Fit {
        kUseless,
        kUsable, //!< the higher they end the better
        kBest,   //!< they end at the assumed-valid block: the optimum
    };
    virtual Fit Judge(const HintsOffer& offer) = 0;
    /** Whether the user has pinned the file or the program knows it, so that one offer suffices. */
    virtual bool IsPinned(const HintsOffer& offer) = 0;

    /** Receives the head of the chosen file; returns its groups in order. Bad data: it does not
     *  match the offer. */
    virtual Result<std::vector<HintsPiece>> TakeHead(const HintsOffer& offer, Bytes head) = 0;
    /** Receives adjacent groups from `first` on, with correct checksums. Errors are the machine's.
     */
    virtual Result<> TakeGroups(size_t first, ByteSpan bytes) = 0;
    /** The file is complete. */
    virtual void Complete(const HintsOffer& offer) = 0;
    /** Called when there will be no file. `why`: the reason, for the user. */
    virtual void Failed(const std::string& why) = 0;
};

class HintsProvider {
public:
    virtual ~HintsProvider() = default;

    /** The offers, the best first; at most kMaxHintsOffers. */
    virtual std::vector<HintsOffer> Offers() = 0;
    /** The bytes of a part, at most kMaxHintsData; an error if there is no such part. */
    virtual Result<Bytes> Read(const HintsPart& part) = 0;
};

} // namespace ibd
