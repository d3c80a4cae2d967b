// See hints_from_peers.h.
#include "booster/hints_from_peers.h"

#include "booster/hints_choice.h"
#include "booster/hints_gate.h"
#include "swiftsync/terminal.h"
#include "util/hex.h"
#include "util/progress.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr auto kLook = std::chrono::milliseconds(200);
constexpr int64_t kHeadersLook = 200'000; //!< microseconds
/** The file is synced after this many bytes, so that the last sync has little to do. */
constexpr uint64_t kSyncEvery = 16 << 20;

} // namespace

HintsFromPeers::HintsFromPeers(Env& env, Logger& log, const ChainManager& chain,
                               HintsFetchOptions options)
    : m_env(env), m_log(log), m_chain(chain), m_options(std::move(options))
{
}

/** Whether hints can be judged: the assumed-valid block has enough work on top, or the headers are
 *  complete. */
bool HintsFromPeers::HasHeaders()
{
    if (!m_wanted) return false;
    const int64_t now = m_env.UnixTime();
    const ChainReader reader = m_chain.Read();
    const HeaderTree& tree = reader.Tree();
    const ChainManagerOptions& trust = m_chain.Options();
    const HeaderNode* const assumed = tree.Find(trust.assume_valid);
    if (assumed && ScriptCheckFor(tree, *assumed, trust.assume_valid, trust.minimum_work) ==
                       ScriptCheckReason::kSkip) {
        return true;
    }
    const HeaderNode& best = *tree.BestHeader();
    const bool complete = m_headers_ended || best.time >= now - trust.max_tip_age;
    return best.chain_work >= trust.minimum_work && complete;
}

HintsGoal::Fit HintsFromPeers::Judge(const HintsOffer& offer)
{
    if (m_options.pin && offer.file_hash != m_options.pin) return Fit::kUseless;
    if (!CanBeContainer2(offer.height, offer.size)) return Fit::kUseless;
    HintsInfo info;
    info.path = "offered by peers";
    info.terminal_height = offer.height;
    info.terminal_hash = offer.terminal;
    info.network_magic = m_chain.Params().magic;
    const int64_t now = m_env.UnixTime();
    const ChainReader reader = m_chain.Read();
    const ChainManagerOptions& trust = m_chain.Options();
    if (!JudgeHints(info, reader.Tree(), trust, m_options.full_validation, now).terminal) {
        return Fit::kUseless;
    }
    const bool best = !trust.assume_valid.IsNull() && offer.terminal == trust.assume_valid;
    return best || m_options.pin ? Fit::kBest : Fit::kUsable;
}

bool HintsFromPeers::IsPinned(const HintsOffer& offer)
{
    if (m_options.pin == offer.file_hash) return true;
    const KnownHints wanted{offer.height, offer.file_hash};
    return std::find(m_options.known.begin(), m_options.known.end(), wanted) !=
           m_options.known.end();
}

Path HintsFromPeers::PartPath() const
{
    return m_options.folder / (ToHex(m_offer.id.Span()) + std::string(kHintsPartExtension));
}

Result<std::vector<HintsPiece>> HintsFromPeers::TakeHead(const HintsOffer& offer, Bytes head)
{
    const size_t head_size = head.size();
    IBD_ASSIGN_OR_RETURN(m_head, Container2Hints::OpenHead("of a peer", std::move(head)));
    IBD_RETURN_IF_ERROR(CheckHead(offer, head_size));
    StartFile(offer);
    IBD_ASSIGN_OR_RETURN(auto pieces, OpenPart(offer));
    m_first_missing = 0;
    m_there.clear();
    for (const HintsPiece& piece : pieces) m_there.push_back(piece.have);
    m_log.Info("IBD Booster: fetching hints {} up to height {} from peers, {} bytes; {} of {} "
               "groups are stored",
               ToHex(offer.id.Span()), offer.height, offer.size,
               std::count(m_there.begin(), m_there.end(), true), pieces.size());
    const uint64_t prefix = EndOfPrefix();
    const Lock lock(m_mutex);
    m_state = State::kFetching;
    m_writing = m_part;
    m_prefix = prefix;
    for (const HintsPiece& piece : pieces) {
        m_total += piece.size;
        if (piece.have) m_bytes += piece.size;
    }
    return pieces;
}

