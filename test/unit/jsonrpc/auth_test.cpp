// Logins, cookie, whitelist.
#include "crypto/hmac.h"
#include "jsonrpc/auth.h"
#include "support/temp_dir.h"
#include "util/base64.h"
#include "util/hex.h"

#include "support/catch.h"

using namespace ibd;
using ibd::test::TempDir;

namespace {

std::string Basic(const std::string& login) { return "Basic " + ToBase64(AsBytes(login)); }

} // namespace

TEST_CASE("base64 is that of RFC 4648")
{
    const std::pair<const char*, const char*> known[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, coded] : known) {
        CHECK(ToBase64(AsBytes(plain)) == coded);
        CHECK(AsChars(*FromBase64(coded)) == plain);
    }
    for (const char* bad : {"Z", "Zg=", "Zg", "Zh==", "====", "Zm9v!mFy", "Zg==Zg=="}) {
        INFO(bad);
        CHECK_FALSE(FromBase64(bad));
    }
}

TEST_CASE("user and password, and nothing else, log in")
{
    const auto env = MakePosixEnv();
    RpcAuthOptions options;
    options.user = "alice";
    options.password = "pa:ss";
    const auto auth = RpcAuth::Make(*env, *MakeNullLogger(), options);
    REQUIRE(auth.Ok());
    CHECK((*auth)->Check(Basic("alice:pa:ss")) == "alice");
    for (const char* wrong : {"alice:pa:s", "alice:pa:sss", "alice:", "alice", "bob:pa:ss", ""}) {
        CHECK_FALSE((*auth)->Check(Basic(wrong)));
    }
    CHECK_FALSE((*auth)->Check("Bearer x"));
    CHECK_FALSE((*auth)->Check("Basic ?"));
}

TEST_CASE("salted hashes log in; malformed ones are an error")
{
    const auto env = MakePosixEnv();
    const std::string salt = "cb77f0957de88ff388cf817ddbc7273";
    RpcAuthOptions options;
    options.salted = {"bob:" + salt + "$" +
                      ToHex(HmacSha256(AsBytes(salt)).Write(AsBytes("secret")).Finalize())};
    const auto auth = RpcAuth::Make(*env, *MakeNullLogger(), options);
    REQUIRE(auth.Ok());
    CHECK((*auth)->Check(Basic("bob:secret")) == "bob");
    CHECK_FALSE((*auth)->Check(Basic("bob:Secret")));
    CHECK_FALSE((*auth)->Check(Basic("bo:secret")));
    for (const char* bad : {"bob", "bob:salt", "bob$x:y", "bob:s$h$h", "bob:b:s$h"}) {
        options.salted = {bad};
        const auto refused = RpcAuth::Make(*env, *MakeNullLogger(), options);
        REQUIRE_FALSE(refused.Ok());
        CHECK(refused.Message() == "Invalid -rpcauth argument.");
    }
}

TEST_CASE("the cookie is private, works, and goes with the server")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    RpcAuthOptions options;
    options.cookie = dir / ".cookie";
    std::string first;
    {
        const auto auth = RpcAuth::Make(*env, *MakeNullLogger(), options);
        REQUIRE(auth.Ok());
        const auto contents = ReadWholeFile(*env, dir / ".cookie");
        REQUIRE(contents.Ok());
        first = AsChars(*contents);
        CHECK(first.starts_with("__cookie__:"));
        CHECK(first.size() == 11 + 64);
        CHECK((*auth)->Check(Basic(first)) == "__cookie__");
        const auto mode = std::filesystem::status(dir / ".cookie").permissions();
        CHECK(mode == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
        CHECK(env->List(dir.Get())->size() == 1);
    }
    CHECK_FALSE(env->Exists(dir / ".cookie"));
    const auto again = RpcAuth::Make(*env, *MakeNullLogger(), options);
    CHECK_FALSE((*again)->Check(Basic(first)));
    options.cookie = dir / "none/.cookie";
    CHECK_THAT(RpcAuth::Make(*env, *MakeNullLogger(), options).Message(),
               Catch::Contains("none/.cookie"));
}

TEST_CASE("whitelists bound what users may call")
{
    const auto env = MakePosixEnv();
    RpcAuthOptions options;
    options.whitelist = {"a:x,y, z", "a:y,z,w", "none"};
    const auto auth = RpcAuth::Make(*env, *MakeNullLogger(), options);
    REQUIRE(auth.Ok());
    CHECK((*auth)->MayCall("a", "y"));
    CHECK((*auth)->MayCall("a", "z"));
    CHECK_FALSE((*auth)->MayCall("a", "x"));
    CHECK_FALSE((*auth)->MayCall("none", "y"));
    CHECK_FALSE((*auth)->MayCall("stranger", "y"));
    options.whitelist_default = false;
    CHECK((*RpcAuth::Make(*env, *MakeNullLogger(), options))->MayCall("stranger", "y"));
    CHECK((*RpcAuth::Make(*env, *MakeNullLogger(), {}))->MayCall("stranger", "y"));
}
