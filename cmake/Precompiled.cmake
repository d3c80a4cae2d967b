# Precompiled headers, which halve the compiler's work: what nearly every file includes of the
# standard library and fmt, and for tests Catch2 too. They have system headers only, so that an edit
# of ours never makes them anew; each file still includes what it uses, which a build without them
# proves (clang's, for the fuzz targets).
option(IBD_PRECOMPILED "Precompile the headers of the standard library, fmt and Catch2 (gcc)" ON)

# ibd_precompile(<folder>): compiles all targets below <folder> with the header of ibd_util, or of
# ibd_test_support if they link it. Call it when all targets are there.
function(ibd_precompile folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "STATIC_LIBRARY|EXECUTABLE" OR target MATCHES "^ibd_(util|test_support)$")
      continue()
    endif()
    get_target_property(links ${target} LINK_LIBRARIES)
    if(ibd_test_support IN_LIST links)
      target_precompile_headers(${target} REUSE_FROM ibd_test_support)
    else()
      target_precompile_headers(${target} REUSE_FROM ibd_util)
    endif()
  endforeach()
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(sub IN LISTS below)
    ibd_precompile(${sub})
  endforeach()
endfunction()

if(IBD_PRECOMPILED AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_precompile_headers(ibd_util PRIVATE <util/precompiled.h>)
  if(TARGET ibd_test_support)
    target_precompile_headers(ibd_test_support PRIVATE <support/precompiled.h>)
  endif()
  ibd_precompile(${CMAKE_SOURCE_DIR})
endif()
