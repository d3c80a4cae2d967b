// See control.h.
#include "rpc/control.h"
#include "jsonrpc/json.h"
#include "jsonrpc/open_rpc.h"
#include "util/locked_pool.h"
#include "util/version.h"

#include <chrono>
#include <limits>
#include <thread>

#include <malloc.h>

namespace ibd {

namespace {

RpcMethod Help(ControlContext& context)
{
    return {"control",
            "help",
            "Lists all calls, or explains one.",
            {{"command", RpcType::kString, false, "all commands", "The call to explain"}},
            "\"str\"    (string) The text",
            "\n\"getblock\"",
            [&context](const RpcCall& call) -> UniValue {
                const std::string command = call.String(0, "");
                // For Core's tests, which compare this list with bitcoin-cli's conversions.
                if (command == "dump_all_command_conversions") return context.table.Conversions();
                return context.table.Help(command);
            }};
}

RpcMethod Stop(ControlContext& context)
{
    return {"control",
            "stop",
            "Asks the node to shut down cleanly.",
            {{"wait",
              RpcType::kNumber,
              false,
              "",
              "Milliseconds to wait before the answer; for tests",
              {},
              "",
              /*hidden=*/true}},
            "\"str\"    (string) A text which says that the node is stopping",
            "",
            [&context](const RpcCall& call) -> UniValue {
                context.stop();
                if (call.Has(0)) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(call.Int32(0)));
                }
                return "ibd-booster stopping";
            }};
}

RpcMethod Uptime(ControlContext& context)
{
    return {"control",
            "uptime",
            "Seconds since the node started.",
            {},
            "n    (numeric) Seconds",
            "",
            [&context](const RpcCall&) -> UniValue {
                return Num((context.env.MonotonicMicros() - context.start_micros) / 1'000'000);
            }};
}

UniValue LockedMemory()
{
    const LockedPoolStats stats = LockedPool::OfProcess().Stats();
    UniValue locked(UniValue::VOBJ);
    locked.pushKV("used", Num(stats.used));
    locked.pushKV("free", Num(stats.free));
    locked.pushKV("total", Num(stats.total));
    locked.pushKV("locked", Num(stats.locked));
    locked.pushKV("chunks_used", Num(stats.chunks_used));
    locked.pushKV("chunks_free", Num(stats.chunks_free));
    UniValue out(UniValue::VOBJ);
    out.pushKV("locked", locked);
    return out;
}

UniValue MallocInfo()
{
    char* text = nullptr;
    size_t size = 0;
    std::FILE* file = ::open_memstream(&text, &size);
    if (file == nullptr) throw RpcError{RpcCode::kOutOfMemory, "no memory for malloc_info"};
    ::malloc_info(0, file);
    std::fclose(file);
    std::string out(text, size);
    std::free(text);
    return out;
}

RpcMethod GetMemoryInfo()
{
    return {
        "control",
        "getmemoryinfo",
        "Memory use of the node.",
        {{"mode", RpcType::kString, false, "\"stats\"",
          "\"stats\" for totals of locked memory, \"mallocinfo\" for the allocator's XML"}},
        "{\n  \"locked\": {    (json object) Bytes and chunks of locked memory\n"
        "    \"used\", \"free\", \"total\", \"locked\", \"chunks_used\", \"chunks_free\"\n  }\n}\n"
        "or \"<malloc version=\"1\">...\"    (string)",
        "\n\"mallocinfo\"",
        [](const RpcCall& call) -> UniValue {
            const std::string mode = call.String(0, "stats");
            if (mode == "stats") return LockedMemory();
            if (mode == "mallocinfo") return MallocInfo();
            ThrowRpc(RpcCode::kInvalidParameter, "unknown mode {}", mode);
        }};
}

