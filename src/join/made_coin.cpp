// See made_coin.h.
#include "join/made_coin.h"

#include "script/opcodes.h"
#include "script/script.h"

#include <array>

namespace ibd {

namespace {

constexpr size_t kKeyHashBytes = 20, kScriptHashBytes = 32;

} // namespace

/** Tests sizes first, which rule out most scripts. */
SpendKind SpendKindOf(ByteSpan script)
{
    switch (script.size()) {
    case 2 + kKeyHashBytes:
        return script[0] == OP_0 && script[1] == kKeyHashBytes ? SpendKind::kWitnessKeyHash
                                                               : SpendKind::kPlain;
    case 2 + kScriptHashBytes:
        return script[0] == OP_0 && script[1] == kScriptHashBytes ? SpendKind::kWitnessScriptHash
                                                                  : SpendKind::kPlain;
    case 3 + kKeyHashBytes:
        return IsPayToScriptHash(script) ? SpendKind::kScriptHash : SpendKind::kPlain;
    default: return SpendKind::kPlain;
    }
}

ByteSpan StandInScript(SpendKind kind)
{
    static constexpr std::array<uint8_t, 23> kP2sh = [] {
        std::array<uint8_t, 23> script{OP_HASH160, kKeyHashBytes};
        script.back() = OP_EQUAL;
        return script;
    }();
    static constexpr std::array<uint8_t, 2 + kKeyHashBytes> kP2wpkh{OP_0, kKeyHashBytes};
    static constexpr std::array<uint8_t, 2 + kScriptHashBytes> kP2wsh{OP_0, kScriptHashBytes};
    switch (kind) {
    case SpendKind::kPlain: break;
    case SpendKind::kScriptHash: return kP2sh;
    case SpendKind::kWitnessKeyHash: return kP2wpkh;
    case SpendKind::kWitnessScriptHash: return kP2wsh;
    }
    return {};
}

} // namespace ibd
