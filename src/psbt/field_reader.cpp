// See field_reader.h.
#include "psbt/field_reader.h"

#include "primitives/tx_parser.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr char kEndOfData[] = "SpanReader::read(): end of data";

/** A fault of a Reader in Core's words for PSBTs, which it reads with another class than messages.
 */
const char* WordsFor(const char* fault)
{
    return std::string_view(fault) == Reader::kEndOfData ? kEndOfData : fault;
}

} // namespace

void PsbtReader::Fail(std::string why)
{
    if (m_error.empty()) m_error = std::move(why);
    m_in.Fail();
}

void PsbtReader::FailAtEnd() { Fail(kEndOfData); }

uint64_t PsbtReader::CompactSize()
{
    const uint64_t out = m_in.CompactSize();
    if (!m_in.Ok()) Fail(WordsFor(m_in.Fault()));
    return out;
}

Bytes PsbtReader::VarBytes()
{
    const ByteSpan bytes = Span(CompactSize());
    return {bytes.begin(), bytes.end()};
}

TransactionRef PsbtReader::Tx(bool allow_witness)
{
    if (!Ok()) return nullptr;
    std::vector<InputView> inputs;
    std::vector<OutputView> outputs;
    TxView view;
    const size_t start = m_in.Position();
    if (const char* why = ParseTx(m_in, allow_witness, inputs, outputs, view)) {
        Fail(WordsFor(why));
        return nullptr;
    }
    auto tx = Transaction::Parse(m_in.Since(start), allow_witness);
    if (!tx) Fail(tx.Message());
    return tx ? *tx : nullptr;
}

bool PsbtReader::KeyHasSize(const PsbtKey& key, size_t size, std::string_view name)
{
    if (key.bytes.size() == size) return true;
    Fail(fmt::format("Size of key was not {} for the type {}", size, name));
    return false;
}

CompressedKey PsbtReader::PublicKey(std::string_view what)
{
    const auto key = Array<std::tuple_size_v<CompressedKey>>();
    if (Ok() && !IsValidPublicKey(key)) Fail(fmt::format("{} is invalid", what));
    return key;
}

bool TakePsbtKey(PsbtReader& in, std::string_view kind, std::set<Bytes>& seen, PsbtKey& key)
{
    key.bytes = in.VarBytes();
    if (!in.Ok() || key.bytes.empty()) return false;
    if (!seen.insert(key.bytes).second) {
        in.Fail(
            fmt::format("Duplicate Key, {} key \"{}\" already provided", kind, ToHex(key.bytes)));
    }
    PsbtReader type(key.bytes);
    key.type = type.CompactSize();
    key.data_at = key.bytes.size() - type.Remaining();
    if (!type.Ok()) in.Fail(type.Error());
    return true;
}

void ReadProprietary(PsbtReader& in, const PsbtKey& key, PsbtProprietaries& out)
{
    PsbtReader data(key.Data());
    PsbtProprietary made;
    made.identifier = data.VarBytes();
    made.subtype = data.CompactSize();
    if (!data.Ok()) in.Fail(data.Error());
    made.value = in.VarBytes();
    out.emplace(key.bytes, std::move(made));
}

KeyOrigin ReadOrigin(PsbtReader& in, uint64_t length)
{
    if (length == 0 || length % sizeof(uint32_t) != 0) in.Fail("Invalid length for HD key path");
    KeyOrigin out;
    out.fingerprint = in.Array<std::tuple_size_v<KeyFingerprint>>();
    for (uint64_t at = sizeof(uint32_t); at < length && in.Ok(); at += sizeof(uint32_t)) {
        out.path.push_back(in.U32());
    }
    return out;
}

void ReadKeyOrigin(PsbtReader& in, const PsbtKey& key, PsbtKeyOrigins& out)
{
    const size_t size = key.bytes.size() - 1;
    if (size != std::tuple_size_v<CompressedKey> && size != std::tuple_size_v<UncompressedKey>) {
        return in.Fail("Size of key was not the expected size for the type BIP32 keypath");
    }
    const ByteSpan public_key = key.Data();
    if (!IsValidPublicKey(public_key)) return in.Fail("Invalid pubkey");
    out.emplace(Bytes(public_key.begin(), public_key.end()), ReadOrigin(in, in.CompactSize()));
}

void ReadTapOrigin(PsbtReader& in, const PsbtKey& key, std::string_view context,
                   PsbtTapOrigins& out)
{
    if (!in.KeyHasSize(key, 33, fmt::format("{} Taproot BIP32 Keypath", context))) return;
    const XOnlyKey public_key = PsbtReader(key.Data()).Array<32>();
    const uint64_t size = in.CompactSize();
    const size_t before = in.Remaining();
    std::set<Hash32> leaves;
    for (uint64_t left = in.CompactSize(); left > 0 && in.Ok(); --left) {
        leaves.insert(in.Array<32>());
    }
    const size_t taken = before - in.Remaining();
    if (taken > size) {
        in.Fail(fmt::format("{} Taproot BIP32 keypath has an invalid length", context));
    }
    KeyOrigin origin = ReadOrigin(in, size - taken);
    out.emplace(public_key, TapKeyOrigin{std::move(leaves), std::move(origin)});
}

void ReadMusigParticipants(PsbtReader& in, const PsbtKey& key, std::string_view context,
                           MusigParticipants& out)
{
    if (!in.KeyHasSize(key, 34, fmt::format("{} MuSig2 Participants Pubkeys", context))) return;
    PsbtReader data(key.Data());
    const CompressedKey aggregate =
        data.PublicKey(fmt::format("{} musig2 aggregate pubkey", context));
    if (!data.Ok()) return in.Fail(data.Error());
    const Bytes value = in.VarBytes();
    PsbtReader keys(value);
    std::vector<CompressedKey> participants;
    while (keys.Ok() && keys.Remaining() >= std::tuple_size_v<CompressedKey>) {
        participants.push_back(
            keys.PublicKey(fmt::format("{} musig2 participant pubkey", context)));
    }
    if (keys.Ok() && keys.Remaining() > 0) {
        keys.Fail(fmt::format("{} musig2 participants pubkeys value size is not a multiple of 33",
                              context));
    }
    if (!keys.Ok()) in.Fail(keys.Error());
    out.emplace(aggregate, std::move(participants));
}

std::optional<Hash32> ReadHash(PsbtReader& in)
{
    std::optional<Hash32> hash;
    in.Value([&] { hash = in.Array<32>(); });
    return *hash == Hash32{} ? std::nullopt : hash;
}

} // namespace ibd
