# SPDX-License-Identifier: GPL-3.0-or-later
# Language level, warnings, sanitizers, ccache: what every target is compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# Line tables only: full debug information would double link time and disk for little gain. NDEBUG stays off here.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
# For the tests: no debug information to write and link, and asserts on. At -O1 a source compiles in about four fifths of the
# time of -O2; speed is measured in other builds. The kernels bring their own -O3.
set(CMAKE_CXX_FLAGS_CHECK "-O1")
# GCC collects its garbage from the 128th MiB on; at 600 it compiles the larger joined sources in up to a fifth less time.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  string(APPEND CMAKE_CXX_FLAGS_CHECK " --param=ggc-min-heapsize=600000")
endif()
set(CMAKE_CUDA_FLAGS_CHECK "-O2")

add_library(residua_compiler INTERFACE)
target_compile_options(residua_compiler INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wundef -Wvla>
  $<$<AND:$<BOOL:${RESIDUA_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
# GCC 12 warns of overlapping copies inside its own std::string, and at -O3 of values that were not set, of sizes that are
# too large and of places outside an array, inside its own std::variant, std::map and std::string.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(residua_compiler INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-Wno-maybe-uninitialized -Wno-stringop-overflow
      -Wno-array-bounds>)
endif()
if(RESIDUA_SANITIZE)
  # -O1, and no checks of every pointer for what the address sanitizer or the processor finds when it is followed: they
  # would treble the time to build. The sanitizers' code makes GCC see paths to uninitialised values that are not there.
  target_compile_options(residua_compiler INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-O1 -fsanitize=${RESIDUA_SANITIZE} -fno-sanitize=null,alignment,vptr>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all -fno-omit-frame-pointer>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  target_link_options(residua_compiler INTERFACE -fsanitize=${RESIDUA_SANITIZE})
endif()

# Paths are hashed relative to the checkout, so that every build directory shares one cache. Comments are hashed too: a
# precompiled header remembers the digest of each file that may be included once, so one that was made before a comment
# changed includes that file a second time.
find_program(RESIDUA_CCACHE ccache)
if(RESIDUA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_COMMENTS=1 ${RESIDUA_CCACHE})
endif()
