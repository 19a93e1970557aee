# The sequential MUMPS (Debian: libmumps-seq-dev); its headers sit in mumps_seq or beside the parallel one's.
find_path(MUMPS_INCLUDE_DIR dmumps_c.h PATH_SUFFIXES mumps_seq)
find_library(MUMPS_LIBRARY dmumps_seq)
find_library(MUMPS_COMMON_LIBRARY mumps_common_seq)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MUMPS REQUIRED_VARS MUMPS_LIBRARY MUMPS_COMMON_LIBRARY MUMPS_INCLUDE_DIR)
if(MUMPS_FOUND AND NOT TARGET MUMPS::MUMPS)
  add_library(MUMPS::MUMPS UNKNOWN IMPORTED)
  set_target_properties(MUMPS::MUMPS PROPERTIES IMPORTED_LOCATION ${MUMPS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${MUMPS_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES ${MUMPS_COMMON_LIBRARY})
endif()
