# Toolchain of `make site`: compiles to WebAssembly for the system interface WASI. Clang, WASI's C library and the
# sources of libc++ are those that scripts/setup-browser has unpacked.
set(HEED_BROWSER_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/browser-root)
cmake_path(NORMAL_PATH HEED_BROWSER_ROOT)
set(zig ${HEED_BROWSER_ROOT}/zig)
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER ${HEED_BROWSER_ROOT}/bin/clang)
set(CMAKE_CXX_COMPILER ${HEED_BROWSER_ROOT}/bin/clang++)
set(CMAKE_AR ${HEED_BROWSER_ROOT}/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${HEED_BROWSER_ROOT}/bin/ranlib CACHE FILEPATH "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)

# What WebAssembly has in every browser since 2023, vectors and exceptions among them.
string(JOIN " " common -nostdinc "-isystem \"${zig}/lib/include\"" "-isystem \"${zig}/lib/libc/include/wasm-wasi-musl\""
       "-isystem \"${zig}/lib/libc/include/generic-musl\"" -mllvm -wasm-enable-eh -mllvm -wasm-use-legacy-eh=true
       -fwasm-exceptions -mexception-handling -msimd128 -mbulk-memory -msign-ext -mnontrapping-fptoint
       -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_GETPID)
# The settings of libc++, which its own build would write to a header.
string(JOIN " " libcxx -nostdinc++ "-isystem \"${zig}/lib/libcxx/include\"" "-isystem \"${zig}/lib/libcxxabi/include\""
       -D_LIBCPP_ABI_VERSION=1 -D_LIBCPP_ABI_NAMESPACE=__1 -D_LIBCPP_HAS_THREADS=1 -D_LIBCPP_HAS_THREAD_API_PTHREAD=1
       -D_LIBCPP_HAS_MONOTONIC_CLOCK=1 -D_LIBCPP_HAS_TERMINAL=1 -D_LIBCPP_HAS_MUSL_LIBC=1
       -D_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS -D_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS
       -D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0 -D_LIBCPP_HAS_FILESYSTEM=1 -D_LIBCPP_HAS_RANDOM_DEVICE=1
       -D_LIBCPP_HAS_LOCALIZATION=1 -D_LIBCPP_HAS_UNICODE=1 -D_LIBCPP_HAS_WIDE_CHARACTERS=1 -D_LIBCPP_PSTL_BACKEND_SERIAL
       -D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE
       -D_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE)
set(CMAKE_C_FLAGS_INIT "${common}")
set(CMAKE_CXX_FLAGS_INIT "${libcxx} ${common}")
# The C library is built and linked by this Clang's own driver; a module without main().
set(CMAKE_CXX_LINK_EXECUTABLE "\"${HEED_BROWSER_ROOT}/bin/link\" <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
