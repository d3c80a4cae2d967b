// HeaderSync: takes the headers of one peer whose chain has not shown enough work yet, without
// storing them. The first phase (presync) only sums their work and keeps one secret, salted bit for
// every few hundred headers. If the work suffices, it requests the same headers again (redownload),
// compares those bits, and releases headers once enough later bits agreed to exclude that the peer
// sent another chain. Released headers have enough work and may be stored.
//
// Owned by the peer's state, one thread. Memory: MaxMemory() of the network, below 1.5 MB on
// mainnet; for an honest peer about the size of the buffer.
#pragma once

#include "chain/header_tree.h"
#include "crypto/siphash.h"
#include "net/wire/messages.h"
#include "util/env.h"
#include "util/log.h"

#include <deque>

namespace ibd {

/** Identifies a connection for the node's lifetime; the "peer=3" of log lines. */
using PeerId = int64_t;

// Checks of the headers of one message, before all others.

/** Hashes of headers, several at a time. */
std::vector<BlockHash> HashHeaders(std::span<const BlockHeader> headers);
/** Whether each header follows the previous one. `hashes`: of the headers, here and below. */
bool AreContinuous(std::span<const BlockHeader> headers, std::span<const BlockHash> hashes);
/** Whether each hash meets the target in its own header, regardless of the required target. */
bool HaveProofOfWork(std::span<const BlockHeader> headers, std::span<const BlockHash> hashes,
                     const ConsensusParams& params);
/** The sum of the claimed work. */
Arith256 ClaimedWork(std::span<const BlockHeader> headers);

/** Secrets of a HeaderSync. */
struct HeaderSyncSecrets {
    uint32_t offset = 0; //!< below the period: determines the heights with a stored bit
    SipKey salt;
};
HeaderSyncSecrets RandomHeaderSyncSecrets(Env& env, const ChainParams& params);

class HeaderSync {
public:
    enum class Phase {
        kPresync,
        kRedownload,
        kFinal, //!< done or given up: the memory is released
    };

    /** `start`: our last header that the peer's chain builds on; its tree and `params` must outlive
     *  this. `minimum_work`: of a chain that may be stored. `now`: seconds since 1970. */
    HeaderSync(const ChainParams& params, const HeaderNode& start, const Arith256& minimum_work,
               int64_t now, const HeaderSyncSecrets& secrets, PeerId peer, Logger& logger);

    struct Outcome {
        bool ok = false;                //!< false: given up, and these headers must not be used
        bool request_more = false;      //!< request headers after NextLocator()
        std::vector<BlockHeader> ready; //!< may be stored, in order
    };
    /** The peer's next headers: at least one, continuous, with their claimed proof of work. `full`:
     *  the message has the greatest number of headers, so there may be more. Not in kFinal. */
    Outcome Process(std::span<const BlockHeader> headers, std::span<const BlockHash> hashes,
                    bool full);
    /** Locator of the next getheaders. Not in kFinal. */
    std::vector<BlockHash> NextLocator() const;

    Phase CurrentPhase() const { return m_phase; }
    /** Height of the last header in presync. */
    int64_t PresyncHeight() const { return m_height; }
    uint32_t PresyncTime() const { return m_last.time; }

    /** Bytes held now, estimated; and the most that a peer can cause, for a chain that starts at
     *  `start_time` (median time past, seconds since 1970). */
    size_t MemoryUsage() const;
    static size_t MaxMemory(const ChainParams& params, int64_t start_time, int64_t now);

private:
    /** A header without the parent hash, which is that of the previous one in the buffer. */
    struct Compressed {
        int32_t version;
        Uint256 merkle_root;
        uint32_t time;
        uint32_t bits;
        uint32_t nonce;
    };

    Outcome ProcessPresync(std::span<const BlockHeader> headers, std::span<const BlockHash> hashes,
                           bool full);
    Outcome ProcessRedownload(std::span<const BlockHeader> headers,
                              std::span<const BlockHash> hashes, bool full);
    bool CountHeader(const BlockHeader& header, const BlockHash& hash);
    bool CheckAgain(const BlockHeader& header, const BlockHash& hash);
    bool MatchesCommitment(int64_t height, const BlockHash& hash);
    void StartRedownload();
    std::vector<BlockHeader> TakeReady();
    bool IsCommitted(int64_t height) const;
    bool CommitmentOf(const BlockHash& hash) const;
    /** The work of a header; the last result is cached, as most headers have the same. */
    const Arith256& WorkOf(uint32_t bits);
    /** Logs the reason for the end of this sync; returns false. */
    bool GiveUp(std::string_view why, int64_t height);
    void Finish();

    const ChainParams& m_params;
    const HeaderNode& m_start;
    const Arith256 m_minimum_work;
    const HeaderSyncSecrets m_secrets;
    const PeerId m_peer;
    Logger& m_logger;
    const uint64_t m_max_commitments; //!< a valid chain cannot have more

    Phase m_phase = Phase::kPresync;
    Arith256 m_last_work;
    uint32_t m_last_work_bits = 0;

    // Presync.
    BlockHeader m_last;
    BlockHash m_last_hash;
    int64_t m_height;
    Arith256 m_work;
    std::vector<bool> m_commitments;

    // Redownload.
    size_t m_commitments_checked = 0;
    std::deque<Compressed> m_buffer;
    BlockHash m_buffer_parent; //!< of its first header
    BlockHash m_buffer_last_hash;
    uint32_t m_buffer_last_bits = 0;
    int64_t m_buffer_height = 0; //!< of its last header
    Arith256 m_buffer_work;      //!< up to its last header
    bool m_release_all = false;  //!< the required work was reached again
};

} // namespace ibd
