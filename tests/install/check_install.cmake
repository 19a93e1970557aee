# Installs the build's library below a folder of its own, builds the examples against that and nothing else, and runs them.
# cmake -DBUILD=... -DSOURCE=... -DWORK=... -P check_install.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(failed)
    message(FATAL_ERROR "failed: ${ARGN}\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component dev)
# Only public headers: none of the vector code's, nothing of files and pictures.
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix/include ${WORK}/prefix/include/*)
foreach(header ${headers})
  if(header MATCHES "-inl\\.hpp$|^pliant/(io|view|render)/" OR NOT header MATCHES "^pliant/")
    message(FATAL_ERROR "${header} is installed and should not be")
  endif()
endforeach()
list(LENGTH headers count)
if(count GREATER 80)
  message(FATAL_ERROR "${count} public headers: pliant.hpp reaches more than it should")
endif()

run(${CMAKE_COMMAND} -S ${SOURCE}/examples -B ${WORK}/examples -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0)
run(${CMAKE_COMMAND} --build ${WORK}/examples)
run(${WORK}/examples/embed/embed)
if(NOT said MATCHES "2\\.00 s: lowest point at -0\\.[0-9]+ m")
  message(FATAL_ERROR "embed says:\n${said}")
endif()
foreach(example custom_energy custom_law custom_solver)
  run(${WORK}/examples/${example}/${example})
endforeach()
run(${WORK}/examples/game_loop/game_loop 1)
run(${WORK}/examples/c/jelly)
message(STATUS "${said}")
# The wrong version is refused, and pkg-config finds the library where it is.
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${WORK}/prefix/lib/pkgconfig pkg-config --libs pliant_c
                RESULT_VARIABLE failed OUTPUT_VARIABLE said)
if(failed OR NOT said MATCHES "-lpliant_c")
  message(FATAL_ERROR "pkg-config says: ${said}")
endif()

run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install/subproject -B ${WORK}/subproject -G Ninja -DPLIANT_SOURCE=${SOURCE})
run(${CMAKE_COMMAND} --build ${WORK}/subproject --target embedding -- -n)
