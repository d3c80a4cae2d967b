// See table.h.
#include "jsonrpc/table.h"
#include "util/check.h"

#include <algorithm>

namespace ibd {

void RpcTable::Add(RpcMethod method)
{
    CHECK(method.handler != nullptr);
    const std::string name = method.name;
    const bool is_new = m_methods.emplace(name, std::move(method)).second;
    CHECK(is_new);
}

void RpcTable::AnswerEarly(std::initializer_list<const char*> names)
{
    for (const char* name : names) m_methods.at(name).since = RpcPhase::kNetwork;
}

const RpcMethod* RpcTable::Find(const std::string& name) const
{
    const auto it = m_methods.find(name);
    return it == m_methods.end() ? nullptr : &it->second;
}

std::vector<std::string> RpcTable::Names() const
{
    std::vector<std::string> names;
    for (const auto& entry : m_methods) names.push_back(entry.first);
    return names;
}

void RpcTable::SetWarmup(const std::string& status)
{
    const Lock lock(m_mutex);
    m_warmup = status;
    if (m_phase == RpcPhase::kChain) m_phase = RpcPhase::kStart;
}

void RpcTable::OpenNetworkCalls()
{
    const Lock lock(m_mutex);
    m_phase = RpcPhase::kNetwork;
}

void RpcTable::EndWarmup()
{
    const Lock lock(m_mutex);
    m_phase = RpcPhase::kChain;
    m_warmup.reset();
}

std::optional<std::string> RpcTable::WarmupStatus() const
{
    const Lock lock(m_mutex);
    return m_warmup;
}

std::optional<std::string> RpcTable::WhyNotYet(const RpcMethod* method) const
{
    const Lock lock(m_mutex);
    // Unknown methods are reported as soon as network calls are answered.
    const RpcPhase since = method != nullptr ? method->since : RpcPhase::kNetwork;
    if (since <= m_phase) return std::nullopt;
    return m_warmup;
}

UniValue RpcTable::Execute(const std::string& method, const UniValue& params)
{
    const RpcMethod* found = Find(method);
    if (const auto why = WhyNotYet(found)) {
        const std::string far = m_overall ? m_overall->Text() : std::string();
        throw RpcError{RpcCode::kInWarmup, far.empty() ? *why : *why + " (" + far + ")"};
    }
    if (found == nullptr) throw RpcError{RpcCode::kMethodNotFound, "Method not found"};

    std::list<Active>::iterator entry;
    {
        const Lock lock(m_mutex);
        entry = m_active.insert(m_active.end(), {method, m_env.MonotonicMicros()});
    }
    struct Leave {
        RpcTable& table;
        std::list<Active>::iterator entry;
        ~Leave()
        {
            const Lock lock(table.m_mutex);
            table.m_active.erase(entry);
        }
    } leave{*this, entry};

    try {
        return found->Execute(params.isObject() ? found->ToPositional(params) : params);
    } catch (const std::exception& e) {
        // From the JSON library, or out of memory.
        throw RpcError{RpcCode::kMisc, e.what()};
    }
}

std::string RpcTable::Help(const std::string& command) const
{
    if (!command.empty()) {
        const RpcMethod* method = Find(command);
        return method != nullptr ? method->Help() : "help: unknown command: " + command;
    }
    std::map<std::string, std::vector<std::string>> by_category;
    for (const auto& [name, method] : m_methods) {
        if (method.category != "hidden") by_category[method.category].push_back(method.Signature());
    }
    std::string text;
    for (const auto& [category, signatures] : by_category) {
        std::string title = category;
        if (title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 32);
        text += (text.empty() ? "== " : "\n== ") + title + " ==\n";
        for (const std::string& signature : signatures) text += signature + "\n";
    }
    if (!text.empty()) text.pop_back();
    return text;
}

UniValue RpcTable::Conversions() const
{
    UniValue out(UniValue::VARR);
    for (const auto& [name, method] : m_methods) method.AppendConversions(out);
    return out;
}

std::string RpcTable::CliTable() const
{
    std::string text;
    for (const auto& [name, method] : m_methods) {
        const std::string words = method.CliWords();
        if (!words.empty()) text += fmt::format("{{\"{}\", \"{}\"}},\n", name, words);
    }
    return text;
}

std::vector<RpcTable::Active> RpcTable::ActiveCalls() const
{
    const Lock lock(m_mutex);
    return {m_active.begin(), m_active.end()};
}

} // namespace ibd
