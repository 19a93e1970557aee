# Writes OUTPUT: a C++ source that holds the .json files of the folder SOURCE as the list of texts
# pliant::experiments::NAME, which a null pointer ends. Run as a script:
#   cmake -DSOURCE=experiments/claims -DNAME=kEmbeddedClaims -DOUTPUT=claims_data.cpp -P EmbedTexts.cmake
file(GLOB_RECURSE files ${SOURCE}/*.json)
string(CONCAT text "// Written by cmake/EmbedTexts.cmake.\n"
  "namespace pliant::experiments {\nextern const char* const ${NAME}[];\nconst char* const ${NAME}[] = {\n")
foreach(file ${files})
  file(READ ${file} content)
  string(APPEND text "R\"text(${content})text\",\n")
endforeach()
file(WRITE ${OUTPUT} "${text}nullptr};\n}\n")
