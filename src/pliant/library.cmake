# What embedders link. The folders are static libraries of their own, against which the tests link, so that the layering
# holds at link time; these two are made of the same object files.
set(pliant_folders base settings math mesh materials fem linalg contact rigid energies sim solvers scene simulation)
set(objects)
foreach(folder ${pliant_folders})
  list(APPEND objects $<TARGET_OBJECTS:pliant_${folder}>)
  if(TARGET pliant_${folder}_once)
    list(APPEND objects $<TARGET_OBJECTS:pliant_${folder}_once>)
  endif()
endforeach()
set(pliant_needs TBB::tbb fmt::fmt ZLIB::ZLIB METIS::METIS PkgConfig::HWY PkgConfig::OPENBLAS PkgConfig::TOMLPLUSPLUS)
if(PLIANT_CHOLMOD)
  list(APPEND pliant_needs ${CHOLMOD_LIBRARY})
endif()
if(PLIANT_MUMPS)
  list(APPEND pliant_needs MUMPS::MUMPS)
endif()

# pliant::pliant, the C++ library: static, or shared with BUILD_SHARED_LIBS.
add_library(pliant_library ${objects})
add_library(pliant::pliant ALIAS pliant_library)
target_include_directories(pliant_library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(pliant_library INTERFACE cxx_std_20)
target_link_libraries(pliant_library PUBLIC Eigen3::Eigen PRIVATE ${pliant_needs})
# Our vectors are Eigen's: programs compiled for AVX must not allocate them in another way than the library frees them.
if(NOT PLIANT_SANITIZE)
  target_compile_definitions(pliant_library INTERFACE EIGEN_MAX_ALIGN_BYTES=16)
endif()
set_target_properties(pliant_library PROPERTIES OUTPUT_NAME pliant EXPORT_NAME pliant LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# pliant::c, the C library of pliant.h: always shared, everything but its functions hidden inside. Its number changes with
# its binary interface alone, not with the version.
set(PLIANT_C_ABI 0)
add_library(pliant_c_library SHARED $<TARGET_OBJECTS:pliant_c> ${objects})
add_library(pliant::c ALIAS pliant_c_library)
target_include_directories(pliant_c_library INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(pliant_c_library PRIVATE ${pliant_needs})
target_link_options(pliant_c_library PRIVATE -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/c/exports.map
                    -Wl,--no-undefined -Wl,--gc-sections)
set_target_properties(pliant_c_library PROPERTIES OUTPUT_NAME pliant_c EXPORT_NAME c LINKER_LANGUAGE CXX
  LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/c/exports.map VERSION ${PLIANT_C_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH}
  SOVERSION ${PLIANT_C_ABI})
