// See tx_intake.h.
#include "node/tx_intake.h"

#include "util/thread_time.h"

namespace ibd {

void TxIntake::Start(std::function<void()> news, std::function<void(const Error&)> fatal)
{
    m_news = std::move(news);
    m_fatal = std::move(fatal);
    m_thread = NamedThread("txpool", [this] { Work(); });
}

void TxIntake::Stop()
{
    {
        const Lock lock(m_mutex);
        m_stopping = true;
        m_queue.Clear();
        m_changed.notify_all();
    }
    m_thread.Join();
}

bool TxIntake::HasRoom(size_t bytes) const
{
    const Lock lock(m_mutex);
    const size_t most = bytes <= kShortOffer ? kMaxBytes : kMaxBytes - kReserved;
    return m_queue.Bytes() == 0 || m_queue.Bytes() + bytes <= most;
}

void TxIntake::Put(TxOffer offer)
{
    {
        const Lock lock(m_mutex);
        m_queue.Put(std::move(offer));
    }
    m_changed.notify_one(); // notified without the lock, for which the woken thread would
                            // immediately wait
}

void TxIntake::Pause()
{
    const Lock lock(m_mutex);
    m_pause_end = std::chrono::steady_clock::now() + m_most_pause;
}

void TxIntake::Resume()
{
    const Lock lock(m_mutex);
    m_pause_end.reset();
    m_changed.notify_one();
}

std::vector<TxAnswer> TxIntake::TakeAnswers()
{
    const Lock lock(m_mutex);
    return std::exchange(m_answers, {});
}

/** Waits for an offer and for the end of a pause. */
void TxIntake::WaitForOffer()
{
    while (!m_stopping && (m_queue.IsEmpty() || m_pause_end)) {
        if (!m_pause_end) {
            m_changed.wait(m_mutex);
            continue;
        }
        const auto end = *m_pause_end; // it may change during the wait
        const bool over = m_changed.wait_until(m_mutex, end) == std::cv_status::timeout;
        if (over && m_pause_end == end) m_pause_end.reset();
    }
}

/** Nothing: the end. */
std::optional<TxOffer> TxIntake::Next()
{
    const Lock lock(m_mutex);
    WaitForOffer();
    if (m_stopping) return std::nullopt;
    return m_queue.Take();
}

void TxIntake::Work()
{
    while (std::optional<TxOffer> offer = Next()) {
        // CPU time: a peer must not be charged for waiting on a lock.
        const OfferQueue::Time begin = ThreadCpuTime();
        TxAnswer answer = Check(std::move(*offer));
        if (Answered(std::move(answer), ThreadCpuTime() - begin)) m_news();
        GiveWay();
    }
}

/** A thread that has slept for a mutex loses against one that takes it again at once. */
void TxIntake::GiveWay() const
{
    if (!m_pool.mutex.IsWanted()) return;
    const auto end = std::chrono::steady_clock::now() + kMostWay;
    while (m_pool.mutex.IsWanted() && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
}

/** Whether the peers' thread must be woken now. That costs as much as a small check, so while small
 *  ones follow, several verdicts are reported together. */
bool TxIntake::Answered(TxAnswer answer, OfferQueue::Time took)
{
    const Lock lock(m_mutex);
    m_queue.Done(took);
    m_answers.push_back(std::move(answer));
    return m_queue.IsEmpty() || m_answers.size() >= kMostUnreported ||
           m_queue.Next().Bytes() > kSmallOffer;
}

TxAnswer TxIntake::Check(TxOffer offer)
{
    TxAnswer answer;
    answer.offer = std::move(offer);
    answer.txs.resize(answer.offer.txs.size());
    if (answer.offer.is_test) {
        Test(answer);
    } else if (answer.txs.size() == 1) {
        CheckSingle(answer);
    } else {
        CheckPackage(answer);
    }
    return answer;
}

TxAnswer::Verdict TxIntake::Taken(std::vector<TransactionRef> replaced) const
{
    const Lock lock(m_pool.mutex);
    return {.violation = {},
            .replaced = std::move(replaced),
            .pool_size = m_pool.Size(),
            .pool_bytes = m_pool.MemoryUsage()};
}

void TxIntake::Test(TxAnswer& answer)
{
    auto out = m_door.Test(answer.offer.txs[0], m_env.UnixTime());
    if (!out) return m_fatal(out.GetError());
    answer.txs[0] = TxAnswer::Verdict{.violation = std::move(out->violation)};
}

void TxIntake::CheckSingle(TxAnswer& answer)
{
    const int64_t now = m_env.UnixTime();
    auto out = m_door.Submit(answer.offer.txs[0], {.arrival = {.now = now, .time = now}});
    if (!out) return m_fatal(out.GetError());
    TxVerdict& verdict = out->verdict;
    if (verdict.violation) {
        answer.txs[0] = TxAnswer::Verdict{.violation = std::move(verdict.violation)};
    } else {
        answer.txs[0] = Taken(std::move(verdict.replaced));
    }
}

void TxIntake::CheckPackage(TxAnswer& answer)
{
    using Kind = PackageTx::Kind;
    const int64_t now = m_env.UnixTime();
    auto out = m_door.SubmitPackage(answer.offer.txs, {.now = now, .time = now});
    if (!out) return m_fatal(out.GetError());
    answer.violation = std::move(out->violation);
    std::vector<TransactionRef> replaced;
    for (auto& [id, tx] : out->replaced) replaced.push_back(std::move(tx));
    for (size_t i = 0; i < answer.txs.size(); ++i) {
        const auto found = out->txs.find(answer.offer.txs[i]->WitnessId());
        if (found == out->txs.end()) continue;
        PackageTx& tx = found->second;
        if (tx.kind == Kind::kAccepted) {
            // The first accepted transaction reports all that the package replaced.
            answer.txs[i] = Taken(std::exchange(replaced, {}));
        } else if (tx.kind == Kind::kRefused) {
            answer.txs[i] = TxAnswer::Verdict{.violation = std::move(tx.violation)};
        } else if (tx.kind == Kind::kOtherWitness) {
            answer.txs[i] =
                TxAnswer::Verdict{.violation = Violation(RuleViolation::Kind::kConflict,
                                                         "txn-same-nonwitness-data-in-mempool")};
        }
    }
}

} // namespace ibd
