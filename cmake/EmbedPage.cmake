# Builds the viewer's page with npm, as far as MODE allows, and writes OUTPUT: a C++ source that holds the files of
# viewer/dist as they are. Run as a script: cmake -DSOURCE=viewer -DOUTPUT=page.cpp -DMODE=AUTO -DNPM=npm -P EmbedPage.cmake
#
# The engine never depends on Node: without npm, or where it fails in mode AUTO (no network for `npm ci`), whatever
# viewer/dist holds is taken, and `pliant view` serves a plain page when that is nothing.
function(build_page)
  # npm leaves its own copy of the lock file: dependencies are fetched again only when that is older.
  if("${SOURCE}/package-lock.json" IS_NEWER_THAN "${SOURCE}/node_modules/.package-lock.json")
    execute_process(COMMAND ${NPM} ci --no-audit --no-fund WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed
                    OUTPUT_VARIABLE said ERROR_VARIABLE said)
  endif()
  if(NOT failed)
    execute_process(COMMAND ${NPM} run --silent build WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed
                    OUTPUT_VARIABLE said ERROR_VARIABLE said)
  endif()
  if(failed AND MODE STREQUAL "ON")
    message(FATAL_ERROR "the viewer's page could not be built (PLIANT_VIEWER=ON):\n${said}")
  elseif(failed)
    message(STATUS "the viewer's page could not be built; the program does without it (PLIANT_VIEWER=ON shows why)")
  endif()
endfunction()

if(NOT MODE STREQUAL "OFF" AND NPM AND EXISTS "${SOURCE}/package.json")
  build_page()
endif()

set(symbols "")
set(table "")
set(number 0)
if(EXISTS "${SOURCE}/dist/index.html")
  file(GLOB files RELATIVE ${SOURCE}/dist ${SOURCE}/dist/*)
  foreach(name ${files})
    if(IS_DIRECTORY "${SOURCE}/dist/${name}" OR name MATCHES "\\.map$")
      continue()
    endif()
    file(SHA256 "${SOURCE}/dist/${name}" hash)  # so that this source changes when the file does
    string(APPEND symbols "// ${name} ${hash}\nasm(\".section .rodata\\n\"\n"
      "    \".global pliant_page_${number}\\npliant_page_${number}:\\n.incbin \\\"${SOURCE}/dist/${name}\\\"\\n\"\n"
      "    \".global pliant_page_${number}_end\\npliant_page_${number}_end:\\n.byte 0\\n.previous\\n\");\n"
      "extern \"C\" const char pliant_page_${number}[], pliant_page_${number}_end[];\n")
    string(APPEND table "    {\"${name}\", pliant_page_${number}, pliant_page_${number}_end},\n")
    math(EXPR number "${number} + 1")
  endforeach()
endif()
string(CONCAT text "// Written by cmake/EmbedPage.cmake: the viewer's page.\n#include \"pliant/view/page.hpp\"\n\n" "${symbols}"
  "\nnamespace pliant::view {\nconst EmbeddedFile kEmbeddedPage[] = {\n" "${table}" "    {\"\", nullptr, nullptr},\n};\n}\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
