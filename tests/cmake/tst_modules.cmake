# SPDX-License-Identifier: GPL-3.0-or-later
# Configures and builds small projects with ResiduaModules, allowed and forbidden, and compares what CMake says.
#   cmake -DCHECKOUT=<checkout> -DWORK=<scratch directory> -DCOMPILER=<c++> -P tst_modules.cmake
cmake_minimum_required(VERSION 3.25)

set(failures 0)

# fixture(<name> <text of the library calls> [<path> <content>]...): a fresh fixture in WORK/<name>. In a content "|" stands
# for the semicolon, which CMake would take for a separator.
function(fixture name calls)
  set(root "${WORK}/${name}")
  file(REMOVE_RECURSE "${root}")
  file(CONFIGURE OUTPUT "${root}/CMakeLists.txt" @ONLY CONTENT [=[
cmake_minimum_required(VERSION 3.25)
project(fixture LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
add_library(residua_compiler INTERFACE)
add_library(Qt6::Widgets INTERFACE IMPORTED)
add_library(residua::torch INTERFACE IMPORTED)
add_library(OpenGL::GL INTERFACE IMPORTED)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
set(RESIDUA_CHECK_HEADERS ON)
include("@CHECKOUT@/cmake/ResiduaModules.cmake")
@calls@]=])
  while(ARGN)
    list(POP_FRONT ARGN path content)
    string(REPLACE "|" ";" content "${content}")
    file(WRITE "${root}/${path}" "${content}")
  endwhile()
endfunction()

# expect(<name> <step> pass|fail <text>...): runs the step, configure or build, and looks for each text in its output.
function(expect name step outcome)
  set(root "${WORK}/${name}")
  if(step STREQUAL "configure")
    set(command "${CMAKE_COMMAND}" -G Ninja -S "${root}" -B "${root}/build" "-DCMAKE_CXX_COMPILER=${COMPILER}")
  else()
    set(command "${CMAKE_COMMAND}" --build "${root}/build")
  endif()
  execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " flat "${output}")
  set(got pass)
  if(NOT status EQUAL 0)
    set(got fail)
  endif()
  set(wrong "")
  if(NOT got STREQUAL outcome)
    set(wrong "expected ${outcome}, got ${got}")
  endif()
  foreach(text IN LISTS ARGN)
    string(FIND "${flat}" "${text}" at)
    if(at EQUAL -1)
      string(APPEND wrong "\n  not said: ${text}")
    endif()
  endforeach()
  if(wrong)
    message("FAIL ${name} (${step}): ${wrong}\n${output}")
    math(EXPR failures "${failures} + 1")
    set(failures ${failures} PARENT_SCOPE)
  else()
    message("ok   ${name} (${step})")
  endif()
endfunction()

set(projects "residua_add_library(projects SOURCES projects/a.cpp HEADERS projects/a.h)\n")
set(a_h "#pragma once\n#include <vector>\nstd::vector<int> a()|\n")
set(a_cpp "#include \"projects/a.h\"\nstd::vector<int> a() { return {1}| }\n")
set(editor "residua_add_library(editor SOURCES editor/e.cpp USES projects)\n")

fixture(allowed "${projects}${editor}"
  projects/a.h "${a_h}" projects/a.cpp "${a_cpp}" editor/e.cpp "#include \"projects/a.h\"\nint e() { return a()[0]| }\n")
expect(allowed configure pass)
expect(allowed build pass "residua_projects_header_check")
# An include that becomes forbidden is caught by the next build, without a new configure.
file(WRITE "${WORK}/allowed/editor/e.cpp" "#include \"projects/a.h\"\n\n#include <QWidget>\n")
expect(allowed build fail "editor/e.cpp:3: includes \"QWidget\": that is qt's, and editor may include only")

# A folder stands for its sources and public headers, also those that come later.
fixture(folders "residua_add_library(projects SOURCES projects/base EXCEPT projects/base/other.cpp HEADERS projects/base)\n${editor}"
  projects/base/a.h "${a_h}" projects/base/a.cpp "std::vector<int> a() { return {1}| }\n" projects/base/other.cpp "#error not of this library\n"
  editor/e.cpp "#include \"projects/base/a.h\"\nint e() { return a()[0]| }\n")
expect(folders configure pass)
expect(folders build fail "projects/base/a.cpp")
file(WRITE "${WORK}/folders/projects/base/a.cpp" "#include \"projects/base/a.h\"\nstd::vector<int> a() { return {1}; }\n")
expect(folders build pass)
file(WRITE "${WORK}/folders/projects/base/b.cpp" "#error a new source\n")
expect(folders build fail "a new source")

fixture(forbidden_library "${projects}${editor}residua_add_library(engine_api SOURCES engine/base/api/s.cpp USES editor)\n"
  projects/a.h "${a_h}" projects/a.cpp "${a_cpp}" editor/e.cpp "// empty\n" engine/base/api/s.cpp "// empty\n")
expect(forbidden_library configure fail "residua_engine_api uses editor: engine_api may use only: projects")

fixture(forbidden_package "residua_add_library(editor SOURCES editor/e.cpp EXTERNAL Qt6::Widgets)\n" editor/e.cpp "// empty\n")
expect(forbidden_package configure fail "residua_editor uses Qt6::Widgets: editor may use only: projects,")

fixture(forbidden_private_package "residua_add_library(visualizers SOURCES visualizers/v.cpp PRIVATE_EXTERNAL residua::torch)\n" visualizers/v.cpp "// empty\n")
expect(forbidden_private_package configure fail "residua_visualizers uses residua::torch")

fixture(forbidden_include "residua_add_library(projects SOURCES projects/a.cpp)\n" projects/a.cpp "\n#include \"engine/base/api/session.h\"\n")
expect(forbidden_include configure fail
  "projects/a.cpp:2: includes \"engine/base/api/session.h\": that is engine_api's, and projects may include only" "nlohmann")

# A header that no list names is found through the file that includes it.
fixture(hidden_include "residua_add_library(editor SOURCES editor/e.cpp)\n"
  editor/e.cpp "#include \"editor/private.h\"\n" editor/private.h "#include <ATen/ATen.h>\n")
expect(hidden_include configure fail "editor/private.h:1: includes \"ATen/ATen.h\": that is torch's")

# What no HEADERS list names is its module's own, for all but tests; also when a later change includes it.
fixture(own_header "${projects}${editor}" projects/a.h "${a_h}" projects/a.cpp "${a_cpp}#include \"projects/own.h\"\n" projects/own.h "#pragma once\n"
  editor/e.cpp "#include \"editor/e.h\"\n" editor/e.h "#include \"projects/own.h\"\n")
expect(own_header configure fail "editor/e.h:1: includes \"projects/own.h\": no HEADERS list names it")
file(WRITE "${WORK}/own_header/editor/e.h" "#include \"projects/a.h\"\n")
expect(own_header configure pass)
expect(own_header build pass)
file(WRITE "${WORK}/own_header/editor/e.h" "#include \"projects/own.h\"\n")
expect(own_header build fail "editor/e.h:1: includes \"projects/own.h\": no HEADERS list names it")
fixture(own_header_tested "${projects}residua_add_library(tests_support SOURCES tests/support/t.cpp USES projects)\n"
  projects/a.h "${a_h}" projects/a.cpp "${a_cpp}" projects/own.h "#pragma once\n" tests/support/t.cpp "#include \"projects/own.h\"\n")
expect(own_header_tested configure pass)

fixture(upward_include "residua_add_library(editor SOURCES editor/e.cpp)\n" editor/e.cpp "#include \"../engine/compute/train/trainer.h\"\n")
expect(upward_include configure fail "editor/e.cpp:1: includes" "without \"..\"")

# Folders of one module: those before may not include those after them.
fixture(folder_order "residua_add_library(projects SOURCES projects/base/a.cpp)\n"
  projects/base/a.cpp "#include \"projects/model/m.h\"\n" projects/model/m.h "#pragma once\n")
expect(folder_order configure fail "projects/base/a.cpp:1: includes \"projects/model/m.h\": a folder of projects may include"
  "base, model")

fixture(folder_order_app "residua_add_library(app SOURCES app/look/a.cpp)\n"
  app/look/a.cpp "#include \"app/window/w.h\"\n" app/window/w.h "#pragma once\n")
expect(folder_order_app configure fail "app/look/a.cpp:1: includes \"app/window/w.h\": a folder of app may include")
fixture(folder_order_cli "residua_add_library(cli SOURCES app/cli/runs/a.cpp)\n"
  app/cli/runs/a.cpp "#include \"app/cli/commands/c.h\"\n" app/cli/commands/c.h "#pragma once\n")
expect(folder_order_cli configure fail "app/cli/runs/a.cpp:1: includes \"app/cli/commands/c.h\": a folder of app/cli may include")
file(WRITE "${WORK}/folder_order_cli/app/cli/runs/a.cpp" "#include \"app/cli/arguments/a.h\"\n")
expect(folder_order_cli configure pass)
fixture(folder_order_visualizers "residua_add_library(visualizers SOURCES visualizers/plot/a.cpp)\n"
  visualizers/plot/a.cpp "#include \"visualizers/theory/t.h\"\n" visualizers/theory/t.h "#pragma once\n")
expect(folder_order_visualizers configure fail "a folder of visualizers may include" "gap, theory")
# Folders of a folder have an order of their own, beside the one that their folder is in; what lies beside them is last.
set(tokeniser "residua_add_library(engine_tokeniser SOURCES engine/data/tokeniser/base/a.cpp)\n")
fixture(folder_order_within "${tokeniser}"
  engine/data/tokeniser/base/a.cpp "#include \"engine/data/tokeniser/stages/s.h\"\n" engine/data/tokeniser/stages/s.h "#pragma once\n"
  engine/data/tokeniser/t.h "#pragma once\n")
expect(folder_order_within configure fail "a folder of engine/data/tokeniser may include itself and those before it" "base, models, stages")
file(WRITE "${WORK}/folder_order_within/engine/data/tokeniser/base/a.cpp" "#include \"engine/data/tokeniser/t.h\"\n")
expect(folder_order_within configure fail "engine/data/tokeniser/base/a.cpp:1: includes \"engine/data/tokeniser/t.h\": a folder of engine/data/tokeniser may")
fixture(folder_order_above "residua_add_library(engine SOURCES engine/compute/queries/base/a.cpp)\n"
  engine/compute/queries/base/a.cpp "#include \"engine/compute/session/s.h\"\n" engine/compute/session/s.h "#pragma once\n")
expect(folder_order_above configure fail "engine/compute/queries/base/a.cpp:1: includes \"engine/compute/session/s.h\": a folder of engine/compute may")

# A folder of an ordered module is nowhere free.
fixture(folder_without_place "residua_add_library(visualizers SOURCES visualizers/new2/a.cpp)\n" visualizers/new2/a.cpp "// empty\n")
expect(folder_without_place configure fail "visualizers/new2/a.cpp: the folder visualizers/new2 has no place in"
  "RESIDUA_FOLDER_ORDER_visualizers")
fixture(folder_without_place_cli "residua_add_library(cli SOURCES app/cli/c.cpp)\n"
  app/cli/c.cpp "#include \"app/cli/new/n.h\"\n" app/cli/new/n.h "#pragma once\n")
expect(folder_without_place_cli configure fail "app/cli/new/n.h: the folder app/cli/new has no place in")

# What may be linked may still not be included; the engine itself, which brings LibTorch, is not linked either.
set(drawn "residua_add_library(app SOURCES app/a.cpp EXTERNAL OpenGL::GL)\n")
fixture(linked_package "${drawn}" app/a.cpp "// empty\n")
expect(linked_package configure pass)
fixture(linked_package_included "${drawn}" app/a.cpp "#include <GL/gl.h>\n")
expect(linked_package_included configure fail "app/a.cpp:1: includes \"GL/gl.h\": that is opengl's")
set(linked "residua_add_library(engine_process SOURCES engine/link/process/o.cpp)\nresidua_add_library(cli SOURCES app/cli/c.cpp USES engine_process)\n")
fixture(linked_only "${linked}" engine/link/process/o.cpp "// empty\n" app/cli/c.cpp "// empty\n")
expect(linked_only configure pass)
fixture(linked_included "${linked}"
  engine/link/process/o.cpp "// empty\n" engine/link/process/o.h "#pragma once\n" app/cli/c.cpp "#include \"engine/link/process/o.h\"\n")
expect(linked_included configure fail "app/cli/c.cpp:1: includes \"engine/link/process/o.h\": that is engine_process's")
fixture(linked_engine "residua_add_library(engine SOURCES engine/compute/network/n.cpp)\nresidua_add_library(cli SOURCES app/cli/c.cpp USES engine)\n"
  engine/compute/network/n.cpp "// empty\n" app/cli/c.cpp "// empty\n")
expect(linked_engine configure fail "residua_cli uses engine: cli may use only")

# The label of a test follows from what its program links, also through other libraries.
fixture(links_engine "residua_add_library(projects SOURCES projects/a.cpp)
residua_add_library(engine_process SOURCES engine/link/process/o.cpp USES projects)
residua_add_library(engine SOURCES engine/compute/network/n.cpp USES projects PRIVATE_EXTERNAL residua::torch)
residua_add_library(tests_runs SOURCES tests/t.cpp USES projects engine)
residua_add_library(tests_plain SOURCES tests/t.cpp USES projects)
residua_add_library(tests_started SOURCES tests/t.cpp USES tests_plain engine_process)
foreach(name projects engine tests_runs tests_plain tests_started)
  residua_links_engine(residua::\${name} links)
  message(STATUS \"\${name}: \${links}\")
endforeach()\n" projects/a.cpp "// empty\n" engine/link/process/o.cpp "// empty\n" engine/compute/network/n.cpp "// empty\n" tests/t.cpp "// empty\n")
expect(links_engine configure pass "projects: FALSE" "engine: TRUE" "tests_runs: TRUE" "tests_plain: FALSE" "tests_started: TRUE")

# A module may be one file of another's folder.
set(bounds "residua_add_library(engine_sets_bounds SOURCES engine/data/sets/project_bounds.cpp HEADERS engine/data/sets/project_bounds.h)
residua_add_library(report SOURCES app/report/r.cpp USES engine_sets_bounds)\n")
set(bounds_h engine/data/sets/project_bounds.h "#pragma once\n" engine/data/sets/project_bounds.cpp "#include \"engine/data/sets/dataset.h\"\n")
fixture(one_file "residua_add_library(engine_sets SOURCES engine/data/sets/d.cpp HEADERS engine/data/sets/dataset.h)\n${bounds}" ${bounds_h}
  engine/data/sets/d.cpp "// empty\n" engine/data/sets/dataset.h "#pragma once\n" app/report/r.cpp "#include \"engine/data/sets/project_bounds.h\"\n")
expect(one_file configure pass)
file(WRITE "${WORK}/one_file/app/report/r.cpp" "#include \"engine/data/sets/dataset.h\"\n")
expect(one_file configure fail "app/report/r.cpp:1: includes \"engine/data/sets/dataset.h\": that is engine_sets's, and report may")

fixture(unknown_module "residua_add_library(utils SOURCES utils/u.cpp)\n" utils/u.cpp "// empty\n")
expect(unknown_module configure fail "utils belongs to no module")

fixture(dependent_header "residua_add_library(projects SOURCES projects/a.cpp HEADERS projects/a.h)\n"
  projects/a.h "#pragma once\nstd::string a()|\n" projects/a.cpp "#include <string>\n#include \"projects/a.h\"\n")
expect(dependent_header configure pass)
expect(dependent_header build fail "projects_a_h.cpp")

if(failures)
  message(FATAL_ERROR "${failures} failed")
endif()
