# The target leveldb. The default is Core's own LevelDB, static, at the prefix that
# depends/build_leveldb.sh prints; it is built there the first time. Unlike the distribution's it does
# not rewrite tables because they are read, and its checksums use the processor's instructions.
set(IBD_LEVELDB_ROOT "" CACHE PATH
    "Prefix of a LevelDB as Core's; empty: where depends/build_leveldb.sh puts it")
add_library(leveldb INTERFACE)
set(leveldb_prefix "${IBD_LEVELDB_ROOT}")
if(NOT leveldb_prefix)
  set(leveldb_sanitizer "")
  if(IBD_SANITIZE STREQUAL "thread")
    set(leveldb_sanitizer thread)
  endif()
  ibd_pinned_prefix(leveldb_prefix LevelDB build_leveldb.sh
                    "-DIBD_LEVELDB_ROOT=PREFIX for one built elsewhere" ${leveldb_sanitizer})
endif()
foreach(file include/leveldb/db.h lib/libleveldb.a lib/libcrc32c.a)
  if(NOT EXISTS "${leveldb_prefix}/${file}")
    message(FATAL_ERROR "IBD_LEVELDB_ROOT: there is no ${file} in ${leveldb_prefix}")
  endif()
endforeach()
target_include_directories(leveldb SYSTEM INTERFACE "${leveldb_prefix}/include")
target_link_libraries(leveldb INTERFACE "${leveldb_prefix}/lib/libleveldb.a"
                      "${leveldb_prefix}/lib/libcrc32c.a")