LogCategory CategoriesIn(const UniValue& names)
{
    uint64_t mask = 0;
    for (const UniValue& name : names.getValues()) {
        const auto category = ParseLogCategory(ParseString(name));
        if (!category) {
            ThrowRpc(RpcCode::kInvalidParameter, "unknown logging category {}", name.getValStr());
        }
        mask |= static_cast<uint64_t>(*category);
    }
    return static_cast<LogCategory>(mask);
}

RpcMethod Logging(ControlContext& context)
{
    return {"control",
            "logging",
            "Switches debug categories on and off, and shows which ones are logged. The included "
            "categories are switched on first, then the excluded ones off. \"all\" stands for all.",
            {{"include",
              RpcType::kArray,
              false,
              "",
              "Names of categories to log",
              {{"include_category", RpcType::kString, false, "", "A category"}}},
             {"exclude",
              RpcType::kArray,
              false,
              "",
              "Names of categories not to log",
              {{"exclude_category", RpcType::kString, false, "", "A category"}}}},
            "{\n  \"category\": true|false,    (boolean) Whether it is logged\n  ...\n}",
            "\"[\\\"all\\\"]\" \"[\\\"http\\\"]\"",
            [&context](const RpcCall& call) {
                if (call.Has(0)) context.logger.Enable(CategoriesIn(call.At(0)));
                if (call.Has(1)) context.logger.Disable(CategoriesIn(call.At(1)));
                UniValue out(UniValue::VOBJ);
                for (const auto& [category, name] : LogCategories()) {
                    out.pushKV(std::string(name), Bool(context.logger.Enabled(category)));
                }
                return out;
            }};
}

RpcMethod GetRpcInfo(ControlContext& context)
{
    return {"control",
            "getrpcinfo",
            "Shows the calls that are being executed, and the path of the log.",
            {},
            "{\n  \"active_commands\": [    (json array) Calls that are being executed\n    {\n"
            "      \"method\": \"str\",      (string) Name\n"
            "      \"duration\": n         (numeric) Microseconds so far\n    }, ...\n  ],\n"
            "  \"logpath\": \"str\"        (string) The log file\n}",
            "",
            [&context](const RpcCall&) {
                UniValue calls(UniValue::VARR);
                for (const auto& active : context.table.ActiveCalls()) {
                    UniValue entry(UniValue::VOBJ);
                    entry.pushKV("method", active.method);
                    entry.pushKV("duration",
                                 Num(context.env.MonotonicMicros() - active.start_micros));
                    calls.push_back(entry);
                }
                UniValue out(UniValue::VOBJ);
                out.pushKV("active_commands", calls);
                out.pushKV("logpath", context.log_file.string());
                return out;
            }};
}

UniValue OpenRpc(const ControlContext& context, bool with_hidden)
{
    return OpenRpcDocument(context.table, {.title = fmt::format("{} JSON-RPC", kProjectName),
                                           .version = kVersion,
                                           .with_hidden = with_hidden});
}

constexpr const char* kOpenRpcResult =
    "{\n  \"openrpc\": \"str\",    (string) Version of the format\n"
    "  \"info\": {...},       (json object) Title and version\n"
    "  \"methods\": [...]     (json array) The calls: name, description, params, result\n}";

RpcMethod GetOpenRpcInfo(ControlContext& context)
{
    return {"control",
            "getopenrpcinfo",
            "Describes all calls in machine-readable form, as an OpenRPC document.",
            {{"show_hidden", RpcType::kBool, false, "false",
              "Whether to include hidden calls and arguments"}},
            kOpenRpcResult,
            "",
            [&context](const RpcCall& call) { return OpenRpc(context, call.Bool(0, false)); }};
}

/** The name by which OpenRPC clients ask for the document. */
RpcMethod Discover(ControlContext& context)
{
    return {"control",
            "rpc.discover",
            "Returns the document of getopenrpcinfo, without hidden calls.",
            {},
            kOpenRpcResult,
            "",
            [&context](const RpcCall&) { return OpenRpc(context, false); }};
}

