// Types that a Result converts to its value.
#include "util/found.h"

#include <memory>

#include "support/catch.h"

using namespace ibd;

namespace {

struct Base {
    virtual ~Base() = default;
    virtual int Number() const { return 1; }
};
struct Derived final : Base {
    int Number() const override { return 2; }
};

Result<std::unique_ptr<Base>> MakeDerived() { return std::make_unique<Derived>(); }
Found<int> Half(int n)
{
    if (n < 0) return BadData("{} is negative", n);
    if (n % 2) return std::nullopt;
    return n / 2;
}

} // namespace

TEST_CASE("a Result is made from whatever converts to its value, or from an error")
{
    CHECK(MakeDerived().Value()->Number() == 2);
    CHECK(Half(8).Value() == 4);
    CHECK(Half(7).Ok());
    CHECK_FALSE(Half(7).Value().has_value());
    CHECK_FALSE(Half(-1).Ok());
    CHECK(Half(-1).Message() == "-1 is negative");
    // An error is an error even where the value could hold its text.
    const Result<std::string> failed = SystemError("disk");
    CHECK_FALSE(failed.Ok());
    CHECK(failed.GetError().kind == Error::Kind::kSystem);
    static_assert(!std::is_convertible_v<Result<Base>, Result<int>>);
}

namespace {

/** The error of the machine, if it is one; bad data counts as 0. */
Result<int> OrZero(const Result<int>& read)
{
    IBD_RETURN_IF_SYSTEM_ERROR(read);
    return read ? *read : 0;
}

} // namespace

TEST_CASE("an error is of the machine or of the data, and a value is neither")
{
    CHECK(SystemFailed(Result<int>(SystemError("disk"))));
    CHECK_FALSE(SystemFailed(Result<int>(BadData("damaged"))));
    CHECK_FALSE(SystemFailed(Result<int>(1)));
    CHECK(SystemFailed(Result<>(SystemError("disk"))));
    CHECK_FALSE(SystemFailed(Result<>(BadData("damaged"))));
    CHECK_FALSE(SystemFailed(Result<>()));

    CHECK(IsBadData(Result<int>(BadData("damaged"))));
    CHECK(IsBadData(Result<>(BadData("damaged"))));
    CHECK_FALSE(IsBadData(Result<int>(SystemError("disk"))));
    CHECK_FALSE(IsBadData(Result<int>(1)));

    CHECK(OrZero(7).Value() == 7);
    CHECK(OrZero(BadData("damaged")).Value() == 0);
    CHECK(OrZero(SystemError("disk")).Message() == "disk");
}
