// Catch2 for tests. The last include of a file: from here on CHECK is Catch2's and no longer that
// of util/check.h, which the headers above use.
#include <catch2/catch.hpp>

// Where Catch2 was precompiled, its CHECK waits here (precompiled.h). Elsewhere gcc does nothing, and
// clang, for which nothing is precompiled, would warn.
#ifndef __clang__
#pragma pop_macro("CHECK")
#endif
