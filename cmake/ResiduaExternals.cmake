# SPDX-License-Identifier: GPL-3.0-or-later
# The packages that are not ours, each behind one imported target:
#   Qt6::*  residua::qcustomplot  residua::imgui  OpenGL::GL  nlohmann_json::nlohmann_json
#   Eigen3::Eigen  SQLite::SQLite3  residua::archive  residua::zstd  residua::sentencepiece  residua::icu  residua::pcre2
#   residua::nettle  residua::png  residua::jpeg  residua::webp  residua::cairo
#   residua::torch  Threads::Threads, and residua::arrow, residua::gloo and residua::mujoco where they are there

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(SQLite3 REQUIRED)
find_package(OpenGL REQUIRED)
find_package(Qt6 6.4 REQUIRED COMPONENTS Widgets OpenGL OpenGLWidgets PrintSupport Svg Test)
# Qt Test would name each test's folders on the compiler's command line, for a function that no test calls: then no
# two tests could share a precompiled header.
set_target_properties(Qt6::Test PROPERTIES INTERFACE_COMPILE_DEFINITIONS QT_TESTLIB_LIB)
get_target_property(RESIDUA_MOC Qt6::moc LOCATION)
configure_file("${CMAKE_CURRENT_LIST_DIR}/moc_alone.sh.in" "${CMAKE_BINARY_DIR}/moc_alone.sh" @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
find_package(QCustomPlotQt6 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ResiduaImgui REQUIRED IMPORTED_TARGET imgui)
pkg_check_modules(ResiduaSentencePiece REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(ResiduaIcu REQUIRED IMPORTED_TARGET icu-uc)
pkg_check_modules(ResiduaPcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(ResiduaNettle REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(ResiduaArchive REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(ResiduaZstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ResiduaPng REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(ResiduaJpeg REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(ResiduaWebp REQUIRED IMPORTED_TARGET libwebp)
pkg_check_modules(ResiduaCairo REQUIRED IMPORTED_TARGET cairo-pdf)
find_package(ResiduaTorch REQUIRED)
find_package(ResiduaArrow)

find_package(mujoco 2.2 QUIET CONFIG)
if(mujoco_FOUND AND mujoco_VERSION VERSION_GREATER_EQUAL 2.3)
  set(mujoco_FOUND FALSE) # later versions have other sizes of a state
endif()
message(STATUS "MuJoCo: ${mujoco_FOUND}")

find_library(RESIDUA_GLOO gloo)
find_path(RESIDUA_GLOO_HEADERS gloo/allreduce.h)

function(residua_external_alias name target)
  add_library(residua_external_${name} INTERFACE)
  target_link_libraries(residua_external_${name} INTERFACE ${target})
  add_library(residua::${name} ALIAS residua_external_${name})
endfunction()

if(TARGET QCustomPlotQt6::QCustomPlotQt6)
  residua_external_alias(qcustomplot QCustomPlotQt6::QCustomPlotQt6)
else()
  residua_external_alias(qcustomplot QCustomPlotQt6)
endif()
residua_external_alias(archive PkgConfig::ResiduaArchive)
residua_external_alias(zstd PkgConfig::ResiduaZstd)
residua_external_alias(imgui PkgConfig::ResiduaImgui)
residua_external_alias(sentencepiece PkgConfig::ResiduaSentencePiece)
residua_external_alias(icu PkgConfig::ResiduaIcu)
residua_external_alias(pcre2 PkgConfig::ResiduaPcre2)
residua_external_alias(nettle PkgConfig::ResiduaNettle)
residua_external_alias(png PkgConfig::ResiduaPng)
residua_external_alias(jpeg PkgConfig::ResiduaJpeg)
residua_external_alias(webp PkgConfig::ResiduaWebp)
residua_external_alias(cairo PkgConfig::ResiduaCairo)
if(mujoco_FOUND)
  residua_external_alias(mujoco mujoco::mujoco)
endif()
if(RESIDUA_GLOO AND RESIDUA_GLOO_HEADERS)
  add_library(residua_external_gloo INTERFACE)
  target_link_libraries(residua_external_gloo INTERFACE "${RESIDUA_GLOO}")
  target_include_directories(residua_external_gloo SYSTEM INTERFACE "${RESIDUA_GLOO_HEADERS}")
  add_library(residua::gloo ALIAS residua_external_gloo)
endif()
