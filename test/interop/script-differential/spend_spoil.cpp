// SpendMaker: changes to finished spends.
#include "script/script.h"
#include "spend_maker.h"

namespace ibd::differential {

void SpendMaker::FlipBit(Bytes& bytes)
{
    if (bytes.empty()) return;
    bytes[m_random.Below(bytes.size())] ^= static_cast<uint8_t>(1U << m_random.Below(8));
}

void SpendMaker::Spoil()
{
    for (size_t changes = 1 + m_random.Below(2); changes > 0; --changes) {
        const size_t kind = m_random.Below(10);
        if (kind < 3)
            SpoilInput();
        else if (kind < 7)
            SpoilWitness();
        else if (kind < 9)
            SpoilTransaction();
        else
            FlipBit(OutputScript());
    }
}

void SpendMaker::SpoilInput()
{
    Bytes& script = Input().script_sig;
    switch (m_random.Below(8)) {
    case 0: FlipBit(script); break;
    case 1: script.push_back(OP_NOP); break;
    case 2: script.insert(script.begin(), OP_1); break;
    case 3: script.push_back(m_random.Byte()); break;
    case 4:
        if (!script.empty()) script.resize(m_random.Below(script.size()));
        break;
    case 5: AppendPush(script, m_random.Bytes(m_random.Below(80))); break;
    case 6: script.insert(script.begin(), {OP_PUSHDATA1, 0}); break;
    default: script.clear(); break;
    }
}

void SpendMaker::SpoilWitness()
{
    std::vector<Bytes>& witness = Input().witness;
    if (witness.empty()) {
        if (m_random.Percent(30))
            witness = {m_random.Bytes(m_random.Below(70))};
        else
            SpoilInput();
        return;
    }
    const size_t at = m_random.Below(witness.size());
    const auto where = witness.begin() + static_cast<std::ptrdiff_t>(at);
    switch (m_random.Below(9)) {
    case 0:
    case 1:
    case 2: FlipBit(witness[at]); break;
    case 3: witness.erase(where); break;
    case 4: witness.insert(where, m_random.Bytes(m_random.Below(70))); break;
    case 5: witness.insert(where, Bytes(witness[at])); break;
    case 6: witness[at].clear(); break;
    case 7: witness[at].resize(m_random.Of<size_t>({1, 32, 33, 64, 65, 520, 521})); break;
    default: std::swap(witness[at], witness[m_random.Below(witness.size())]); break;
    }
}

void SpendMaker::SpoilTransaction()
{
    MutableTransaction& tx = m_case.tx;
    switch (m_random.Below(8)) {
    case 0: tx.version ^= 1; break;
    case 1: tx.lock_time ^= 1U << m_random.Below(32); break;
    case 2: Input().sequence ^= 1U << m_random.Below(32); break;
    case 3: m_case.spent[m_case.index].value ^= 1; break;
    case 4: FlipBit(m_random.Of(std::span(m_case.spent)).script_pubkey); break;
    case 5: m_random.Of(std::span(tx.inputs)).prevout.vout ^= 1; break;
    case 6: m_random.Of(std::span(tx.inputs)).sequence ^= 1; break;
    default:
        if (tx.outputs.empty())
            tx.outputs.push_back({1, {OP_1}});
        else
            m_random.Of(std::span(tx.outputs)).value ^= 1;
        break;
    }
}

} // namespace ibd::differential