RpcMethod SetMockTime(ControlContext& context)
{
    return {"hidden",
            "setmocktime",
            "Sets the clock that the rules use (regtest only).",
            {{"timestamp", RpcType::kNumber, true, "",
              "Seconds since 1970; 0: the system's clock again"}},
            "null",
            "1700000000",
            [&context](const RpcCall& call) -> UniValue {
                if (context.mock_time == nullptr) {
                    throw RpcError{RpcCode::kMisc, "setmocktime is for regression testing "
                                                   "(-regtest mode) only"};
                }
                // The range of a header's time, as in Core.
                constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
                const int64_t time = call.Int(0);
                if (time < 0 || time > kMost) {
                    ThrowRpc(RpcCode::kInvalidParameter,
                             "Mocktime must be in the range [0, {}], not {}.", kMost, time);
                }
                *context.mock_time = time;
                return {};
            }};
}

RpcMethod MockScheduler(ControlContext& context)
{
    return {"hidden",
            "mockscheduler",
            "Advances the due times of regular jobs (regtest only).",
            {{"delta_time", RpcType::kNumber, true, "", "Seconds, 1 to 3600"}},
            "null",
            "3600",
            [&context](const RpcCall& call) -> UniValue {
                if (context.mock_time == nullptr) {
                    throw RpcError{RpcCode::kMisc, "mockscheduler is for regression testing "
                                                   "(-regtest mode) only"};
                }
                constexpr int64_t kMost = 3600;
                const int64_t seconds = call.Int(0);
                if (seconds <= 0 || seconds > kMost) {
                    throw RpcError{RpcCode::kMisc,
                                   "delta_time must be between 1 and 3600 seconds (1 hr)"};
                }
                context.forward_jobs(std::chrono::seconds(seconds));
                return {};
            }};
}

RpcMethod Echo(const char* name, CliForm form)
{
    std::vector<RpcArg> args;
    constexpr int kArgs = 10;
    for (int i = 0; i < kArgs; ++i) {
        args.push_back(WithCliForm({fmt::format("arg{}", i), RpcType::kText, false, "", ""}, form));
    }
    return {"hidden",
            name,
            "Returns the arguments, for tests. echo and echojson differ only in bitcoin-cli, which "
            "takes the arguments of echojson as JSON.",
            args,
            "[...]    (json array) The arguments",
            "one two",
            [](const RpcCall& call) {
                const UniValue& last = call.At(kArgs - 1);
                if (last.isStr() && last.getValStr() == "trigger_internal_bug") {
                    throw RpcError{RpcCode::kMisc, "Internal bug detected: request.params[9]"
                                                   ".get_str() != \"trigger_internal_bug\""};
                }
                return call.All();
            }};
}

/** Core asks another process, if it is built for several. */
RpcMethod EchoIpc()
{
    return {"hidden",
            "echoipc",
            "Returns the argument, for tests.",
            {{"arg", RpcType::kString, true, "", "The text to return"}},
            "\"str\"    (string) The argument",
            "one",
            [](const RpcCall& call) -> UniValue { return call.String(0); }};
}

} // namespace

void AddControlMethods(RpcTable& table, ControlContext& context)
{
    RpcMethod stop = Stop(context);
    RpcMethod uptime = Uptime(context);
    RpcMethod info = GetRpcInfo(context);
    for (RpcMethod* method : {&stop, &uptime, &info}) {
        method->since = RpcPhase::kStart;
        table.Add(std::move(*method));
    }
    for (RpcMethod method : {Help(context), GetMemoryInfo(), Logging(context),
                             GetOpenRpcInfo(context), Discover(context)}) {
        method.since = RpcPhase::kNetwork;
        table.Add(std::move(method));
    }
    table.Add(SetMockTime(context));
    table.Add(MockScheduler(context));
    table.Add(Echo("echo", CliForm::kByType));
    table.Add(Echo("echojson", CliForm::kJson));
    table.Add(EchoIpc());
    table.AnswerEarly({"setmocktime", "echo", "echojson", "echoipc"});
}

} // namespace ibd
