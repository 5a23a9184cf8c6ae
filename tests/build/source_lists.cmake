# Lists of sources are chosen alike in a folder whose name means something else in a regular expression, and a pattern of
# files to leave out has to match one.
#
#   cmake -D SOURCE=FOLDER -P source_lists.cmake
cmake_minimum_required(VERSION 3.25)
set(CMAKE_SOURCE_DIR ${SOURCE})
include(${SOURCE}/cmake/HeedTargets.cmake)

function(expect_equal what value expected)
  if(NOT "${value}" STREQUAL "${expected}")
    message(FATAL_ERROR "${what}: '${value}', not '${expected}'")
  endif()
endfunction()

set(folder "/tmp/c++ (1)/[src]")
set(files ${folder}/one.cc ${folder}/two.cc ${folder}/in/one.cc)
heed_files_in(found ${folder} ${files})
expect_equal("files of the folder" "${found}" "${folder}/one.cc;${folder}/two.cc")
heed_files_in(found ${folder}/in ${files})
expect_equal("files of the inner folder" "${found}" "${folder}/in/one.cc")

heed_leave_out(files ${folder} one.cc)
expect_equal("without a file" "${files}" "${folder}/two.cc;${folder}/in/one.cc")
heed_leave_out(files ${folder} in/.*)
expect_equal("without a folder" "${files}" "${folder}/two.cc")

if(MOVED) # the negative control, which fails
  heed_leave_out(files ${folder} gone.cc)
endif()

# The parser is not among the sources that are compiled for the compiler's time.
file(GLOB_RECURSE all ${SOURCE}/src/base/*.cc)
heed_json_sources(found ${all})
if(NOT found OR HEED_JSON_PARSER IN_LIST found)
  message(FATAL_ERROR "sources with JSON: '${found}'")
endif()
