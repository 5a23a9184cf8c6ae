# Functions that create targets from the folders of src/.

# The level of optimisation for each that a folder asks for (OPTIMIZE); a system may have others.
foreach(level -Og -O1 -O2)
  if(NOT DEFINED HEED_OPTIMIZE_AS${level})
    set(HEED_OPTIMIZE_AS${level} ${level})
  endif()
endforeach()
# GCC 13 and later use the precompiled headers of -O3 only with the same settings of these, which -O2 turns on, too.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13
   AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  foreach(level -Og -O1)
    list(APPEND HEED_OPTIMIZE_AS${level} -munroll-only-small-loops -mvzeroupper)
  endforeach()
endif()

function(heed_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  # No implicit fused multiply-add, so that scalar results are the same on all processors. Kernels use it explicitly.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)")
    target_compile_options(${target} PRIVATE -ffp-contract=off)
  endif()
  # The compiler frees memory only beyond 600 MB (in kB), not 128: 10 to 15% less time for large files and groups.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=600000)
  endif()
  if(HEED_WARNINGS_AS_ERRORS AND NOT HEED_SANITIZE) # with sanitizers, GCC has false warnings
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(HEED_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HEED_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
    # The address sanitizer's dlopen() finds libheed_pictures.so by the program's RPATH, not by a RUNPATH.
    target_link_options(${target} PUBLIC -fsanitize=${HEED_SANITIZE} -Wl,--disable-new-dtags)
  endif()
endfunction()

# heed_see_folders(TARGET FOLDER...)
# Lets a target include the public headers and those of the named folders. The include path of a folder is
# build/arrows/NAME, which contains a symbolic link NAME -> src/NAME, so that #include "NAME/x.h" works only in
# targets that name the folder. Always PRIVATE: permissions are not inherited.
function(heed_see_folders target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  foreach(folder ${ARGN})
    target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/arrows/${folder})
  endforeach()
endfunction()

# heed_precompile_headers(TARGET [HEADER...])
# Precompiles system headers that most files include. The first library target and the first test target (with the
# additional HEADERs) build them; the others reuse them. Files still include what they use; builds with Clang, where
# this is off, verify it. Headers of Heed are excluded, since a change would recompile everything.
function(heed_precompile_headers target)
  if(NOT HEED_PRECOMPILED_HEADERS OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  string(JOIN " " kind first with ${ARGN})
  get_property(first GLOBAL PROPERTY "HEED_PRECOMPILED ${kind}")
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <cstdio> <filesystem> <functional>
                                                <limits> <map> <memory> <numeric> <optional> <span> <string>
                                                <string_view> <unordered_map> <utility> <vector> <fmt/format.h> ${ARGN})
    set_property(GLOBAL PROPERTY "HEED_PRECOMPILED ${kind}" ${target})
  endif()
endfunction()

# heed_group_sources(LIST NAME [SIZE files] [KERNELS])
# Replaces the files in LIST by build/groups/NAME_1.cc, which includes the first SIZE (20) of them, and so on: headers
# and templates are compiled once per group. Names in anonymous namespaces must be distinct within a group.
# KERNELS: the files are compiled for each instruction set (src/kernels/simd/simd.h). Highway includes the group again
# for each of them, instead of each file; its name is set again at the end, since the files set their own.
# Paths are relative to build/groups/, so that a group is the same text in every build folder and clone (ccache).
function(heed_group_sources list name)
  if(NOT HEED_GROUPED_SOURCES)
    return()
  endif()
  cmake_parse_arguments(ARG "KERNELS" "SIZE" "" ${ARGN})
  if(NOT ARG_SIZE)
    set(ARG_SIZE 20)
  endif()
  set(left ${${list}})
  set(groups)
  set(number 0)
  file(REAL_PATH ${CMAKE_BINARY_DIR} real_build) # of a link, where ../.. leads
  while(left)
    math(EXPR number "${number} + 1")
    set(path ${CMAKE_BINARY_DIR}/groups/${name}_${number}.cc)
    list(SUBLIST left 0 ${ARG_SIZE} group)
    list(REMOVE_ITEM left ${group})
    set(includes)
    foreach(source ${group})
      file(RELATIVE_PATH relative ${real_build}/groups ${source})
      string(APPEND includes "#include \"${relative}\"\n")
    endforeach()
    if(ARG_KERNELS)
      set(target "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"${name}_${number}.cc\"\n")
      string(CONCAT includes "${target}#include \"hwy/foreach_target.h\"\n" "${includes}" "${target}")
    endif()
    file(CONFIGURE OUTPUT ${path} CONTENT "${includes}" @ONLY)
    list(APPEND groups ${path})
  endwhile()
  set(${list} ${groups} PARENT_SCOPE)
endfunction()

# heed_json_sources(RESULT SOURCE...)
# Selects the files that read or write JSON. Optimising the templates of the JSON library in them takes long and has
# no benefit, since they only convert settings; the parser is in HEED_JSON_PARSER, which is left out.
set(HEED_JSON_PARSER ${CMAKE_SOURCE_DIR}/src/base/text/json_text.cc)
if(NOT EXISTS ${HEED_JSON_PARSER})
  message(FATAL_ERROR "The JSON parser is no longer in ${HEED_JSON_PARSER}: say where it is, or it is not optimised")
endif()
function(heed_json_sources result)
  set(found)
  foreach(source ${ARGN})
    file(STRINGS ${source} json REGEX "^#include <nlohmann/json.hpp>" LIMIT_COUNT 1)
    if(json AND NOT source STREQUAL HEED_JSON_PARSER)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# heed_kernel_sources(RESULT SOURCE...)
# Selects the files that are compiled for each instruction set, without those that have compile options of their own.
function(heed_kernel_sources result)
  set(found)
  foreach(source ${ARGN})
    file(STRINGS ${source} kernel REGEX "^#include \"hwy/foreach_target.h\"" LIMIT_COUNT 1)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(kernel AND NOT options)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# heed_leave_out(LIST FOLDER PATTERN...)
# Removes the files from LIST whose paths in FOLDER match a regular expression. Every one has to match a file. The path
# of FOLDER itself is no part of an expression, since it may have characters that mean something there.
function(heed_leave_out list folder)
  set(left ${${list}})
  foreach(pattern ${ARGN})
    set(kept)
    foreach(source ${left})
      file(RELATIVE_PATH path ${folder} ${source})
      if(NOT path MATCHES "^${pattern}$")
        list(APPEND kept ${source})
      endif()
    endforeach()
    if("${kept}" STREQUAL "${left}")
      message(FATAL_ERROR "No file of ${folder} matches '${pattern}', which is to be left out: has it moved?")
    endif()
    set(left ${kept})
  endforeach()
  set(${list} ${left} PARENT_SCOPE)
endfunction()

# heed_files_in(RESULT FOLDER SOURCE...): the files that lie in FOLDER itself.
function(heed_files_in result folder)
  set(found)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH parent)
    if(parent STREQUAL folder)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# heed_folder(NAME [OPTIMIZE LEVEL] [GROUPED] [MAY_INCLUDE FOLDER...])
# Creates the static library heed_NAME from the *.cc of src/NAME and of the folders in it, and collects the *_test.cc.
# OPTIMIZE: the level in a release build instead of -O3: -Og for folders without time-critical loops, which takes the
# compiler a third less time than -O2.
# GROUPED: compile the files of each folder in groups, not only those that read or write JSON and kernels.
# Folders are declared in order, so that dependencies cannot be circular.
function(heed_folder name)
  cmake_parse_arguments(ARG "GROUPED" "OPTIMIZE" "MAY_INCLUDE" ${ARGN})
  foreach(other ${ARG_MAY_INCLUDE})
    if(NOT TARGET heed_${other})
      message(FATAL_ERROR "Folder '${name}' may include '${other}', so '${other}' has to be declared before it")
    endif()
  endforeach()
  set(folder ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$") # of the command: heed_command
  heed_leave_out(sources ${folder} ${HEED_LEFT_OUT_${name}}) # a system may have others in their place
  list(APPEND sources ${HEED_REPLACEMENTS_${name}})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/arrows/${name})
  file(CREATE_LINK ${folder} ${CMAKE_BINARY_DIR}/arrows/${name}/${name} SYMBOLIC)
  set(target heed_${name})
  if(sources)
    heed_compilation_units(units "${ARG_GROUPED}" ${sources})
    add_library(${target} STATIC ${units})
    set(scope PUBLIC)
    heed_compile_options(${target})
    heed_hardened_compilation(${target})
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${HEED_OPTIMIZE_AS${ARG_OPTIMIZE}}>")
    heed_see_folders(${target} ${name} ${ARG_MAY_INCLUDE})
    target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/groups) # HWY_TARGET_INCLUDE of groups of kernels
    heed_precompile_headers(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  list(TRANSFORM ARG_MAY_INCLUDE PREPEND heed_ OUTPUT_VARIABLE libraries)
  target_link_libraries(${target} ${scope} ${libraries} ${HEED_LINK_${name}})
  set_property(GLOBAL APPEND PROPERTY HEED_FOLDERS ${name})
  set_property(GLOBAL PROPERTY HEED_MAY_INCLUDE_${name} ${ARG_MAY_INCLUDE})
  set_property(GLOBAL PROPERTY HEED_TEST_SOURCES_${name} ${tests})
endfunction()

# heed_compilation_units(RESULT GROUPED SOURCE...)
# Groups the files of each folder by what they are compiled with: kernels for each instruction set; those that read or
# write JSON with -Og; and the others, if GROUPED.
function(heed_compilation_units result grouped)
  set(folders)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders ${folder})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(units)
  foreach(folder ${folders})
    heed_files_in(sources ${folder} ${ARGN})
    file(RELATIVE_PATH group ${CMAKE_SOURCE_DIR}/src ${folder})
    string(REPLACE "/" "_" group ${group})
    heed_kernel_sources(kernels ${sources})
    list(REMOVE_ITEM sources "" ${kernels})
    heed_group_sources(kernels ${group}_simd SIZE 7 KERNELS)
    heed_json_sources(json ${sources})
    list(REMOVE_ITEM sources "" ${json})
    heed_group_sources(json ${group}_json)
    set_property(SOURCE ${json} APPEND PROPERTY COMPILE_OPTIONS
                 "$<$<CONFIG:Release>:${HEED_OPTIMIZE_AS-Og}>")
    if(grouped)
      heed_group_sources(sources ${group})
    endif()
    list(APPEND units ${sources} ${json} ${kernels})
  endforeach()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

