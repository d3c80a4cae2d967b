# ibd_pinned_prefix(<result> <name> <script> <way out> [argument...]): runs depends/<script>, which
# builds a library at the version of Bitcoin Core or prints where it is, and sets <result> to its
# prefix. Fails with one message that names the reason and both ways out; <way out> is the CMake
# option for another library, and what it gives.
function(ibd_pinned_prefix result name script way_out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               ${PROJECT_SOURCE_DIR}/depends/${script}
               ${PROJECT_SOURCE_DIR}/test/interop/kernel-oracle/Cargo.lock)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/depends/${script} ${ARGN}
                  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_VARIABLE problem ERROR_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    string(REGEX REPLACE ".*\n" "" problem "${problem}")
    message(FATAL_ERROR "No pinned ${name} (${problem}): run depends/install.sh, or configure "
                        "with ${way_out}")
  endif()
  set(${result} "${prefix}" PARENT_SCOPE)
endfunction()
