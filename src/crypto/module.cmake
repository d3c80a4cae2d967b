set_source_files_properties(${folder}/secp256k1_version.cpp PROPERTIES COMPILE_DEFINITIONS
                            "IBD_SECP256K1_DESCRIPTION=\"${SECP256K1_DESCRIPTION}\"")
# Its code is unrolled into thousands of vector instructions: instrumenting each takes minutes. The
# tests check the bounds of the same code in a portable build (lanes_checked.h).
if(IBD_SANITIZE OR IBD_FUZZ)
  set_source_files_properties(${folder}/lanes_ifma.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
  # The header is precompiled with them.
  set_source_files_properties(${folder}/lanes_ifma.cpp ${folder}/lanes_avx2.cpp PROPERTIES
                              SKIP_PRECOMPILE_HEADERS ON)
  set(lanes_unsanitized -fno-sanitize=all)
endif()
# It sets the rounding mode.
set_source_files_properties(${folder}/lanes_avx2.cpp PROPERTIES COMPILE_OPTIONS
                            "-frounding-math;${lanes_unsanitized}")
