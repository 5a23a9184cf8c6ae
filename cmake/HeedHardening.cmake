# What everything that is installed is compiled and linked with, against errors in memory and for builds that can be
# repeated. docs/reliability.md has the costs, and the test build.hardening looks for the effects in the binaries.
option(HEED_HARDENING "Compile and link with protection against errors in memory" ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX) # links programs with -pie, where CMAKE_POSITION_INDEPENDENT_CODE only compiles so

# heed_hardened_compilation(TARGET)
# Names of files in the code (__FILE__) begin in the source or build folder, so that they are the same in every clone.
# Then, but for browsers: checked C library functions (_FORTIFY_SOURCE, which needs optimisation; sanitizers have checks of
# their own), stack protector, and marks for indirect jumps on x86.
function(heed_hardened_compilation target)
  target_compile_options(${target} PRIVATE -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}/=)
  if(HEED_BROWSER OR NOT HEED_HARDENING)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fstack-protector-strong)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
    target_compile_options(${target} PRIVATE -fcf-protection=full)
  endif()
  if(NOT HEED_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
  endif()
endfunction()

# heed_hardened_link(TARGET)
# All symbols are resolved at the start, after which tables of addresses are read-only (full RELRO).
function(heed_hardened_link target)
  if(HEED_HARDENING)
    target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  endif()
endfunction()
