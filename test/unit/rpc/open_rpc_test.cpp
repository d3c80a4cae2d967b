// The OpenRPC document of all calls: its shape, as https://spec.open-rpc.org asks for, and that it
// says of each argument what the table of calls does.
#include "jsonrpc/open_rpc.h"
#include "rpc/calls_kit.h"

#include "support/catch.h"

#include <set>

using namespace ibd;
using namespace ibd::test;

namespace {

const std::set<std::string> kTypes = {"string", "number", "boolean", "array", "object", "null"};

/** A JSON schema, of the keywords that are used. */
void CheckSchema(const UniValue& schema)
{
    REQUIRE(schema.isObject());
    if (schema.exists("type")) REQUIRE(kTypes.contains(schema["type"].get_str()));
    for (const char* list : {"oneOf", "anyOf"}) {
        if (!schema.exists(list)) continue;
        REQUIRE(schema[list].size() > 1);
        for (const UniValue& one : schema[list].getValues()) CheckSchema(one);
    }
    if (schema.exists("items")) {
        REQUIRE(schema["type"].get_str() == "array");
        CheckSchema(schema["items"]);
    }
    if (schema.exists("properties")) {
        REQUIRE(schema["type"].get_str() == "object");
        for (const UniValue& one : schema["properties"].getValues()) CheckSchema(one);
    }
    if (schema.exists("required")) {
        REQUIRE_FALSE(schema["required"].empty());
        for (const UniValue& name : schema["required"].getValues()) {
            REQUIRE(schema["properties"].exists(name.get_str()));
        }
    }
}

void CheckDescriptor(const UniValue& descriptor)
{
    REQUIRE_FALSE(descriptor["name"].get_str().empty());
    REQUIRE(descriptor["required"].isBool());
    CheckSchema(descriptor["schema"]);
}

/** Required parameters come first, and no two have the same name. */
void CheckMethod(const UniValue& method)
{
    INFO(method["name"].get_str());
    REQUIRE_FALSE(method["description"].get_str().empty());
    REQUIRE(method["paramStructure"].get_str() == "either");
    REQUIRE(method["tags"][0]["name"].isStr());
    CheckDescriptor(method["result"]);
    std::set<std::string> names;
    bool optional = false;
    for (const UniValue& param : method["params"].getValues()) {
        CheckDescriptor(param);
        REQUIRE(names.insert(param["name"].get_str()).second);
        if (optional) REQUIRE_FALSE(param["required"].get_bool());
        optional = !param["required"].get_bool();
    }
}

std::set<std::string> MethodNames(const UniValue& document)
{
    std::set<std::string> out;
    for (const UniValue& method : document["methods"].getValues()) {
        REQUIRE(out.insert(method["name"].get_str()).second);
    }
    return out;
}

const UniValue& MethodOf(const UniValue& document, const std::string& name)
{
    for (const UniValue& method : document["methods"].getValues()) {
        if (method["name"].get_str() == name) return method;
    }
    FAIL(name);
    return NullUniValue;
}

} // namespace

TEST_CASE_METHOD(CallsKit, "the document of all calls has the shape of OpenRPC")
{
    const UniValue document = Call("getopenrpcinfo", "[true]");
    CHECK(document["openrpc"].get_str() == kOpenRpcVersion);
    CHECK_FALSE(document["info"]["title"].get_str().empty());
    CHECK_FALSE(document["info"]["version"].get_str().empty());
    const std::vector<std::string> all = calls.table.Names();
    CHECK(MethodNames(document) == std::set(all.begin(), all.end()));
    size_t typed = 0;
    for (const UniValue& method : document["methods"].getValues()) {
        CheckMethod(method);
        CHECK(method["params"].size() == calls.table.Find(method["name"].get_str())->args.size());
        typed += method["result"]["schema"].exists("type") ? 1 : 0;
    }
    CHECK(typed * 10 > all.size() * 7); // most results begin with what tells their type
}

TEST_CASE_METHOD(CallsKit, "hidden calls and arguments are in the document on request only")
{
    const UniValue shown = Call("getopenrpcinfo");
    CHECK(shown.write() == Call("rpc.discover").write());
    const std::set<std::string> names = MethodNames(shown);
    CHECK(names.contains("getblock"));
    CHECK_FALSE(names.contains("echo"));
    CHECK(MethodOf(shown, "stop")["params"].empty());
    const UniValue all = Call("getopenrpcinfo", "[true]");
    CHECK(MethodNames(all).contains("echo"));
    CHECK(MethodOf(all, "stop")["params"].size() == 1);
}

TEST_CASE_METHOD(CallsKit, "an argument's type, names and default are those of the call")
{
    const UniValue document = Call("getopenrpcinfo");
    const UniValue& block = MethodOf(document, "getblock")["params"];
    CHECK(block[0]["name"].get_str() == "blockhash");
    CHECK(block[0]["required"].get_bool());
    CHECK(block[0]["schema"]["type"].get_str() == "string");
    CHECK(block[1]["x-aliases"][0].get_str() == "verbose");
    const UniValue& unused = MethodOf(document, "prioritisetransaction")["params"][1];
    CHECK(unused["required"].get_bool()); // by its place, though it may be null
    CHECK(unused["schema"]["oneOf"][1]["type"].get_str() == "null");
    const UniValue& logging = MethodOf(document, "logging")["params"];
    CHECK(logging[0]["schema"]["type"].get_str() == "array");
    CHECK(logging[0]["schema"]["items"]["type"].get_str() == "string");
    CHECK(MethodOf(document, "uptime")["result"]["schema"]["type"].get_str() == "number");
    const UniValue& memory = MethodOf(document, "getmemoryinfo")["params"];
    CHECK(memory[0]["schema"]["default"].get_str() == "stats");
}
