# One version everywhere: CITATION.cff has the number that CMakeLists.txt has, CHANGELOG.md knows it as a release with a date.
# cmake -DSOURCE=... -DVERSION=... -P check_version.cmake
file(READ ${SOURCE}/CITATION.cff citation)
file(READ ${SOURCE}/CHANGELOG.md changelog)
string(REPLACE "." "\\." pattern ${VERSION})
if(NOT citation MATCHES "\nversion: ${pattern}\n")
  message(FATAL_ERROR "CITATION.cff is not of version ${VERSION}")
endif()
if(NOT changelog MATCHES "\n## ${pattern} \\(20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]\\)\n")
  message(FATAL_ERROR "CHANGELOG.md has no release ${VERSION} with a date")
endif()
