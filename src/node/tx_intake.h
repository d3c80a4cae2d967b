// TxIntake: checks transactions that peers offer, on a thread of its own (`txpool`), the only
// thread that runs scripts of transactions from peers. Owned by the node; any thread may offer
// transactions, and take verdicts in the order of the checks. Peers have equal shares of the thread
// (OfferQueue). Memory: kMaxBytes of offers that wait or are being checked, or one larger one; and
// a verdict for each of them until it is taken. A peer has at most one offer here (PeerPool).
#pragma once

#include "mempool/tx_submission.h"
#include "net/peer/offer_queue.h"
#include "util/env.h"
#include "util/threads.h"

namespace ibd {

class TxIntake {
public:
    static constexpr size_t kMaxBytes = 16 << 20;
    /** The part of these bytes that is reserved for offers of at most kShortOffer bytes, so that
     *  long ones cannot exclude them. */
    static constexpr size_t kReserved = 1 << 20;
    static constexpr size_t kShortOffer = 8'000;
    /** While the next offer has at most kSmallOffer bytes (a few milliseconds), up to this number
     *  of verdicts wait to be reported together. */
    static constexpr size_t kMostUnreported = 16;
    static constexpr size_t kSmallOffer = 2'000;

    /** All arguments outlive it. */
    TxIntake(const TxSubmission& door, TxPool& pool, Env& env,
             std::chrono::milliseconds most_pause = PeerPool::kMostPause)
        : m_door(door), m_pool(pool), m_env(env), m_most_pause(most_pause)
    {
    }
    ~TxIntake() { Stop(); }
    TxIntake(const TxIntake&) = delete;
    TxIntake& operator=(const TxIntake&) = delete;

    /** Starts checking; the chain must be loaded. `news` is called on the thread after verdicts;
     *  `fatal` receives failures of the disk. */
    void Start(std::function<void()> news, std::function<void(const Error&)> fatal);
    /** Drops the waiting offers and ends the thread. */
    void Stop();

    bool HasRoom(size_t bytes) const;
    /** There must be room. */
    void Put(TxOffer offer);
    /** No further check starts until Resume(), or for PeerPool::kMostPause. */
    void Pause();
    void Resume();
    std::vector<TxAnswer> TakeAnswers();

private:
    /** The longest time after a check for other threads to take the pool's mutex. */
    static constexpr std::chrono::microseconds kMostWay{200};

    void Work();
    void GiveWay() const;
    bool Answered(TxAnswer answer, OfferQueue::Time took);
    void WaitForOffer() IBD_REQUIRES(m_mutex);
    std::optional<TxOffer> Next();
    TxAnswer Check(TxOffer offer);
    void CheckSingle(TxAnswer& answer);
    void Test(TxAnswer& answer);
    void CheckPackage(TxAnswer& answer);
    TxAnswer::Verdict Taken(std::vector<TransactionRef> replaced) const;

    const TxSubmission& m_door;
    TxPool& m_pool;
    Env& m_env;
    const std::chrono::milliseconds m_most_pause;
    std::function<void()> m_news;
    std::function<void(const Error&)> m_fatal;

    mutable Mutex m_mutex;
    std::condition_variable_any m_changed;
    OfferQueue m_queue IBD_GUARDED_BY(m_mutex);
    std::vector<TxAnswer> m_answers IBD_GUARDED_BY(m_mutex);
    std::optional<std::chrono::steady_clock::time_point> m_pause_end IBD_GUARDED_BY(m_mutex);
    bool m_stopping IBD_GUARDED_BY(m_mutex) = false;
    NamedThread m_thread;
};

} // namespace ibd
