# One static library per folder of src/pliant, so that the layering holds at link time too.

add_library(pliant_flags INTERFACE)
target_compile_options(pliant_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  -Wunused -Wdouble-promotion -Wimplicit-fallthrough
  # Same bits in every build of the same machine: no contraction differences between a vector loop and its tail.
  -fno-math-errno -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC looks for memory to free again and again, for up to a tenth of its time; 100 MB a process spare that.
  target_compile_options(pliant_flags INTERFACE --param=ggc-min-expand=1000 --param=ggc-min-heapsize=1000000)
endif()
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
  if(PLIANT_SANITIZE MATCHES thread)
    target_compile_options(pliant_flags INTERFACE -Wno-tsan)  # Boost's fences, which it does not see
  endif()
  target_compile_definitions(pliant_flags INTERFACE HWY_COMPILE_ONLY_STATIC _GLIBCXX_ASSERTIONS)
  target_link_options(pliant_flags INTERFACE -fsanitize=${PLIANT_SANITIZE})
endif()

# Other people's headers that nearly every file reads, read and compiled once for all folders: reading them takes as long as
# compiling what is in four small files. Ours are not among them, so that a change to one compiles no more than what includes
# it. Files include what they use all the same: the strict and benchmark presets build without (CMAKE_DISABLE_PRECOMPILE_HEADERS).
# There is a set for each level of optimisation, as GCC stops with an internal error where the two differ.
set(pliant_common_headers <Eigen/Core> <Eigen/Geometry> <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <filesystem>
    <fstream> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view>
    <thread> <vector> <fmt/format.h> <fmt/ranges.h> <oneapi/tbb/blocked_range.h> <oneapi/tbb/parallel_for.h>)
set(pliant_unity_size 32)  # files compiled at a time, see pliant_unity

# pliant_headers(name [RUNS_ONCE] DEPS ... READS ...): the common headers and READS, for pliant_precompile to take.
function(pliant_headers name)
  cmake_parse_arguments(ARG "RUNS_ONCE" "" "DEPS;READS" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "// Nothing: the headers are what is compiled.\n")
  endif()
  add_library(pliant_${name} OBJECT ${source})
  target_link_libraries(pliant_${name} PRIVATE Eigen3::Eigen TBB::tbb fmt::fmt ${ARG_DEPS} pliant_flags)
  if(ARG_RUNS_ONCE)
    pliant_optimise_little(pliant_${name})
  endif()
  target_precompile_headers(pliant_${name} PRIVATE ${pliant_common_headers} ${ARG_READS})
endfunction()

function(pliant_precompile target headers)
  # GCC 12 warns of its own strings, vectors and sorts where it read them from such headers, or together with many files.
  if(PLIANT_UNITY OR NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    # Programs, too, are compiled as libraries are, which is what the headers are compiled for.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
    # What oneTBB defines for whoever links it, for those who do not, too.
    target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:TBB_USE_DEBUG>)
    target_precompile_headers(${target} REUSE_FROM pliant_${headers})
  endif()
endfunction()

# Small files that read the same large headers and instantiate the same templates, several at a time: less than half of the
# time. Names in the unnamed namespaces of such a target must differ. -DPLIANT_UNITY=OFF compiles them one by one, for those
# who work on them; so does the benchmark preset.
function(pliant_unity target headers)
  if(PLIANT_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${pliant_unity_size})
    # What a class hides in its file is in a header to the compiler then.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  pliant_precompile(${target} ${headers})
endfunction()

# The vectors of the best instruction set that Highway would choose on this machine, in bits; see pliant/math/simd_targets.hpp.
set(pliant_best_target)
if(PLIANT_THIS_MACHINE AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  if(flags MATCHES " avx512f " AND flags MATCHES " avx512dq " AND flags MATCHES " avx512bw " AND flags MATCHES " avx512vl ")
    set(pliant_best_target 512)
  elseif(flags MATCHES " avx2 " AND flags MATCHES " fma " AND flags MATCHES " bmi2 " AND flags MATCHES " f16c ")
    set(pliant_best_target 256)
  elseif(flags MATCHES " sse4_2 ")
    set(pliant_best_target 128)
  endif()
endif()
# Files of vector code, which are compiled several times as it is, once for each instruction set: by themselves.
function(pliant_vector_code)
  foreach(source ${ARGN})
    file(STRINGS ${source} targets REGEX "foreach_target" LIMIT_COUNT 1)
    if(targets)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      if(pliant_best_target)
        set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS PLIANT_BEST_TARGET=${pliant_best_target})
      endif()
    endif()
  endforeach()
endfunction()

# pliant_module(name [UNITY] [RUNS_ONCE] [ONCE regex] DEPS ...): library pliant_<name> from src/pliant/<name>/**.cpp. What runs
# once, the whole folder or the files that match the expression, is optimised little (-O1), which saves a third of its time
# (26.5 s against 17.1 s for the solvers' catalogues). Between -O2 and -O3 there is none to save.
function(pliant_module name)
  cmake_parse_arguments(ARG "UNITY;RUNS_ONCE" "ONCE" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.hpp)
  pliant_vector_code(${sources})
  if(ARG_ONCE)
    set(once ${sources})
    list(FILTER once INCLUDE REGEX ${ARG_ONCE})
    list(FILTER sources EXCLUDE REGEX ${ARG_ONCE})
    add_library(pliant_${name}_once OBJECT ${once})
    target_include_directories(pliant_${name}_once PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(pliant_${name}_once PUBLIC ${ARG_DEPS} PRIVATE pliant_flags)
    pliant_optimise_little(pliant_${name}_once)
    pliant_unity(pliant_${name}_once headers_once)
    list(APPEND headers $<TARGET_OBJECTS:pliant_${name}_once>)
  endif()
  if(sources)
    add_library(pliant_${name} STATIC ${sources} ${headers})
    target_include_directories(pliant_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(pliant_${name} PUBLIC ${ARG_DEPS} PRIVATE pliant_flags)
    set(precompiled headers)
    if(ARG_RUNS_ONCE)
      pliant_optimise_little(pliant_${name})
      set(precompiled headers_once)
    endif()
    if(ARG_UNITY)
      pliant_unity(pliant_${name} ${precompiled})
    else()
      pliant_precompile(pliant_${name} ${precompiled})
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

# pliant_test(name DEPS ...): test program test_<name> from tests/<name>/*.cpp, registered with ctest test by test.
function(pliant_test name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  pliant_vector_code(${sources})
  if(sources)
    add_executable(test_${name} ${sources})
    target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR})
    target_link_libraries(test_${name} PRIVATE ${ARG_DEPS} pliant_flags GTest::gtest_main)
    # Tests are compiled once and run for seconds: what they test is optimised, they need not be.
    pliant_optimise_little(test_${name})
    pliant_unity(test_${name} headers_of_tests)
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. PROPERTIES TIMEOUT 300)
  endif()
endfunction()
