// IBD_SANITIZED: 1 in a build with the address or the thread sanitizer, of gcc or clang; else 0.
#pragma once

#ifdef __has_feature
#define IBD_HAS_FEATURE(feature) __has_feature(feature)
#else
#define IBD_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    IBD_HAS_FEATURE(address_sanitizer) || IBD_HAS_FEATURE(thread_sanitizer)
#define IBD_SANITIZED 1
#else
#define IBD_SANITIZED 0
#endif
