// See txid_hasher.h.
#include "primitives/txid_hasher.h"

namespace ibd {

void TxidHasher::Add(TxView& tx)
{
    const TxidPreimage preimage = GetTxidPreimage(tx);
    m_txs.push_back(&tx);
    m_preimages.push_back({preimage.parts[0], preimage.parts[1], preimage.parts[2]});
}

void TxidHasher::Run()
{
    m_digests.resize(m_txs.size());
    Sha256dMany(m_preimages, m_digests.data());
    for (size_t i = 0; i < m_txs.size(); ++i) m_txs[i]->txid = Txid(m_digests[i]);
    m_txs.clear();
    m_preimages.clear();
}

} // namespace ibd
