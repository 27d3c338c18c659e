# SPDX-License-Identifier: GPL-3.0-or-later
# Imported target residua::arrow: libparquet and libarrow of the pinned pyarrow wheel, which Parquet files are read with.
#
# The root is $RESIDUA_ARROW, or the cache that packaging/setup.sh fills. Its layout is the wheel's own (so a Python
# site-packages directory with that pyarrow serves too). Where it is nowhere, the build goes on without.

set(RESIDUA_ARROW_VERSION 26.0.1)
set(RESIDUA_ARROW_SONAME 2600)
if(DEFINED ENV{RESIDUA_ARROW})
  set(ResiduaArrow_ROOT_DIR "$ENV{RESIDUA_ARROW}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(ResiduaArrow_ROOT_DIR "$ENV{XDG_CACHE_HOME}/residua/arrow-${RESIDUA_ARROW_VERSION}")
else()
  set(ResiduaArrow_ROOT_DIR "$ENV{HOME}/.cache/residua/arrow-${RESIDUA_ARROW_VERSION}")
endif()

set(_arrow "${ResiduaArrow_ROOT_DIR}/pyarrow")
set(ResiduaArrow_MISSING "")
set(ResiduaArrow_COMPLETE TRUE)
foreach(part IN ITEMS libparquet.so.${RESIDUA_ARROW_SONAME} libarrow.so.${RESIDUA_ARROW_SONAME} include/parquet/file_reader.h)
  if(NOT EXISTS "${_arrow}/${part}")
    string(APPEND ResiduaArrow_MISSING " ${_arrow}/${part}")
    set(ResiduaArrow_COMPLETE FALSE)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ResiduaArrow REQUIRED_VARS ResiduaArrow_COMPLETE
  REASON_FAILURE_MESSAGE "so that Parquet is not read: missing${ResiduaArrow_MISSING}. Run packaging/setup.sh, or point RESIDUA_ARROW at the folder above pyarrow ${RESIDUA_ARROW_VERSION}")

if(ResiduaArrow_FOUND AND NOT TARGET residua::arrow)
  add_library(residua_external_arrow SHARED IMPORTED)
  set_target_properties(residua_external_arrow PROPERTIES
    IMPORTED_LOCATION "${_arrow}/libarrow.so.${RESIDUA_ARROW_SONAME}" IMPORTED_SONAME libarrow.so.${RESIDUA_ARROW_SONAME})
  add_library(residua::arrow SHARED IMPORTED)
  set_target_properties(residua::arrow PROPERTIES
    IMPORTED_LOCATION "${_arrow}/libparquet.so.${RESIDUA_ARROW_SONAME}" IMPORTED_SONAME libparquet.so.${RESIDUA_ARROW_SONAME}
    INTERFACE_INCLUDE_DIRECTORIES "${_arrow}/include"
    INTERFACE_LINK_LIBRARIES residua_external_arrow)
endif()
