// Makes random spends of every kind of output: signed as their scripts want it, then, often,
// spoiled. Everything follows from the seed.
#pragma once

#include "script_writer.h"
#include "spend_case.h"

namespace ibd::differential {

class SpendMaker {
public:
    explicit SpendMaker(uint64_t seed) : m_random(seed) {}

    SpendCase Next();

private:
    /** A message that a script required to be signed. */
    struct Request {
        Bytes placeholder;
        Bytes key;
        Bytes code;
        SigVersion version;
        TaprootContext context;
    };
    class Recorder;

    void MakeTransaction();
    ScriptFlags RandomFlags();
    void MakeSpend();
    void MakeScriptSpend(SigVersion version);
    void MakeKeyHashSpend(SigVersion version);
    void MakeTaprootKeySpend();
    void MakeTapscriptSpend();
    void MakeUnknownProgram();
    WrittenScript WriteScript(SigVersion version);

    void Sign(WrittenScript& written, SigVersion version, TapscriptState* state);
    Bytes SignatureFor(const Request& request, const TxView& tx, const TxHashes& hashes);
    Bytes EcdsaFor(const Request& request, const TxView& tx, const TxHashes& hashes);
    Bytes SchnorrFor(const Hash32& secret, const TaprootContext& context, const TxView& tx,
                     const TxHashes& hashes);
    std::vector<SpentOutput> SpentOutputs() const;
    void Place(const WrittenScript& written, SigVersion version);
    void PlaceWitness(const std::vector<Bytes>& items, ByteSpan program_script, bool in_p2sh);
    void MaybeAnnex(TaprootContext& context, Bytes& annex);

    void Spoil();
    void SpoilInput();
    void SpoilWitness();
    void SpoilTransaction();
    void FlipBit(Bytes& bytes);

    MutableInput& Input() { return m_case.tx.inputs[m_case.index]; }
    Bytes& OutputScript() { return m_case.spent[m_case.index].script_pubkey; }

    Random m_random;
    Keys m_keys;
    SpendCase m_case;
};

} // namespace ibd::differential
