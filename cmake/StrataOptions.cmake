# What can be switched on and off, and the flags that all targets share.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

option(STRATA_BUILD_CLI "Build the strata command" ${PROJECT_IS_TOP_LEVEL})
option(STRATA_BUILD_SOLVERS "Build solvers and applications; only a library for tests does without"
       ON)
option(STRATA_BUILD_PAGE "Build the page of strata report (needs node and npm)"
       ${PROJECT_IS_TOP_LEVEL})
option(STRATA_BUILD_TESTS "Build the tests (needs GoogleTest and Eigen)" ${PROJECT_IS_TOP_LEVEL})
option(STRATA_BUILD_BENCH "Build the benchmarks (needs Eigen)" ${PROJECT_IS_TOP_LEVEL})
option(STRATA_BUILD_FUZZ "Build the fuzzers (needs clang with libFuzzer)" OFF)
option(STRATA_NATIVE "Tune GPU code, peers and benchmarks for this machine alone"
       ${PROJECT_IS_TOP_LEVEL})
option(STRATA_WARNINGS_AS_ERRORS "Fail the build on any warning" OFF)
option(STRATA_ONLY_CHECKED
       "Do not optimise what checks without a GPU compile but do not wait for: they are done sooner" OFF)
set(STRATA_X86_LEVELS avx2 avx512 CACHE STRING
    "Vector instructions that CPU kernels are compiled for besides those of every x86-64")
set(STRATA_SANITIZE "" CACHE STRING "Sanitizers to compile with, for example address,undefined")
option(STRATA_COVERAGE "Compile for coverage reports" OFF)

if(STRATA_BUILD_CLI AND NOT STRATA_BUILD_SOLVERS)
  message(FATAL_ERROR " The strata command needs solvers: STRATA_BUILD_SOLVERS has to be ON")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Compilers call themselves C++20 long before their library is; the last parts to come are tried.
set(strata_has_cxx20 OFF)
if("cxx_std_20" IN_LIST CMAKE_CXX_COMPILE_FEATURES)
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles([[
    #include <algorithm>
    #include <atomic>
    #include <charconv>
    #include <span>
    #include <string_view>
    int main() {
      double number = 0;
      const std::string_view text = "1.5";
      std::from_chars(text.data(), text.data() + text.size(), number);
      std::atomic<int> flag = 0;
      flag.wait(1);
      int unsorted[] = {2, 1};
      std::ranges::sort(std::span<int>(unsorted));
    }]] STRATA_COMPILER_HAS_CXX20)
  set(strata_has_cxx20 ${STRATA_COMPILER_HAS_CXX20})
endif()
if(NOT strata_has_cxx20)
  # Another compiler may come under the same name.
  unset(STRATA_COMPILER_HAS_CXX20 CACHE)
  # A leading space keeps CMake from breaking the line.
  message(FATAL_ERROR
          " ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) lacks "
          "parts of C++20: g++ 11 or later is needed, or clang with its library; CXX names one")
endif()

find_program(CCACHE_PROGRAM ccache)
set(strata_launcher "")  # of every compiler
if(CCACHE_PROGRAM)
  # Precompiled headers are cached only if ccache is asked to (sloppiness); and what one build
  # folder has compiled serves the others if paths are taken relative to the folder.
  set(strata_launcher
      env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${strata_launcher})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # A cached header is older than the file that CMake has made for it since.
      add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
    endif()
  endif()
endif()

# Everything that is missing, in one line; CMake's own messages are a page per package.
set(strata_needs "")
macro(strata_need package found debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${found})
    list(APPEND strata_needs "${package} (Debian package ${debian})")
  endif()
endmacro()
strata_need(OpenMP OpenMP_CXX_FOUND "libomp-dev for clang; g++ has its own" COMPONENTS CXX)
strata_need(fmt fmt_FOUND libfmt-dev)
strata_need(ZLIB ZLIB_FOUND zlib1g-dev)
# Headers only, and in no header of ours: a user of the library does not need them.
strata_need(nlohmann_json nlohmann_json_FOUND nlohmann-json3-dev)
strata_need(Eigen3 Eigen3_FOUND libeigen3-dev NO_MODULE)
if(strata_needs)
  list(JOIN strata_needs ", " strata_needs)
  message(FATAL_ERROR " Strata needs ${strata_needs}")
endif()

# Flags for our own code only; users of the library inherit none of them.
add_library(strata_flags INTERFACE)
set(STRATA_CXX_FLAGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    # Arrays are indexed with signed integers throughout, on purpose.
    -Wno-sign-conversion
    # A note on the ABI of complex numbers in old versions of g++.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>
    # std::stable_sort of libstdc++ 12 calls what C++17 deprecates; only clang blames its callers
    # for it.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
# nvcc hands the host's side to g++ in a form of its own, which is not pedantic.
set(STRATA_CUDA_FLAGS -Xcompiler=-Wall,-Wextra,-Wno-psabi --expt-relaxed-constexpr)
if(STRATA_WARNINGS_AS_ERRORS)
  list(APPEND STRATA_CXX_FLAGS -Werror)
  list(APPEND STRATA_CUDA_FLAGS -Werror=all-warnings)
endif()
if(STRATA_SANITIZE)
  list(APPEND STRATA_CXX_FLAGS -fsanitize=${STRATA_SANITIZE} -fno-sanitize-recover=all
       -fno-omit-frame-pointer)
  target_link_options(strata_flags INTERFACE -fsanitize=${STRATA_SANITIZE})
endif()
if(STRATA_COVERAGE)
  list(APPEND STRATA_CXX_FLAGS --coverage)
  target_link_options(strata_flags INTERFACE --coverage)
endif()
target_compile_options(strata_flags INTERFACE
                       "$<$<COMPILE_LANGUAGE:CXX>:${STRATA_CXX_FLAGS}>"
                       "$<$<COMPILE_LANGUAGE:CUDA>:${STRATA_CUDA_FLAGS}>")

# Instructions of this machine, for what is compared with the library. The library itself needs no
# such flag: its kernels are there for every level of instructions (strata/kernels/CMakeLists.txt).
add_library(strata_native INTERFACE)
if(STRATA_NATIVE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-march=native STRATA_HAS_MARCH_NATIVE)
  # clang's reading of some virtual processors is wrong and ends in illegal instructions.
  if(STRATA_HAS_MARCH_NATIVE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(strata_native INTERFACE -march=native)
  endif()
endif()

# For code that nothing waits for: what takes time lies in what it calls. With sanitizers optimising
# takes more time than it saves.
set(STRATA_UNTIMED_FLAGS $<$<CONFIG:Release>:-O1>)
if(STRATA_SANITIZE OR STRATA_ONLY_CHECKED)
  set(STRATA_UNTIMED_FLAGS -O0)
endif()
# The same for single files, whose precompiled headers have to have been optimised, too.
set(STRATA_UNTIMED_FILE_FLAGS "")
if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-O[23]")
  set(STRATA_UNTIMED_FILE_FLAGS $<$<CONFIG:Release>:-O1>)
endif()
