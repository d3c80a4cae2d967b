// See scan_turn.h.
#include "rpc/scan_turn.h"

#include "jsonrpc/json.h"

namespace ibd {

namespace {

/** Reserves the scan as long as it lives. */
class ScanTurn {
public:
    explicit ScanTurn(TurnState& state) : m_state(state)
    {
        if (!state.running.exchange(true)) return;
        throw RpcError{RpcCode::kInvalidParameter,
                       "Scan already in progress, use action \"abort\" or \"status\""};
    }
    ~ScanTurn() { m_state.running = false; }
    ScanTurn(const ScanTurn&) = delete;
    ScanTurn& operator=(const ScanTurn&) = delete;

private:
    TurnState& m_state;
};

} // namespace

RpcArg ScanObjectsArg(bool required, const char* help)
{
    return {"scanobjects", RpcType::kArray, required, "", help, {}, "[scanobjects,...]"};
}

std::vector<RpcArg> ScanArgs()
{
    return {{"action", RpcType::kString, true, "",
             "\"start\" scans and answers when done; \"abort\" ends the running scan, true if "
             "there is one; \"status\" shows its progress, null if there is none"},
            ScanObjectsArg(false, "Needed to start: descriptors, or objects of \"desc\" and "
                                  "\"range\" (the last position, or the first and the last; 1000 "
                                  "without)")};
}

UniValue AnswerScan(const RpcCall& call, TurnState& state, const std::function<UniValue()>& scan,
                    const std::function<void(UniValue&)>& add_status)
{
    const std::string& action = call.String(0);
    if (action == "start") {
        const ScanTurn turn(state);
        state.abort = false;
        state.percent = 0;
        return scan();
    }
    if (action == "abort") {
        if (!state.running) return Bool(false);
        state.abort = true;
        return Bool(true);
    }
    if (action == "status") {
        if (!state.running) return {};
        UniValue out(UniValue::VOBJ);
        out.pushKV("progress", state.percent.load());
        if (add_status) add_status(out);
        return out;
    }
    ThrowRpc(RpcCode::kInvalidParameter, "Invalid action '{}'", action);
}

const UniValue& ScanObjects(const RpcCall& call)
{
    const UniValue& objects = call.At(1);
    // As in Core, a null counts as given.
    if (objects.isArray()) return objects;
    throw RpcError{RpcCode::kTypeError, WrongTypeText(objects, UniValue::VARR)};
}

} // namespace ibd
