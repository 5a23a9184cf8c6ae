# In place of HeedDependencies.cmake for browsers (browser.cmake): libraries are compiled from their sources, and what a
# browser cannot have is left out. docs/browser.md says what that is.
set(HEED_BROWSER ON)
set(HEED_PRECOMPILED_HEADERS OFF)
set(root ${HEED_BROWSER_ROOT})
set(wasi ${CMAKE_SOURCE_DIR}/src/browser/wasi)
enable_language(C)
include_directories(SYSTEM ${root}/headers)
add_compile_definitions(FMT_HEADER_ONLY U_STATIC_IMPLEMENTATION ONIG_STATIC)

# A module of few megabytes: what takes no time is compiled for its size.
set(HEED_OPTIMIZE_AS-Og -Os)
set(HEED_OPTIMIZE_AS-O1 -O2)

# libc++ with threads, which a module without shared memory never starts, and exceptions.
file(GLOB libcxx ${root}/zig/lib/libcxx/src/*.cpp ${root}/zig/lib/libcxx/src/filesystem/*.cpp
     ${root}/zig/lib/libcxx/src/ryu/*.cpp)
list(FILTER libcxx EXCLUDE REGEX "/int128_builtins.cpp$")
file(GLOB libcxxabi ${root}/zig/lib/libcxxabi/src/*.cpp)
list(FILTER libcxxabi EXCLUDE REGEX "/cxa_noexception.cpp$")
add_library(browser_libcxx STATIC ${libcxx} ${libcxxabi} ${root}/zig/lib/libunwind/src/Unwind-wasm.c)
set_source_files_properties(${root}/zig/lib/libunwind/src/Unwind-wasm.c PROPERTIES COMPILE_OPTIONS -fdeclspec)
target_include_directories(browser_libcxx PRIVATE ${root}/zig/lib/libcxx/src ${root}/zig/lib/libcxx
                           ${root}/zig/lib/libcxxabi/src ${root}/zig/lib/libunwind/include
                           ${root}/zig/lib/libunwind/src ${root}/zig/lib/libcxx/libc)
target_compile_definitions(browser_libcxx PRIVATE _LIBCPP_BUILDING_LIBRARY _LIBCXXABI_BUILDING_LIBRARY
                           LIBCXX_BUILDING_LIBCXXABI _LIBUNWIND_HAS_NO_THREADS _LIBCXXABI_NON_DEMANGLING_TERMINATE)
set_target_properties(browser_libcxx PROPERTIES CXX_STANDARD 23)
target_compile_options(browser_libcxx PRIVATE -Os -w -include ${wasi}/missing_posix.h)

# ICU: characters, normalization, letter case, sentence boundaries, regular expressions. Its data is part of the module.
file(GLOB icu ${root}/icu/source/common/*.cpp)
file(GLOB icu_expressions ${root}/icu/source/i18n/reg*.cpp ${root}/icu/source/i18n/re[mp]*.cpp
     ${root}/icu/source/i18n/ucln_in.cpp)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/icu_data.c CONTENT
     "_Alignas(16) const unsigned char icudt72_dat[] = {\n#embed \"@root@/icudt72l.dat\"\n};\n" @ONLY)
add_library(browser_icu STATIC ${icu} ${icu_expressions} ${CMAKE_BINARY_DIR}/icu_data.c)
target_include_directories(browser_icu SYSTEM PUBLIC ${root}/icu/source/common ${root}/icu/source/i18n)
target_compile_definitions(browser_icu PRIVATE U_COMMON_IMPLEMENTATION U_I18N_IMPLEMENTATION U_PLATFORM_HAS_WIN32_API=0
                           U_HAVE_TZSET=0 U_HAVE_TIMEZONE=0 U_HAVE_TZNAME=0 U_TIMEZONE= U_ENABLE_DYLOAD=0 U_HAVE_MMAP=0
                           UCONFIG_NO_FILE_IO=1 U_HAVE_STD_ATOMICS=1 U_CHECK_DYLOAD=0 UCONFIG_NO_LEGACY_CONVERSION=1)
target_compile_options(browser_icu PRIVATE -Os -w $<$<COMPILE_LANGUAGE:CXX>:-std=c++17> $<$<COMPILE_LANGUAGE:C>:-std=gnu23>)
set_source_files_properties(${root}/icu/source/common/putil.cpp PROPERTIES COMPILE_OPTIONS "-UU_TIMEZONE;-DU_TIMEZONE=0")
target_compile_definitions(browser_icu PUBLIC UCONFIG_NO_LEGACY_CONVERSION=1)

file(GLOB oniguruma ${root}/oniguruma/src/*.c)
list(FILTER oniguruma EXCLUDE REGEX "/(mktable|regposix|regposerr|unicode_egcb_data|unicode_wb_data|unicode_property_data|unicode_property_data_posix|unicode_fold_data)\\.c$")
add_library(browser_oniguruma STATIC ${oniguruma} ${root}/oniguruma/src/unicode_fold_data.c)
file(WRITE ${CMAKE_BINARY_DIR}/oniguruma/config.h
     "#define HAVE_ALLOCA 1\n#define HAVE_ALLOCA_H 1\n#define HAVE_STDINT_H 1\n#define HAVE_INTTYPES_H 1\n"
     "#define HAVE_UNISTD_H 1\n#define SIZEOF_INT 4\n#define SIZEOF_LONG 4\n#define SIZEOF_LONG_LONG 8\n"
     "#define SIZEOF_VOIDP 4\n#define HAVE_SYS_TYPES_H 1\n#define HAVE_SYS_TIME_H 1\n")
target_include_directories(browser_oniguruma PRIVATE ${CMAKE_BINARY_DIR}/oniguruma)
target_compile_definitions(browser_oniguruma PRIVATE HAVE_CONFIG_H)
target_include_directories(browser_oniguruma SYSTEM PUBLIC ${root}/oniguruma/src)
target_compile_options(browser_oniguruma PRIVATE -Os -w)

# zlib's CRC-32, for weights in zip files.
add_library(browser_zlib STATIC ${root}/zlib/crc32.c)
target_include_directories(browser_zlib SYSTEM PUBLIC ${root}/zlib)
target_compile_options(browser_zlib PRIVATE -O2 -w)

# What WASI lacks, for the files of the folders that use it. Kernels are those for SIMD128 only: what cannot run it
# cannot load the module.
add_library(browser_wasi INTERFACE)
target_include_directories(browser_wasi SYSTEM INTERFACE ${wasi}/include)
target_compile_options(browser_wasi INTERFACE -include ${wasi}/missing_posix.h)
target_compile_definitions(browser_wasi INTERFACE HWY_COMPILE_ONLY_STATIC=1)
# Warnings are those of the native builds; this compiler has others, such as of 64 bits that become 32.
target_compile_options(browser_wasi INTERFACE -w)

set(HEED_LEFT_OUT_kernels gemm/gemm_onednn.cc)
set(HEED_REPLACEMENTS_kernels ${wasi}/kernels/gemm_portable.cc)
set(HEED_LEFT_OUT_text sentences/language_id.cc training/sentencepiece_trainer.cc)
set(HEED_REPLACEMENTS_text ${wasi}/text/unknown_language.cc)
set(HEED_LEFT_OUT_translate documents/html_.* documents/markdown_document.cc documents/markdown_html.cc
    documents/markdown_labels.cc documents/markdown_link.cc documents/markdown_text.cc)
set(HEED_REPLACEMENTS_translate ${wasi}/translate/no_documents.cc)
set(HEED_LEFT_OUT_search shared_search.cc)
set(HEED_REPLACEMENTS_search ${wasi}/search/immediate_search.cc)
set(HEED_LEFT_OUT_inspect draw/picture_backend.cc)
set(HEED_REPLACEMENTS_inspect ${wasi}/inspect/no_pictures.cc)
set(HEED_LEFT_OUT_browser wasi/.*)
set(HEED_LEFT_OUT_serve admission.cc server.cc request_queue.cc sandbox.cc http/access_log.cc http/api_keys.cc http/http_connection.*
    http/http_reply.cc http/http_server.cc http/log_writer.cc http/rate_limit.cc http/response_stream.cc routes/page_files.cc)

set(HEED_REPLACEMENTS_base ${wasi}/base/missing_posix.cc)
set(HEED_LINK_base browser_wasi)
set(HEED_LINK_io browser_zlib)
set(HEED_LINK_text browser_icu browser_oniguruma)
set(HEED_LINK_metrics browser_icu)
set(HEED_LINK_translate browser_icu)
set(HEED_LINK_inspect browser_icu)

# heed.wasm: src/browser/module with all folders, as a module that is called and has no main().
function(heed_browser_module)
  add_executable(heed_module ${CMAKE_SOURCE_DIR}/src/browser/main.cc)
  set_target_properties(heed_module PROPERTIES OUTPUT_NAME heed SUFFIX .wasm)
  heed_see_folders(heed_module browser serve inspect tasks translate search metrics models nn io ops autograd kernels tensor text base)
  target_link_libraries(heed_module PRIVATE heed_browser browser_libcxx)
endfunction()
