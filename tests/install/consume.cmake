# Installs BUILD, and uses it from the project CONSUMER: found by find_package, then by pkg-config.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix) # an installation can be moved

run(${WORK}/prefix/bin/heed --help)

# Pictures are a library of their own, which the command finds and which libheed does not link.
run(${WORK}/prefix/bin/heed attend "Der Hund." --output ${WORK}/attention.svg)
file(GLOB_RECURSE library ${WORK}/prefix/libheed.so)
execute_process(COMMAND ldd ${library} OUTPUT_VARIABLE linked COMMAND_ERROR_IS_FATAL ANY)
if(linked MATCHES "libcairo|libpango|libX11")
  message(FATAL_ERROR "libheed links libraries for pictures:\n${linked}")
endif()

run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer ${VERSION})

# The consumer does notice a library that is not the expected one.
execute_process(COMMAND ${WORK}/build/consumer 0.0.0 RESULT_VARIABLE status ERROR_QUIET)
if(status EQUAL 0)
  message(FATAL_ERROR "the consumer accepted version 0.0.0, so its success above says nothing")
endif()

file(GLOB_RECURSE description ${WORK}/prefix/heed.pc)
get_filename_component(description_folder ${description} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${description_folder})
execute_process(COMMAND pkg-config --cflags --libs heed OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
# The flags name the folder of the library at run time, too.
unset(ENV{LD_LIBRARY_PATH})
run(${COMPILER} -std=c++20 ${CONSUMER}/main.cpp -o ${WORK}/by-pkg-config ${flags})
run(${WORK}/by-pkg-config ${VERSION})
