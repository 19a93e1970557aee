# Writes pliant_commit.hpp with the commit of the tree, only when it changed. Run at every build with
# SOURCE and OUTPUT set.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty=+ --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR commit STREQUAL "")
  set(commit unknown)
endif()
set(content "#pragma once\n#define PLIANT_COMMIT \"${commit}\"\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} existing)
endif()
if(NOT "${existing}" STREQUAL "${content}")
  file(WRITE ${OUTPUT} "${content}")
endif()
