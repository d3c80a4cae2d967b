# cpack: a .deb and a tar archive of what Install.cmake installs. The same commit gives the same bytes:
# times are those of the commit (SOURCE_DATE_EPOCH, or git's), paths of the source tree are not in it.
set(CPACK_PACKAGE_NAME ibd-booster)
set(CPACK_PACKAGE_VENDOR "ibd-booster")
set(CPACK_PACKAGE_CONTACT "ibd-booster <ibd-booster@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Bitcoin full node with a fast initial block download")
set(CPACK_PACKAGE_DESCRIPTION
    "A drop-in for Bitcoin Core's bitcoind and bitcoin-cli: same options, data directory, RPC and P2P.
 With a hints file it builds the set of unspent outputs from blocks in any order, on all cores.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_FILE_NAME "ibd-booster-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/PackageTimes.cmake)
set(CPACK_SET_DESTDIR ON)

set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONFLICTS "bitcoind, bitcoin-cli")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/contrib/packaging/conffiles)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
