# `cmake --install`: component `dev` is the library with its public headers, its CMake package and its pkg-config files,
# `program` the command line with the example scenes, `python` the module (python/CMakeLists.txt).
include(CMakePackageConfigHelpers)

# Public headers are those that pliant.hpp reaches, and pliant.h.
function(pliant_collect_headers header)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/${header})  # the generated one
    return()
  endif()
  get_property(known GLOBAL PROPERTY pliant_public_headers)
  if(header IN_LIST known)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY pliant_public_headers ${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} lines REGEX "^#include \"pliant/")
  foreach(line ${lines})
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" included ${line})
    pliant_collect_headers(${included})
  endforeach()
endfunction()
pliant_collect_headers(pliant/pliant.hpp)
pliant_collect_headers(pliant/pliant.h)
get_property(public_headers GLOBAL PROPERTY pliant_public_headers)
foreach(header ${public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT dev)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/generated/pliant/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pliant COMPONENT dev)

# Two sets of targets: a program in C has no use for the dependencies of the C++ library.
install(TARGETS pliant_library EXPORT pliant COMPONENT dev)
install(TARGETS pliant_c_library EXPORT pliant_c COMPONENT dev)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/pliant)
install(EXPORT pliant FILE pliantTargets.cmake NAMESPACE pliant:: DESTINATION ${package} COMPONENT dev)
install(EXPORT pliant_c FILE pliantCTargets.cmake NAMESPACE pliant:: DESTINATION ${package} COMPONENT dev)

get_target_property(pliant_library_type pliant_library TYPE)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/pliantConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/pliantConfig.cmake
                              INSTALL_DESTINATION ${package})
# Before 1.0 a minor version may change the interface, so that a program asks for 0.2 and gets 0.2.x.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/pliantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/pliantConfig.cmake ${PROJECT_BINARY_DIR}/cmake/pliantConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/PliantDependencies.cmake ${PROJECT_SOURCE_DIR}/cmake/FindMETIS.cmake
        DESTINATION ${package} COMPONENT dev)

# A static library has no list of what it needs: then everything is in `Requires`.
set(pkgconfig_requires eigen3)
set(pkgconfig_libs "-lpliant")
if(pliant_library_type STREQUAL "STATIC_LIBRARY")
  string(APPEND pkgconfig_requires ", tbb, fmt, zlib, libhwy, openblas, tomlplusplus")
  string(APPEND pkgconfig_libs " -lmetis -lstdc++ -lm")
endif()
file(RELATIVE_PATH pkgconfig_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # so that the tree may move
foreach(name pliant pliant_c)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/cmake/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT dev)

if(PLIANT_PROGRAM)
  install(TARGETS pliant COMPONENT program)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/pliant COMPONENT program)
  install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
endif()

# `cmake --build build --target reference`: the documentation of the public headers, into build/reference/html.
find_program(PLIANT_DOXYGEN doxygen)
if(PLIANT_DOXYGEN)
  list(TRANSFORM public_headers PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE reference_inputs)
  list(JOIN reference_inputs " " reference_inputs)
  configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
  add_custom_target(reference COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/reference
                    COMMAND ${PLIANT_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile VERBATIM)
endif()
