# SPDX-License-Identifier: GPL-3.0-or-later
# Imported targets of the pinned PyTorch wheel: residua::torch, its libtorch_cpu and libc10; residua::torch_cuda, its
# libtorch_cuda and libc10_cuda where they are there, for a library that is opened after LibTorch's CUDA part.
#
# The root is $RESIDUA_TORCH, or the cache that packaging/setup.sh fills. Its layout is the wheel's own, torch/ beside
# nvidia/ (so a Python site-packages directory serves too), because the libraries find each other by that layout.
# PyTorch's own package files are not used: they pull in the CUDA toolkit, its flags and its languages.

set(_wheels "${CMAKE_CURRENT_LIST_DIR}/../packaging/wheels.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_wheels}")
file(STRINGS "${_wheels}" _row REGEX "^torch ")
string(REGEX REPLACE "^torch +torch +([^ ]+).*$" "\\1" RESIDUA_TORCH_VERSION "${_row}")
if(DEFINED ENV{RESIDUA_TORCH})
  set(ResiduaTorch_ROOT_DIR "$ENV{RESIDUA_TORCH}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(ResiduaTorch_ROOT_DIR "$ENV{XDG_CACHE_HOME}/residua/torch-${RESIDUA_TORCH_VERSION}")
else()
  set(ResiduaTorch_ROOT_DIR "$ENV{HOME}/.cache/residua/torch-${RESIDUA_TORCH_VERSION}")
endif()

set(_torch "${ResiduaTorch_ROOT_DIR}/torch")
set(_cuda "${ResiduaTorch_ROOT_DIR}/nvidia/cu13/lib")
set(ResiduaTorch_PARTS
  "${_torch}/lib/libtorch_cpu.so" "${_torch}/lib/libc10.so" "${_torch}/include/ATen/ATen.h"
  "${_cuda}/libcudart.so.13" "${_cuda}/libcupti.so.13")
set(ResiduaTorch_MISSING "")
foreach(part IN LISTS ResiduaTorch_PARTS)
  if(NOT EXISTS "${part}")
    list(APPEND ResiduaTorch_MISSING "${part}")
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
string(REPLACE ";" " " ResiduaTorch_MISSING "${ResiduaTorch_MISSING}")
if(ResiduaTorch_MISSING)
  set(ResiduaTorch_COMPLETE FALSE)
else()
  set(ResiduaTorch_COMPLETE TRUE)
endif()
find_package_handle_standard_args(ResiduaTorch REQUIRED_VARS ResiduaTorch_COMPLETE
  REASON_FAILURE_MESSAGE "missing ${ResiduaTorch_MISSING}: run packaging/setup.sh, or point RESIDUA_TORCH at PyTorch ${RESIDUA_TORCH_VERSION}")

if(ResiduaTorch_FOUND AND NOT TARGET residua::torch)
  add_library(residua_external_c10 SHARED IMPORTED)
  set_target_properties(residua_external_c10 PROPERTIES
    IMPORTED_LOCATION "${_torch}/lib/libc10.so" IMPORTED_SONAME libc10.so)
  add_library(residua::torch SHARED IMPORTED)
  set_target_properties(residua::torch PROPERTIES
    IMPORTED_LOCATION "${_torch}/lib/libtorch_cpu.so" IMPORTED_SONAME libtorch_cpu.so
    INTERFACE_INCLUDE_DIRECTORIES "${_torch}/include;${_torch}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS _GLIBCXX_USE_CXX11_ABI=1
    INTERFACE_LINK_LIBRARIES "residua_external_c10;Threads::Threads"
    # What libtorch_cpu needs in turn must be found at link time as well; at run time its own run path finds it.
    INTERFACE_LINK_OPTIONS "LINKER:-rpath-link,${_cuda}:${_torch}/lib")
  if(EXISTS "${_torch}/lib/libtorch_cuda.so" AND EXISTS "${_torch}/lib/libc10_cuda.so")
    add_library(residua::torch_cuda INTERFACE IMPORTED)
    set_target_properties(residua::torch_cuda PROPERTIES
      INTERFACE_LINK_LIBRARIES "${_torch}/lib/libtorch_cuda.so;${_torch}/lib/libc10_cuda.so")
  endif()
endif()