Result<> HintsFromPeers::CheckHead(const HintsOffer& offer, size_t head_size) const
{
    const HintsInfo& info = m_head->Info();
    IBD_RETURN_IF_ERROR(CheckNetwork(info, m_chain.Params()));
    if (info.id != offer.id || info.terminal_height != offer.height ||
        info.terminal_hash != offer.terminal || m_head->BodyEnd() != offer.size ||
        m_head->HeadSize() != head_size) {
        return BadData("it differs from the offer");
    }
    for (const Container2Hints::Group& group : m_head->Groups()) {
        if (group.unspent <= group.blocks * kMaxOutputsOfBlock) continue;
        return BadData("more outputs are unspent than {} blocks can hold", group.blocks);
    }
    return {};
}

/** Opens the unfinished file, or begins it, and writes the head. Returns its groups. */
Result<std::vector<HintsPiece>> HintsFromPeers::OpenPart(const HintsOffer& offer)
{
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(m_options.folder));
    IBD_RETURN_IF_ERROR(RemoveOtherParts());
    const bool begun = m_env.Exists(PartPath());
    IBD_ASSIGN_OR_RETURN(m_part, m_env.OpenWrite(PartPath(), false));
    IBD_RETURN_IF_ERROR(m_part->Truncate(offer.size)); // extends or shortens it to that size
    IBD_ASSIGN_OR_RETURN(auto pieces, LookAtPart(begun));
    IBD_ASSIGN_OR_RETURN(const Bytes whole, m_head->Head());
    const size_t before = m_head->FirstGroupAt();
    IBD_RETURN_IF_ERROR(m_part->WriteAt(0, ByteSpan(whole).first(before)));
    IBD_RETURN_IF_ERROR(m_part->WriteAt(m_head->IndexAt(), ByteSpan(whole).subspan(before)));
    return pieces;
}

/** Resets the state that Wait() reads: it belongs to the previous file. */
void HintsFromPeers::StartFile(const HintsOffer& offer)
{
    const Lock lock(m_mutex);
    m_offer = offer;
    m_state = State::kAsking;
    m_writing = nullptr;
    ++m_file;
    m_bytes = m_total = m_prefix = 0;
}

void HintsFromPeers::Again()
{
    const Lock lock(m_mutex);
    m_was_false = false;
    if (m_state != State::kFailed) m_state = State::kAsking;
}

/** Removes unfinished files that peers no longer offer, so that there is only one at a time. */
Result<> HintsFromPeers::RemoveOtherParts() const
{
    IBD_ASSIGN_OR_RETURN(const auto names, m_env.List(m_options.folder));
    for (const std::string& name : names) {
        const Path path = m_options.folder / name;
        if (path.extension() != kHintsPartExtension || path == PartPath()) continue;
        const auto id = FromHex(path.stem().string());
        if (!id || id->size() != m_offer.id.Span().size()) continue; // a file of the user
        IBD_RETURN_IF_ERROR(m_env.Remove(path));
    }
    return {};
}

/** All groups; `have`: an earlier start fetched it, and its checksum is right. */
Result<std::vector<HintsPiece>> HintsFromPeers::LookAtPart(bool begun) const
{
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(PartPath()));
    std::vector<HintsPiece> out;
    Bytes bytes;
    for (const Container2Hints::Group& group : m_head->Groups()) {
        if (!begun) {
            out.push_back({group.length, group.checksum, false});
            continue;
        }
        bytes.resize(group.length);
        IBD_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(group.offset, bytes));
        const bool have =
            got == bytes.size() && SameChecksum(Sha256Of(bytes), group.checksum.data());
        out.push_back({group.length, group.checksum, have});
    }
    return out;
}

Result<> HintsFromPeers::TakeGroups(size_t first, ByteSpan bytes)
{
    const auto& groups = m_head->Groups();
    const uint64_t begin = groups.at(first).offset;
    IBD_RETURN_IF_ERROR(m_part->WriteAt(begin, bytes));
    for (size_t i = first; i < groups.size() && groups[i].offset < begin + bytes.size(); ++i) {
        m_there[i] = true;
    }
    const uint64_t prefix = EndOfPrefix();
    const Lock lock(m_mutex);
    m_bytes += bytes.size();
    m_prefix = prefix;
    m_changed.notify_all();
    return {};
}

/** The number of bytes present without a gap from the start; the file's size once all groups are
 *  present. */
uint64_t HintsFromPeers::EndOfPrefix()
{
    while (m_first_missing < m_there.size() && m_there[m_first_missing]) ++m_first_missing;
    if (m_first_missing == m_there.size()) return m_offer.size;
    return m_head->Groups()[m_first_missing].offset;
}

void HintsFromPeers::Complete(const HintsOffer&)
{
    const Lock lock(m_mutex);
    m_state = State::kComplete;
    m_changed.notify_all();
}

