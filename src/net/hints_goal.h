// HintsGoal: hints that somebody wants to have from peers, and HintsProvider: those that may be
// given to peers. Interfaces owned by net, implemented by the node and by tests; called on the
// thread that owns the peers.
#pragma once

#include "net/hints_messages.h"

#include <array>
#include <span>

namespace ibd {

/** A group of a hints file, as its index has it. */
struct HintsPiece {
    uint32_t size = 0; //!< bytes
    std::array<uint8_t, 8> checksum{};
    bool have = false; //!< it was fetched before
};

class HintsGoal {
public:
    virtual ~HintsGoal() = default;

    /** Whether the headers are there by which offers are judged. */
    virtual bool HasHeaders() = 0;
    /** What hints that end there are worth. */
    enum class Fit {
        kUseless,
        kUsable, //!< the higher they end the better
        kBest,   //!< they end at the assumed-valid block: nothing better can come
    };
    virtual Fit Judge(const HintsOffer& offer) = 0;
    /** Whether the user or the program vouches for the file, so that one peer's word suffices. */
    virtual bool IsPinned(const HintsOffer& offer) = 0;

    /** The head of the chosen file: its groups in order. Bad data: it is not that of the offer. */
    virtual Result<std::vector<HintsPiece>> TakeHead(const HintsOffer& offer, Bytes head) = 0;
    /** Groups that follow each other from `first` on and have the right checksums. Errors are the
     *  machine's. */
    virtual Result<> TakeGroups(size_t first, ByteSpan bytes) = 0;
    /** All is there. */
    virtual void Complete(const HintsOffer& offer) = 0;
    /** There will be none: `why`, for the user. */
    virtual void Failed(const std::string& why) = 0;
};

class HintsProvider {
public:
    virtual ~HintsProvider() = default;

    /** The best first; at most kMaxHintsOffers. */
    virtual std::vector<HintsOffer> Offers() = 0;
    /** The bytes of a part, at most kMaxHintsData; an error if there is no such part. */
    virtual Result<Bytes> Read(const HintsPart& part) = 0;
};

} // namespace ibd
