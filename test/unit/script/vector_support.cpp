// See vector_support.h.
#include "script/vector_support.h"
#include "sim/both_ways.h"

#include "script/script.h"
#include "util/hex.h"

#include <map>
#include <sstream>

#include "support/catch.h"

namespace ibd::test {

namespace {

constexpr FlagName kNames[] = {
    {"P2SH", kVerifyP2sh},
    {"STRICTENC", kVerifyStrictEnc},
    {"DERSIG", kVerifyDerSig},
    {"LOW_S", kVerifyLowS},
    {"NULLDUMMY", kVerifyNullDummy},
    {"SIGPUSHONLY", kVerifySigPushOnly},
    {"MINIMALDATA", kVerifyMinimalData},
    {"DISCOURAGE_UPGRADABLE_NOPS", kVerifyDiscourageUpgradableNops},
    {"CLEANSTACK", kVerifyCleanStack},
    {"CHECKLOCKTIMEVERIFY", kVerifyCltv},
    {"CHECKSEQUENCEVERIFY", kVerifyCsv},
    {"WITNESS", kVerifyWitness},
    {"DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM", kVerifyDiscourageUpgradableWitnessProgram},
    {"MINIMALIF", kVerifyMinimalIf},
    {"NULLFAIL", kVerifyNullFail},
    {"WITNESS_PUBKEYTYPE", kVerifyWitnessPubkeyType},
    {"CONST_SCRIPTCODE", kVerifyConstScriptCode},
    {"TAPROOT", kVerifyTaproot},
    {"DISCOURAGE_UPGRADABLE_TAPROOT_VERSION", kVerifyDiscourageUpgradableTaprootVersion},
    {"DISCOURAGE_OP_SUCCESS", kVerifyDiscourageOpSuccess},
    {"DISCOURAGE_UPGRADABLE_PUBKEYTYPE", kVerifyDiscourageUpgradablePubkeyType},
};
static_assert(std::size(kNames) == kFlagCount);

const std::map<std::string, uint8_t>& OpcodeWords()
{
    static const auto words = [] {
        std::map<std::string, uint8_t> all;
        for (int op = OP_RESERVED; op <= OP_CHECKSIGADD; ++op) {
            if (op < OP_NOP && op != OP_RESERVED) continue;
            const std::string name = OpcodeName(static_cast<uint8_t>(op));
            all[name] = static_cast<uint8_t>(op);
            all[name.substr(3)] = static_cast<uint8_t>(op);
        }
        return all;
    }();
    return words;
}

bool IsNumber(const std::string& word)
{
    const size_t sign = word[0] == '-' ? 1 : 0;
    return word.size() > sign && word.find_first_not_of("0123456789", sign) == std::string::npos;
}

} // namespace

std::span<const FlagName> FlagNames() { return kNames; }

std::optional<ScriptFlags> ParseFlags(const std::string& text)
{
    ScriptFlags flags = 0;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',');) {
        if (word == "NONE" || word.empty()) continue;
        const auto at = std::find_if(std::begin(kNames), std::end(kNames),
                                     [&](const FlagName& n) { return word == n.name; });
        if (at == std::end(kNames)) return std::nullopt;
        flags |= at->flag;
    }
    return flags;
}

ScriptFlags TrimFlags(ScriptFlags flags)
{
    if (!(flags & kVerifyP2sh)) flags &= ~kVerifyWitness;
    if (!(flags & kVerifyWitness)) flags &= ~(kVerifyCleanStack | kVerifyTaproot);
    return flags & kAllFlags;
}

ScriptFlags FillFlags(ScriptFlags flags)
{
    if (flags & (kVerifyCleanStack | kVerifyTaproot)) flags |= kVerifyWitness;
    if (flags & kVerifyWitness) flags |= kVerifyP2sh;
    return flags;
}

Bytes ParseScriptWords(const std::string& text)
{
    Bytes script;
    std::istringstream in(text);
    for (std::string word; in >> word;) {
        if (IsNumber(word)) {
            AppendPushInt(script, std::stoll(word));
        } else if (word.starts_with("0x")) {
            const auto raw = FromHex(word.substr(2));
            REQUIRE(raw);
            Append(script, *raw);
        } else if (word.size() >= 2 && word.front() == '\'' && word.back() == '\'') {
            AppendPush(script, Bytes(word.begin() + 1, word.end() - 1));
        } else {
            INFO(word);
            REQUIRE(OpcodeWords().contains(word));
            script.push_back(OpcodeWords().at(word));
        }
    }
    return script;
}

ScriptError VerifyAt(const TxView& tx, size_t index, const SpentOutput& spent,
                     std::span<const SpentOutput> all, ScriptFlags flags)
{
    const TxHashes hashes(tx, all);
    return sim::VerifyBothWays(tx, index, spent, hashes, flags).plain;
}

TransactionRef SpendOf(ByteSpan script, Amount value, ByteSpan script_sig,
                       std::vector<Bytes> witness)
{
    MutableTransaction credit;
    credit.version = 1;
    credit.inputs = {{OutPoint{}, {OP_0, OP_0}, 0xffffffff, {}}};
    credit.outputs = {{value, Bytes(script.begin(), script.end())}};
    MutableTransaction spend;
    spend.version = 1;
    spend.inputs = {{{credit.Id(), 0},
                     Bytes(script_sig.begin(), script_sig.end()),
                     0xffffffff,
                     std::move(witness)}};
    spend.outputs = {{value, {}}};
    return spend.Freeze();
}

} // namespace ibd::test
