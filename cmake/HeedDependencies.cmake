# The libraries that each folder links: HEED_LINK_<folder>. docs/dependencies.md has the reasons.
find_package(Threads REQUIRED)
# Some of the packages below set this flag. Set it everywhere, so that all folders can share precompiled headers.
set_property(TARGET Threads::Threads APPEND PROPERTY INTERFACE_COMPILE_OPTIONS -pthread)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(dnnl REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(PANGOCAIRO REQUIRED IMPORTED_TARGET pangocairo cairo-svg cairo-pdf)
pkg_check_modules(GUMBO REQUIRED IMPORTED_TARGET gumbo)
pkg_check_modules(MD4C REQUIRED IMPORTED_TARGET md4c)
pkg_check_modules(ONIGURUMA REQUIRED IMPORTED_TARGET oniguruma)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)

# CLD2 has neither a CMake package nor a .pc file. That of SentencePiece 0.2 (Debian 13, Ubuntu 24.04) requires the one
# of protobuf, which nothing installs.
find_path(HEED_CLD2_HEADERS cld2/public/compact_lang_det.h REQUIRED)
find_library(HEED_CLD2_LIBRARY cld2 REQUIRED)
find_path(HEED_SENTENCEPIECE_HEADERS sentencepiece_trainer.h REQUIRED)
find_library(HEED_SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)
find_library(HEED_SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train REQUIRED)

# MPI for training with several processes, if there is one: both if both are installed. Elsewhere than on Debian there
# may be no .pc file; then the MPI that CMake finds is taken for the implementation that its header says it is.
set(HEED_MPI_IMPLEMENTATIONS)
if(HEED_MPI)
  pkg_check_modules(OPENMPI IMPORTED_TARGET ompi-c)
  pkg_check_modules(MPICH IMPORTED_TARGET mpich)
  set(HEED_LINK_openmpi PkgConfig::OPENMPI)
  set(HEED_LINK_mpich PkgConfig::MPICH)
  if(OPENMPI_FOUND)
    list(APPEND HEED_MPI_IMPLEMENTATIONS openmpi)
  endif()
  if(MPICH_FOUND)
    list(APPEND HEED_MPI_IMPLEMENTATIONS mpich)
    # Its .pc file also names libraries that it is linked with itself, which Ubuntu's package does not install.
    list(FILTER MPICH_LINK_LIBRARIES INCLUDE REGEX "/libmpi(ch)?\\.[^/]*$")
    set_property(TARGET PkgConfig::MPICH PROPERTY INTERFACE_LINK_LIBRARIES ${MPICH_LINK_LIBRARIES})
  endif()
  if(NOT HEED_MPI_IMPLEMENTATIONS)
    find_package(MPI COMPONENTS CXX)
    if(MPI_CXX_FOUND)
      include(CheckCXXSymbolExists)
      set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
      check_cxx_symbol_exists(OPEN_MPI mpi.h HEED_MPI_IS_OPENMPI)
      set(implementation mpich) # or one with its binary interface
      if(HEED_MPI_IS_OPENMPI)
        set(implementation openmpi)
      endif()
      list(APPEND HEED_MPI_IMPLEMENTATIONS ${implementation})
      set(HEED_LINK_${implementation} MPI::MPI_CXX)
    endif()
  endif()
  message(STATUS "MPI: ${HEED_MPI_IMPLEMENTATIONS}")
endif()

# xxHash: the header alone.
find_path(HEED_XXHASH_HEADERS xxhash.h REQUIRED)
set(HEED_LINK_base fmt::fmt Threads::Threads nlohmann_json::nlohmann_json)
# Libraries that those in use need themselves are not needed directly, such as OpenCL by oneDNN; nor is Highway's, of
# which only headers are used, except for the checks of unoptimised builds.
add_link_options(-Wl,--as-needed)
set(HEED_LINK_kernels DNNL::dnnl PkgConfig::HWY)
# Only oneDNN starts OpenMP threads, by GCC's runtime, whatever the compiler; Heed itself is compiled without OpenMP.
if(DNNL_CPU_RUNTIME STREQUAL "OMP")
  list(APPEND HEED_LINK_kernels gomp)
endif()
# The kernels are compiled for SSE4, AVX2 and AVX-512, or NEON, and always for a scalar target without SIMD
# (HWY_SCALAR instead of HWY_EMU128).
set_property(TARGET PkgConfig::HWY APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS
             "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)"
             HWY_BROKEN_EMU128=1 HWY_COMPILE_ALL_ATTAINABLE=1)
# Fuzzers compute with tiny models alone, and the kernels take most of the time to compile: the scalar target suffices.
if(HEED_BUILD_FUZZ)
  set_property(TARGET PkgConfig::HWY APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS HWY_COMPILE_ONLY_SCALAR=1)
endif()
# Oniguruma has functions called as those of POSIX, regcomp() among them: the C library comes first, so that programs
# which call these get its own. From a static library, only what is still undefined is linked.
set(c_library_first -Wl,-lc)
if(ONIGURUMA_LINK_LIBRARIES MATCHES "\\.a$")
  set(c_library_first)
endif()
set(HEED_LINK_text ${c_library_first} ${HEED_SENTENCEPIECE_LIBRARY} ${HEED_SENTENCEPIECE_TRAIN_LIBRARY}
    PkgConfig::ONIGURUMA ${HEED_CLD2_LIBRARY} ICU::uc ICU::i18n nlohmann_json::nlohmann_json)
set(HEED_LINK_io nlohmann_json::nlohmann_json ZLIB::ZLIB)
set(HEED_LINK_models nlohmann_json::nlohmann_json)
set(HEED_LINK_data ICU::uc ZLIB::ZLIB PkgConfig::ZSTD)
set(HEED_LINK_metrics ICU::uc)
set(HEED_LINK_search nlohmann_json::nlohmann_json)
set(HEED_LINK_translate ICU::uc PkgConfig::GUMBO PkgConfig::MD4C)
set(HEED_LINK_tasks nlohmann_json::nlohmann_json)
set(HEED_LINK_distributed ${CMAKE_DL_LIBS})
set(HEED_LINK_inspect ICU::uc nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
set(HEED_LINK_pictures PkgConfig::PANGOCAIRO)
set(HEED_TEST_LINK_inspect PkgConfig::PANGOCAIRO) # reads back what was drawn
set(HEED_LINK_train nlohmann_json::nlohmann_json PkgConfig::TOMLPLUSPLUS)
# Boost.Beast and Boost.Asio: headers alone.
find_path(HEED_BEAST_HEADERS boost/beast/version.hpp REQUIRED)
set(HEED_LINK_serve nlohmann_json::nlohmann_json Threads::Threads)
if(HEED_SANITIZE MATCHES "thread") # it does not model atomic_thread_fence(); Asio's mutexes order its handlers
  add_library(heed_asio_without_fences INTERFACE)
  target_compile_definitions(heed_asio_without_fences INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  list(APPEND HEED_LINK_serve heed_asio_without_fences)
endif()
set(HEED_LINK_cli CLI11::CLI11 nlohmann_json::nlohmann_json)
set(HEED_LINK_test nlohmann_json::nlohmann_json)
