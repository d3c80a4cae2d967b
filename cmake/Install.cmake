# What `cmake --install` and cpack put where: the programs, and with IBD_DOCS manual pages, completions
# and an example configuration, which the programs' own help is the source of.
include(GNUInstallDirs)
set(docs_default ON)
if(IBD_TESTS)
  set(docs_default OFF) # tests make them themselves
endif()
option(IBD_DOCS "Make manual pages, completions and the example bitcoin.conf (needs python3)"
       ${docs_default})

set(programs bitcoind bitcoin-cli bitcoin-hints)
install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES README.md LICENSE CHANGELOG.md SECURITY.md TYPE DOC)
install(FILES doc/images/comparison.svg DESTINATION ${CMAKE_INSTALL_DOCDIR}/doc/images) # in README.md

set(etc ${CMAKE_INSTALL_SYSCONFDIR})
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  set(etc /etc)
endif()
install(FILES contrib/packaging/bitcoin.conf DESTINATION ${etc}/bitcoin)

cmake_path(ABSOLUTE_PATH etc BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE IBD_ETC)
configure_file(contrib/packaging/bitcoind.service ${CMAKE_BINARY_DIR}/share/bitcoind.service @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/share/bitcoind.service DESTINATION lib/systemd/system)

if(NOT IBD_DOCS)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(packaging ${PROJECT_SOURCE_DIR}/contrib/packaging)
set(share ${CMAKE_BINARY_DIR}/share)
# The stamp is newer than the programs, so an unchanged program is not asked again.
add_custom_command(
  OUTPUT ${share}/made
  COMMAND Python3::Interpreter ${packaging}/make_docs.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${share}
  COMMAND ${CMAKE_COMMAND} -E touch ${share}/made
  DEPENDS ${programs} ${packaging}/make_docs.py ${packaging}/program_help.py
  COMMENT "Asking the programs for their manual pages and completions"
  VERBATIM)
add_custom_target(docs ALL DEPENDS ${share}/made)
install(DIRECTORY ${share}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${share}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${share}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(DIRECTORY ${share}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${share}/bitcoin.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
