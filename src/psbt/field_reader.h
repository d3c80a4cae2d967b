// Reads the parts of a PSBT and keeps the first error, in Core's words; later reads return zeros.
// Never reads past its span, and allocates only for bytes that exist, not for counts. One thread.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** The key of a field: its type, then data that depends on the type. */
struct PsbtKey {
    Bytes bytes;
    uint64_t type = 0;
    size_t data_at = 0; //!< after the type

    ByteSpan Data() const { return ByteSpan(bytes).subspan(data_at); }
};

class PsbtReader {
public:
    explicit PsbtReader(ByteSpan data) : m_in(data) {}

    bool Ok() const { return m_error.empty(); }
    const std::string& Error() const { return m_error; }
    size_t Remaining() const { return m_in.Remaining(); }
    void Fail(std::string why);

    uint8_t U8() { return Checked(m_in.U8()); }
    uint32_t U32() { return Checked(m_in.U32()); }
    int64_t I64() { return Checked(m_in.I64()); }
    ByteSpan Span(size_t size) { return Checked(m_in.Span(size)); }
    template <size_t N>
    std::array<uint8_t, N> Array()
    {
        std::array<uint8_t, N> out{};
        const ByteSpan bytes = Span(N);
        std::copy(bytes.begin(), bytes.end(), out.begin());
        return out;
    }
    uint64_t CompactSize();
    Bytes VarBytes();
    /** Reads a transaction; null: malformed. */
    TransactionRef Tx(bool allow_witness);

    /** Reads a value with its size, all of which `read` must consume. */
    template <typename Read>
    void Value(const Read& read)
    {
        const uint64_t size = CompactSize();
        const size_t before = Remaining();
        read();
        if (before - Remaining() != size) Fail("Size of value was not the stated size");
    }

    /** Checks the size of the key; `name`: the type's, in Core's words. */
    bool KeyHasSize(const PsbtKey& key, size_t size, std::string_view name);
    /** Checks that the key is only the type byte. */
    bool IsPlain(const PsbtKey& key, std::string_view name) { return KeyHasSize(key, 1, name); }
    /** Reads a compressed key on the curve; `what`: its description for errors. */
    CompressedKey PublicKey(std::string_view what);

private:
    template <typename T>
    T Checked(T value)
    {
        if (!m_in.Ok()) FailAtEnd();
        return value;
    }
    void FailAtEnd();

    Reader m_in;
    std::string m_error;
};

/** Reads a map up to its separator and calls `field(key)` for each key; the value follows. `kind`:
 *  as in "input key", `owner`: as in "an input map". */
template <typename Field>
void ReadPsbtMap(PsbtReader& in, std::string_view kind, std::string_view owner, const Field& field);

// Fields that occur in several maps. `context`: "Input" or "Output".

/** Reads a field of type 0xfc. */
void ReadProprietary(PsbtReader& in, const PsbtKey& key, PsbtProprietaries& out);
void ReadKeyOrigin(PsbtReader& in, const PsbtKey& key, PsbtKeyOrigins& out);
/** Reads fingerprint and path, `length` bytes together. */
KeyOrigin ReadOrigin(PsbtReader& in, uint64_t length);
void ReadTapOrigin(PsbtReader& in, const PsbtKey& key, std::string_view context,
                   PsbtTapOrigins& out);
void ReadMusigParticipants(PsbtReader& in, const PsbtKey& key, std::string_view context,
                           MusigParticipants& out);
/** Reads 32 bytes; nothing if they are all zero. */
std::optional<Hash32> ReadHash(PsbtReader& in);

// The maps, in their order.

// Read up to and including the separator. `version`: of the PSBT, as the fields depend on it.
void ReadPsbtInput(PsbtReader& in, uint32_t version, PsbtInput& out);
void ReadPsbtOutput(PsbtReader& in, uint32_t version, PsbtOutput& out);

/** The next key of a map, which must not be in `seen`; false: the separator. */
bool TakePsbtKey(PsbtReader& in, std::string_view kind, std::set<Bytes>& seen, PsbtKey& key);

template <typename Field>
void ReadPsbtMap(PsbtReader& in, std::string_view kind, std::string_view owner, const Field& field)
{
    std::set<Bytes> seen;
    while (in.Ok() && in.Remaining() > 0) {
        PsbtKey key;
        if (!TakePsbtKey(in, kind, seen, key)) return;
        if (in.Ok()) field(key);
    }
    in.Fail(fmt::format("Separator is missing at the end of {}", owner));
}

} // namespace ibd
