# Run by cpack before it packs a folder: gives every file the time of the commit, so that the archive
# does not depend on when it was made.
find_program(TOUCH touch REQUIRED)
find_program(FIND find REQUIRED)
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  message(FATAL_ERROR "SOURCE_DATE_EPOCH is not set: contrib/packaging/make_package.sh sets it")
endif()
execute_process(COMMAND ${FIND} ${CPACK_TEMPORARY_DIRECTORY} -exec
                        ${TOUCH} --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +
                COMMAND_ERROR_IS_FATAL ANY)
