// HintsDownloader against peers with strategies: all pairs of two peers that offer noise up to a
// higher block than the honest file, against two honest peers. Time is simulated.
#include "crypto/sha256.h"
#include "net/peer/hints_downloader.h"

#include "support/catch.h"

using namespace ibd;

namespace {

constexpr int64_t kTick = 250'000; //!< microseconds between two looks
constexpr int64_t kMinute = 60'000'000;
constexpr uint32_t kPieceSize = 200'000;

/** All groups have the same bytes, so that hundreds of megabytes cost no memory. */
struct Noise {
    Noise(uint32_t height, size_t count) : pieces(count), group(kPieceSize, uint8_t(height))
    {
        const Hash32 digest = Sha256Of(group);
        for (HintsPiece& piece : pieces) {
            piece.size = kPieceSize;
            std::copy_n(digest.begin(), piece.checksum.size(), piece.checksum.begin());
        }
        offer.id = Uint256(digest);
        offer.terminal = Uint256(digest);
        offer.height = height;
        offer.size = count * kPieceSize + 100;
    }
    HintsOffer offer;
    std::vector<HintsPiece> pieces;
    Bytes group;
};

class Goal final : public HintsGoal {
public:
    explicit Goal(std::vector<const Noise*> files) : m_files(std::move(files)) {}

    bool HasHeaders() override { return true; }
    Fit Judge(const HintsOffer&) override { return Fit::kUsable; }
    bool IsPinned(const HintsOffer&) override { return false; }
    Result<std::vector<HintsPiece>> TakeHead(const HintsOffer& offer, Bytes) override
    {
        taken.clear();
        return Find(offer.id)->pieces;
    }
    Result<> TakeGroups(size_t first, ByteSpan bytes) override
    {
        for (size_t i = first; i < first + bytes.size() / kPieceSize; ++i) {
            CHECK(taken.insert(i).second); // no group comes twice
        }
        return {};
    }
    void Complete(const HintsOffer& offer) override
    {
        CHECK(taken.size() == Find(offer.id)->pieces.size());
        complete = offer;
    }
    void Failed(const std::string& why) override { failure = why; }
    const Noise* Find(const Uint256& id) const
    {
        for (const Noise* file : m_files) {
            if (file->offer.id == id) return file;
        }
        return nullptr;
    }

    std::set<size_t> taken;
    std::optional<HintsOffer> complete;
    std::string failure;

private:
    const std::vector<const Noise*> m_files;
};

/** The time that a peer takes for a request; nothing: it never answers. */
struct Strategy {
    std::optional<int64_t> head;
    std::optional<int64_t> groups;
    int64_t stalls_at = INT64_MAX; //!< from then on it is silent
    bool offers_both = false;      //!< the honest file too, which it brings as slowly
};

struct Answer {
    int64_t at;
    PeerId peer;
    HintsPart part;
};

/** When the honest file was there, or nothing: how it failed is in the goal. */
std::optional<int64_t> TimeUntilHonest(const Strategy& strategy, size_t liars)
{
    const Noise honest(1000, 300);
    const Noise noise(1001, 2'600); // 520 MB
    Goal goal({&honest, &noise});
    HintsDownloader downloader(goal);
    const auto is_liar = [&](PeerId peer) { return size_t(peer) < liars; };
    for (PeerId peer = 0; size_t(peer) < liars + 2; ++peer) {
        std::vector<HintsOffer> offers;
        if (is_liar(peer)) offers.push_back(noise.offer);
        if (!is_liar(peer) || strategy.offers_both) offers.push_back(honest.offer);
        downloader.Offered(peer, Bytes(1, uint8_t(peer)), offers);
    }
    std::vector<Answer> answers;
    for (int64_t now = kTick; now < 150 * kMinute; now += kTick) {
        for (auto& answer : std::exchange(answers, {})) {
            if (answer.at > now) {
                answers.push_back(answer);
                continue;
            }
            const Noise& file = *goal.Find(answer.part.id);
            Bytes data(answer.part.IsHead() ? 100 : 0);
            for (uint32_t i = 0; i < answer.part.count; ++i) Append(data, file.group);
            CHECK_FALSE(downloader.Received(answer.peer, {answer.part, data}, now));
        }
        for (const auto& request : downloader.Work(now)) {
            const HintsPart& part = request.message.part;
            std::optional<int64_t> takes = kTick;
            if (is_liar(request.peer)) takes = part.IsHead() ? strategy.head : strategy.groups;
            if (is_liar(request.peer) && now > strategy.stalls_at) takes.reset();
            if (takes) answers.push_back({now + *takes, request.peer, part});
        }
        if (goal.complete == noise.offer) {
            goal.complete.reset();
            for (PeerId peer = 0; size_t(peer) < liars; ++peer) downloader.Disconnected(peer);
            downloader.Next("the hints are wrong", now);
        }
        if (goal.complete || !goal.failure.empty()) {
            return goal.complete == honest.offer ? std::optional(now) : std::nullopt;
        }
    }
    return std::nullopt;
}

} // namespace

TEST_CASE("Hints: whatever two peers do with a higher offer, the honest file comes")
{
    constexpr int64_t kAlmost = kHintsRequestTime - 5'000'000;
    const std::optional<int64_t> heads[] = {kTick, kAlmost, std::nullopt};
    const std::optional<int64_t> groups[] = {kTick, 5'000'000, kAlmost, std::nullopt};
    for (const auto& head : heads) {
        for (const auto& group : groups) {
            for (const int64_t stalls_at : {INT64_MAX, 2 * kMinute}) {
                for (const bool both : {false, true}) {
                    CAPTURE(head, group, stalls_at, both);
                    const auto time = TimeUntilHonest({head, group, stalls_at, both}, 2);
                    REQUIRE(time);
                    // The offers, then the noise as long as its rate holds, then the file.
                    const auto longest = int64_t(520'000'000 / kLeastHintsRate) * 1'000'000;
                    CHECK(*time <= kHintsOfferTime + kHintsGraceTime + longest + 2 * kMinute);
                    if (group == kAlmost || !group) CHECK(*time <= 4 * kMinute);
                }
            }
        }
    }
}
