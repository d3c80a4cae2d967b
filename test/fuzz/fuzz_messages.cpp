// Payloads of every message from any bytes: the first byte says which. What a decoder takes, its
// encoder writes so that the decoder takes it again and both encodings are the same bytes.
#include "net/wire/hints_messages.h"
#include "net/wire/messages.h"
#include "util/check.h"

#include <array>

using namespace ibd;

namespace {

template <typename List>
void CheckBound(const List& list)
{
    CHECK(list.items.size() <= List::kMax);
    CHECK(list.dropped == 0 || list.items.size() == List::kMax || list.items.empty());
}

template <typename Message>
void Check(ByteSpan payload)
{
    const auto message = Decode<Message>(payload);
    if (!message) {
        CHECK(!message.Message().empty());
        return;
    }
    if constexpr (requires { message->list; }) CheckBound(message->list);
    if constexpr (requires { message->locator; }) CheckBound(message->locator);
    const Bytes bytes = Encode(*message);
    const auto again = Decode<Message>(bytes);
    CHECK(again.Ok());
    CHECK(Encode(*again) == bytes);
}

constexpr std::array kChecks = {
    Check<VersionMessage>,      Check<FeatureMessage>,      Check<SendCompactMessage>,
    Check<FeeFilterMessage>,    Check<PingMessage>,         Check<SendTxReconciliationMessage>,
    Check<AddrMessage>,         Check<AddrV2Message>,       Check<InvMessage>,
    Check<GetHeadersMessage>,   Check<HeadersMessage>,      Check<TxMessage>,
    Check<CompactBlockMessage>, Check<GetBlockTxnMessage>,  Check<BlockTxnMessage>,
    Check<FilterLoadMessage>,   Check<FilterAddMessage>,    Check<MerkleBlockMessage>,
    Check<GetCFiltersMessage>,  Check<GetCFCheckptMessage>, Check<CFilterMessage>,
    Check<CFHeadersMessage>,    Check<CFCheckptMessage>,    Check<HintsMessage>,
    Check<GetHintsMessage>,     Check<HintsDataMessage>,
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    kChecks[data[0] % kChecks.size()]({data + 1, size - 1});
    return 0;
}
