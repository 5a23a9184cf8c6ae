# Writes the files of web/ as string literals into a C++ file, so that the command needs no files beside it:
#
#   cmake -D SOURCE=web -D OUTPUT=web_files.cc -P embed-web.cmake
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE paths RELATIVE ${SOURCE} ${SOURCE}/*.html ${SOURCE}/*.css ${SOURCE}/*.js ${SOURCE}/*.svg)
list(SORT paths)
set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(literal "heed")
file(WRITE ${OUTPUT}.new "// Generated from web/ by cmake/embed-web.cmake.\n#include \"inspect/explorer/web_files.h\"\n\n"
                         "namespace heed {\nnamespace {\n\nusing namespace std::string_view_literals;\n\nconstexpr WebFile kFiles[] = {\n")
foreach(path IN LISTS paths)
  file(READ ${SOURCE}/${path} content)
  string(LENGTH "${content}" length)
  # The maximum length of string literals that compilers must support.
  if(length GREATER 65000)
    message(FATAL_ERROR "web/${path} has ${length} characters: split it, a file may have 65,000")
  endif()
  string(FIND "${content}" ")${literal}\"" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "web/${path} contains )${literal}\", the end of the string literal that holds it")
  endif()
  string(REGEX MATCH "[a-z]+$" extension "${path}")
  file(APPEND ${OUTPUT}.new "    {\"${path}\", \"${type_${extension}}\", R\"${literal}(" "${content}" ")${literal}\"sv},\n")
endforeach()
file(APPEND ${OUTPUT}.new "};\n\n}  // namespace\n\nstd::span<const WebFile> web_files() {\n  return kFiles;\n}\n\n"
                          "}  // namespace heed\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
