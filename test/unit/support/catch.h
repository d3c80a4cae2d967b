// Catch2 for tests. The last include of a file: from here on CHECK is Catch2's and no longer that
// of util/check.h, which the headers above use.
#include <catch2/catch.hpp>

#ifdef IBD_CATCH_IS_PRECOMPILED // precompiled.h has put its CHECK aside
#pragma pop_macro("CHECK")
#endif