void HintsFromPeers::Failed(const std::string& why)
{
    const Lock lock(m_mutex);
    m_state = State::kFailed;
    m_failure = why;
    m_changed.notify_all();
}

void HintsFromPeers::Interrupt()
{
    const Lock lock(m_mutex);
    m_interrupted = true;
    m_changed.notify_all();
}

/** Finds out whether peers have further headers: hints are chosen when all headers have arrived,
 *  and the chain of all peers may end earlier than expected. The answers also allow the downloader
 *  to request blocks from these peers. */
void HintsFromPeers::LookAtHeaders(HeadersWatch& watch)
{
    const int64_t now = m_env.MonotonicMicros();
    if (!m_options.last_headers || now < m_looked_at + kHeadersLook) return;
    m_looked_at = now;
    const int32_t best = m_chain.Read().Tree().BestHeader()->height;
    const HeaderAnswers answers = m_options.last_headers();
    if (HasHeaders() || !watch.HaveEnded(best, answers, now)) return;
    m_log.Info("IBD Booster: the headers end at height {}: {}", best, Describe(answers));
    m_headers_ended = true;
}

// A pinned file is hashed while it arrives.
Found<Path> HintsFromPeers::Wait()
{
    m_log.Info("IBD Booster: asking peers for hints");
    m_wanted = true;
    std::optional<ProgressMeter> meter;
    std::optional<FileHash> hash;
    HeadersWatch watch(m_env.MonotonicMicros());
    bool hashed = true; //!< all present bytes are hashed
    uint64_t synced = 0;
    Look now;
    while (true) {
        {
            const Lock lock(m_mutex);
            if (m_interrupted) return std::optional<Path>();
            if (hashed && (m_state == now.state || m_state == State::kFetching)) {
                m_changed.wait_for(m_mutex, kLook);
            }
            if (m_file != now.file) {
                meter.reset();
                hash.reset();
                hashed = true;
                synced = 0;
            }
            now = {m_state, m_file, m_bytes, m_total, m_prefix, m_writing, PartPath()};
            if (now.state == State::kFailed) {
                m_log.Info("IBD Booster: no hints from peers: {}", m_failure);
                return std::optional<Path>();
            }
        }
        LookAtHeaders(watch);
        if (now.state == State::kAsking) continue;
        if (!meter) {
            meter.emplace(m_env, m_log,
                          ProgressOptions{.label = "IBD Booster: fetching hints",
                                          .unit = "bytes",
                                          .total = now.total,
                                          .to = m_options.progress});
        }
        meter->Update(now.bytes, m_options.detail ? m_options.detail() : "");
        if (!hash && m_options.pin) { // no other file will be fetched then
            IBD_ASSIGN_OR_RETURN(hash, FileHash::Open(m_env, now.path));
        }
        if (now.state == State::kComplete) return Finish(hash);
        if (hash) {
            IBD_ASSIGN_OR_RETURN(hashed, hash->Advance(now.prefix));
        }
        if (now.bytes >= synced + kSyncEvery) {
            IBD_RETURN_IF_ERROR(now.part->Sync());
            synced = now.bytes;
        }
    }
}

Found<Path> HintsFromPeers::Finish(std::optional<FileHash>& hash)
{
    IBD_RETURN_IF_ERROR(m_part->Sync());
    m_part.reset();
    {
        const Lock lock(m_mutex);
        m_writing.reset();
    }
    if (!hash && IsPinned(m_offer)) {
        IBD_ASSIGN_OR_RETURN(hash, FileHash::Open(m_env, PartPath()));
    }
    // The head and the groups' checksums prove that it is the file that several peers name. A
    // pinned file must also have the pinned hash.
    Uint256 found = m_offer.file_hash;
    if (hash) {
        IBD_ASSIGN_OR_RETURN(found, hash->Finish());
    }
    if (found != m_offer.file_hash) {
        m_log.Error("IBD Booster: no hints from peers: the file has another hash than its offer");
        m_was_false = true;
        IBD_RETURN_IF_ERROR(m_env.Remove(PartPath()));
        return std::optional<Path>();
    }
    const Path path = m_options.folder / fmt::format("{}{}-{}.hints", kFetchedHints, m_offer.height,
                                                     ToHex(m_offer.id.Span()));
    IBD_RETURN_IF_ERROR(m_env.Rename(PartPath(), path));
    IBD_RETURN_IF_ERROR(m_env.SyncDirectory(m_options.folder));
    m_log.Info("IBD Booster: the hints from peers are complete");
    return std::optional<Path>(path);
}

} // namespace ibd
