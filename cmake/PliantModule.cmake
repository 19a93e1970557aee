# One static library per folder of src/pliant, so that the layering holds at link time too.

add_library(pliant_flags INTERFACE)
target_compile_options(pliant_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  -Wunused -Wdouble-promotion -Wimplicit-fallthrough
  # Same bits in every build of the same machine: no contraction differences between a vector loop and its tail.
  -fno-math-errno -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(pliant_flags INTERFACE -Wno-unknown-warning-option)  # GCC's own are switched off below
endif()
if(PLIANT_WERROR)
  target_compile_options(pliant_flags INTERFACE -Werror)
endif()
if(PLIANT_SANITIZE)
  target_compile_options(pliant_flags INTERFACE -fsanitize=${PLIANT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # Left out as they double the time to compile Eigen and say little: the address sanitizer sees null pointers and sizes
    # of objects itself, and aligned vector loads trap when they are not.
    -fno-sanitize=null,object-size,alignment
    # GCC 12 takes libstdc++'s regex, and its own functions for AVX-512, for uninitialised when they are instrumented.
    -Wno-maybe-uninitialized -Wno-uninitialized
    # Vector code for one instruction set instead of four, which would take minutes to compile: that of this machine, which
    # is what dispatch would choose (without it, Highway's only static choice on x86-64 is emulation).
    -march=native)
  target_compile_definitions(pliant_flags INTERFACE HWY_COMPILE_ONLY_STATIC _GLIBCXX_ASSERTIONS)
  target_link_options(pliant_flags INTERFACE -fsanitize=${PLIANT_SANITIZE})
endif()

# Headers that nearly every file of a library or program reads, read and instantiated once: they are up to a half of the
# time of a file. Reading them takes as long as four small files, so that targets of fewer do without. Files include what
# they use all the same: the benchmark preset builds without any (CMAKE_DISABLE_PRECOMPILE_HEADERS).
set(pliant_common_headers <Eigen/Core> <algorithm> <array> <cmath> <functional> <map> <memory> <numeric> <optional> <span>
    <string> <vector>)
set(pliant_unity_size 8)  # files compiled at a time, see pliant_unity
# GCC 12 warns of its own strings, vectors and sorts where it read them from such a header, or together with many files.
function(pliant_precompile target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(LENGTH sources count)
  get_target_property(is_unity ${target} UNITY_BUILD)
  if(is_unity)
    math(EXPR count "${count} / ${pliant_unity_size}")
  endif()
  if(is_unity OR NOT count LESS 4)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                           -Wno-stringop-overread)
  endif()
  if(count LESS 4 OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  set(headers ${pliant_common_headers} ${ARGN})
  if(target MATCHES "^pliant_(base|settings)$")  # which do without Eigen
    list(REMOVE_ITEM headers <Eigen/Core>)
  endif()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# Small files that read the same large headers and instantiate the same templates, several at a time: less than half of the
# time. Names in the unnamed namespaces of such a target must differ. -DPLIANT_UNITY=OFF compiles them one by one, for those
# who work on them; so does the benchmark preset.
function(pliant_unity target)
  if(PLIANT_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${pliant_unity_size})
    # What a class hides in its file is in a header to the compiler then.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    # Vector code is compiled several times as it is, once for each instruction set.
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    foreach(source ${sources})
      file(STRINGS ${source} targets REGEX "foreach_target" LIMIT_COUNT 1)
      if(targets)
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endforeach()
  endif()
  pliant_precompile(${target} ${ARGN})
endfunction()

# pliant_module(name [UNITY] [RUNS_ONCE] [ONCE regex] DEPS ... READS ...): library pliant_<name> from src/pliant/<name>/**.cpp, which
# mostly read the headers READS. What runs once, the whole folder or the files that match the expression, is optimised little (-O1), which
# saves a third of its time (26.5 s against 17.1 s for the solvers' catalogues). Between -O2 and -O3 there is none to save.
function(pliant_module name)
  cmake_parse_arguments(ARG "UNITY;RUNS_ONCE" "ONCE" "DEPS;READS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.hpp)
  if(ARG_ONCE)
    set(once ${sources})
    list(FILTER once INCLUDE REGEX ${ARG_ONCE})
    list(FILTER sources EXCLUDE REGEX ${ARG_ONCE})
    add_library(pliant_${name}_once OBJECT ${once})
    target_include_directories(pliant_${name}_once PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(pliant_${name}_once PUBLIC ${ARG_DEPS} PRIVATE pliant_flags)
    pliant_optimise_little(pliant_${name}_once)
    pliant_unity(pliant_${name}_once ${ARG_READS})
    list(APPEND headers $<TARGET_OBJECTS:pliant_${name}_once>)
  endif()
  if(sources)
    add_library(pliant_${name} STATIC ${sources} ${headers})
    target_include_directories(pliant_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(pliant_${name} PUBLIC ${ARG_DEPS} PRIVATE pliant_flags)
    if(ARG_RUNS_ONCE)
      pliant_optimise_little(pliant_${name})
    endif()
    if(ARG_UNITY)
      pliant_unity(pliant_${name} ${ARG_READS})
    else()
      pliant_precompile(pliant_${name} ${ARG_READS})
    endif()
  else()
    add_library(pliant_${name} INTERFACE)
    target_include_directories(pliant_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(pliant_${name} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# Release builds only: others have their own level.
function(pliant_optimise_little target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# pliant_test(name DEPS ... READS ...): test program test_<name> from tests/<name>/*.cpp, registered with ctest test by test.
function(pliant_test name)
  cmake_parse_arguments(ARG "" "" "DEPS;READS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(sources)
    add_executable(test_${name} ${sources})
    target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR})
    target_link_libraries(test_${name} PRIVATE ${ARG_DEPS} pliant_flags GTest::gtest_main)
    # Tests are compiled once and run for seconds: what they test is optimised, they need not be.
    target_compile_options(test_${name} PRIVATE -O1)
    pliant_unity(test_${name} <gtest/gtest.h> ${ARG_READS})
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. PROPERTIES TIMEOUT 300)
  endif()
endfunction()
