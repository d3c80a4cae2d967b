# Compiler flags, ccache and sanitizers, carried by the interface target ibd_options.
find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the source tree let checkouts of the same code share the cache.
  # What a precompiled header depends on is hashed with it, so its macros and times may be ignored.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
               CCACHE_SLOPPINESS=pch_defines,time_macros
               ${CMAKE_SOURCE_DIR}/cmake/ccache.sh)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# CHECKs stay on in every build; assert() is not used.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -fno-omit-frame-pointer")

find_package(Threads REQUIRED)
add_library(ibd_options INTERFACE)
target_include_directories(ibd_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(ibd_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
# gcc 12 says falsely, of std::string with precompiled headers, that its copies leave their bounds.
target_compile_options(ibd_options INTERFACE
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>)
target_link_libraries(ibd_options INTERFACE Threads::Threads)
if(IBD_STATIC) # for packages: the bytes do not depend on where the checkout lies
  add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
endif()
# util/mutex.h says what it checks; gcc has nothing like it.
target_compile_options(ibd_options INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety> $<$<CXX_COMPILER_ID:Clang>:-Werror=thread-safety>)
if(IBD_WERROR)
  target_compile_options(ibd_options INTERFACE -Werror)
endif()
if(IBD_SANITIZE)
  add_compile_options(-fsanitize=${IBD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${IBD_SANITIZE})
  # GCC warns falsely about library code once it is instrumented.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(IBD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link) # coverage for the fuzzer in every module
endif()
