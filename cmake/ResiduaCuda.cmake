# SPDX-License-Identifier: GPL-3.0-or-later
# CUDA as a language where nvcc is found: on the path, or beside LibTorch where setup.sh --cuda puts one. RESIDUA_CUDA
# says whether it was.

include(CheckLanguage)
# The compiler's own default architecture may be one that nvcc 13 has dropped, so ours are named before it is tried.
set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100 CACHE STRING "Real code for each, PTX of the last for newer ones")
find_program(RESIDUA_NVCC nvcc PATHS "${ResiduaTorch_ROOT_DIR}/nvidia/cu13/bin" /usr/local/cuda/bin)
if(RESIDUA_NVCC AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  set(CMAKE_CUDA_COMPILER "${RESIDUA_NVCC}")
endif()
check_language(CUDA)
set(RESIDUA_CUDA OFF)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  # The same libcudart as the one LibTorch brings.
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  list(APPEND CMAKE_BUILD_RPATH "${ResiduaTorch_ROOT_DIR}/nvidia/cu13/lib")
  if(RESIDUA_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  set(RESIDUA_CUDA ON)
endif()
message(STATUS "CUDA kernels: ${RESIDUA_CUDA}")
