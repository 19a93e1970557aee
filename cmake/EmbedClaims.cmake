# Writes OUTPUT: a C++ source that holds the files of SOURCE, the register of claims. Run as a script:
#   cmake -DSOURCE=experiments/claims -DOUTPUT=claims_data.cpp -P EmbedClaims.cmake
file(GLOB files ${SOURCE}/*.json)
string(CONCAT text "// Written by cmake/EmbedClaims.cmake: the files of experiments/claims.\n"
  "namespace pliant::experiments {\nextern const char* const kEmbeddedClaims[];\nconst char* const kEmbeddedClaims[] = {\n")
foreach(file ${files})
  file(READ ${file} content)
  string(APPEND text "R\"claims(${content})claims\",\n")
endforeach()
file(WRITE ${OUTPUT} "${text}nullptr};\n}\n")