# heed_embed_web(FOLDER)
#
# Compiles the files of web/, the explorer page, into heed_FOLDER (src/inspect/explorer/web_files.h).
function(heed_embed_web folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*.html ${CMAKE_SOURCE_DIR}/web/*.css
       ${CMAKE_SOURCE_DIR}/web/*.js ${CMAKE_SOURCE_DIR}/web/*.svg)
  set(output ${CMAKE_BINARY_DIR}/web_files.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR}/web -D OUTPUT=${output} -P
            ${CMAKE_SOURCE_DIR}/cmake/embed-web.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed-web.cmake
    COMMENT "Embedding web/" VERBATIM)
  target_sources(heed_${folder} PRIVATE ${output})
endfunction()

# heed_loaded_library(TARGET): a library that is loaded at run time exports only symbols named heed_...
function(heed_loaded_library target)
  set(exports ${CMAKE_SOURCE_DIR}/cmake/loaded-library.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${exports})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
endfunction()

# Cairo and Pango with what is drawn by them, src/pictures, in a library of its own that src/inspect loads when the
# first picture is made.
function(heed_picture_library)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/pictures/*.cc)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/arrows/pictures)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/pictures ${CMAKE_BINARY_DIR}/arrows/pictures/pictures SYMBOLIC)
  add_library(heed_pictures MODULE ${sources})
  heed_compile_options(heed_pictures)
  heed_hardened_compilation(heed_pictures)
  heed_hardened_link(heed_pictures)
  target_compile_options(heed_pictures PRIVATE $<$<CONFIG:Release>:-Og>)
  heed_see_folders(heed_pictures pictures inspect base)
  target_link_libraries(heed_pictures PRIVATE heed_base ${HEED_LINK_pictures})
  heed_loaded_library(heed_pictures)
  install(TARGETS heed_pictures LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  add_dependencies(heed_inspect heed_pictures)
endfunction()

# src/mpi in a library for each MPI implementation that is installed: libheed_openmpi.so, libheed_mpich.so. Processes
# that mpirun has started load one of them (src/distributed/launch.h).
function(heed_mpi_libraries)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/arrows/mpi)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/mpi ${CMAKE_BINARY_DIR}/arrows/mpi/mpi SYMBOLIC)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/mpi/*.cc)
  heed_group_sources(sources mpi)
  foreach(implementation ${HEED_MPI_IMPLEMENTATIONS})
    set(target heed_${implementation})
    add_library(${target} MODULE ${sources})
    heed_compile_options(${target})
    heed_hardened_compilation(${target})
    heed_hardened_link(${target})
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
    heed_see_folders(${target} mpi distributed base)
    target_link_libraries(${target} PRIVATE heed_distributed heed_base ${HEED_LINK_${implementation}})
    heed_loaded_library(${target})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    add_dependencies(heed_train ${target})
  endforeach()
endfunction()

# The installed library: all folders except the server and the command line in one shared object.
function(heed_public_library)
  get_property(folders GLOBAL PROPERTY HEED_FOLDERS)
  add_library(heed SHARED)
  add_library(heed::heed ALIAS heed)
  foreach(name ${folders})
    get_target_property(type heed_${name} TYPE)
    if(NOT name MATCHES "^(serve|cli)$" AND type STREQUAL "STATIC_LIBRARY")
      target_sources(heed PRIVATE $<TARGET_OBJECTS:heed_${name}>)
      target_link_libraries(heed PRIVATE ${HEED_LINK_${name}})
    endif()
  endforeach()
  heed_hardened_link(heed)
  set_target_properties(heed PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(HEED_SANITIZE)
    target_link_options(heed PUBLIC -fsanitize=${HEED_SANITIZE})
  endif()
  target_include_directories(heed INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(heed INTERFACE cxx_std_20)
  install(TARGETS heed EXPORT heed-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY include/heed DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

  # Relocatable files for find_package(heed) and pkg-config.
  set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
  install(EXPORT heed-targets NAMESPACE heed:: DESTINATION ${package_folder})
  include(CMakePackageConfigHelpers)
  configure_package_config_file(cmake/heed-config.cmake.in ${CMAKE_BINARY_DIR}/heed-config.cmake
                                INSTALL_DESTINATION ${package_folder})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/heed-config-version.cmake COMPATIBILITY SameMajorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/heed-config.cmake ${CMAKE_BINARY_DIR}/heed-config-version.cmake
          DESTINATION ${package_folder})
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(cmake/heed.pc.in ${CMAKE_BINARY_DIR}/heed.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/heed.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# heed_bundled_models(RESULT): the directories of models/ in cmake/bundled-models.txt. A source distribution has none.
function(heed_bundled_models result)
  set(list ${CMAKE_SOURCE_DIR}/cmake/bundled-models.txt)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} names REGEX "^[^#]")
  set(found)
  foreach(name ${names})
    if(EXISTS ${CMAKE_SOURCE_DIR}/models/${name})
      list(APPEND found ${name})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# The command: build/bin/heed.
function(heed_command)
  add_executable(heed_bin ${CMAKE_SOURCE_DIR}/src/cli/main/main.cc)
  # The last place is that of the .deb, for libheed_pictures.so (scripts/make-packages).
  set_target_properties(heed_bin PROPERTIES OUTPUT_NAME heed INSTALL_RPATH "${CMAKE_INSTALL_RPATH};$ORIGIN/../lib/heed")
  heed_see_folders(heed_bin cli base)
  target_link_libraries(heed_bin PRIVATE heed_cli)
  heed_compile_options(heed_bin)
  heed_hardened_compilation(heed_bin)
  heed_hardened_link(heed_bin)
  install(TARGETS heed_bin RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  heed_bundled_models(models)
  foreach(name ${models})
    install(DIRECTORY models/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/heed/models)
  endforeach()
endfunction()

# The bill of materials and the licences of what is linked and shipped: build/heed.spdx.json, build/THIRD-PARTY-LICENSES.
function(heed_bill_of_materials)
  set(script ${CMAKE_SOURCE_DIR}/scripts/bill-of-materials)
  set(written ${CMAKE_BINARY_DIR}/heed.spdx.json ${CMAKE_BINARY_DIR}/THIRD-PARTY-LICENSES)
  set(sources ${script} ${CMAKE_SOURCE_DIR}/cmake/third-party.txt ${CMAKE_SOURCE_DIR}/cmake/bundled-models.txt)
  heed_bundled_models(models)
  foreach(name ${models})
    list(APPEND sources ${CMAKE_SOURCE_DIR}/models/${name}/README.md)
  endforeach()
  if(EXISTS /var/lib/dpkg/status) # which packages are installed, in which versions
    list(APPEND sources /var/lib/dpkg/status)
  endif()
  set(kinds)
  if(HEED_LIBRARY_LICENCES) # has the texts of all libraries that are no headers of this system (scripts/setup-manylinux)
    set(kinds headers wheel)
  endif()
  add_custom_command(
    OUTPUT ${written}
    COMMAND ${script} ${CMAKE_BINARY_DIR} ${PROJECT_VERSION} ${kinds}
    DEPENDS ${sources}
    COMMENT "Writing the bill of materials" VERBATIM)
  add_custom_target(heed_bill ALL DEPENDS ${written})
  add_dependencies(heed_bin heed_bill)
  install(FILES ${written} LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
endfunction()
