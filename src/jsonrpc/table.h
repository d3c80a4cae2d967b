// RpcTable: all methods, the warm-up state of the server, and the execution of one call. Methods
// are added before the server starts; then any thread may call it.
#pragma once

#include "jsonrpc/method.h"
#include "util/env.h"
#include "util/log.h"
#include "util/mutex.h"
#include "util/overall_progress.h"

#include <list>
#include <map>

namespace ibd {

class RpcTable {
public:
    explicit RpcTable(Env& env) : m_env(env) {}

    void Add(RpcMethod method);
    /** Marks calls that need neither coins nor a tip and do not change the chain: they are answered
     *  as soon as the index is open. */
    void AnswerEarly(std::initializer_list<const char*> names);
    const RpcMethod* Find(const std::string& name) const;
    /** Names of all calls, including hidden ones. */
    std::vector<std::string> Names() const;

    /** During start-up, calls of later phases are answered with -28 and this text. */
    void SetWarmup(const std::string& status);
    /** Answers calls about headers and peers from now on. */
    void OpenNetworkCalls();
    void EndWarmup();
    /** Call it before the server starts. Error -28 then includes the progress. */
    void ShowProgress(const OverallProgress& overall) { m_overall = &overall; }
    std::optional<std::string> WarmupStatus() const;

    /** Executes `method` with an array or object of arguments. Throws RpcError. */
    UniValue Execute(const std::string& method, const UniValue& params);

    /** The list of calls by category, or the help of one ("help: unknown command: x"). */
    std::string Help(const std::string& command) const;

    /** All arguments of all calls, including hidden ones, by RpcMethod::AppendConversions. */
    UniValue Conversions() const;
    /** The lines of bitcoin-cli's table: {"call", "words"}, for each call with converted words. */
    std::string CliTable() const;

    /** A running call. */
    struct Active {
        std::string method;
        int64_t start_micros;
    };
    std::vector<Active> ActiveCalls() const;

private:
    Env& m_env;
    std::map<std::string, RpcMethod> m_methods;
    const OverallProgress* m_overall = nullptr;
    mutable Mutex m_mutex;
    /** The reason why a method cannot be called yet; nothing: it can be called. */
    std::optional<std::string> WhyNotYet(const RpcMethod* method) const;

    std::optional<std::string> m_warmup IBD_GUARDED_BY(m_mutex) = "RPC server started";
    RpcPhase m_phase IBD_GUARDED_BY(m_mutex) = RpcPhase::kStart;
    std::list<Active> m_active IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
