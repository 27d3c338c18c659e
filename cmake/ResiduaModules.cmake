# SPDX-License-Identifier: GPL-3.0-or-later
# The modules and their allow-list: who may link to and include whom. A forbidden dependency stops the configure.
#
#   residua_add_library(<name> [SHARED] SOURCES <folders and files> EXCEPT <files> HEADERS <public folders and files>
#                       PRECOMPILE <headers or a target>
#                       USES <residua libraries> EXTERNAL <imported targets> PRIVATE_EXTERNAL <imported targets>)
#   residua_add_executable(<name> [MODULE <module>] SOURCES <files> USES ... EXTERNAL ...)  built into <build>/bin
#   residua_add_tests(<folder>/<program> UNITS <tst_unit ...> SLOW_UNITS <tst_unit ...> DISPLAY_UNITS <tst_unit ...>
#                     SOURCES <further files> USES ... EXTERNAL ...)
#                                              several units in one executable, a test each, named <folder>/<tst_unit> where
#                                              a unit lies deeper too; those of DISPLAY_UNITS have a virtual screen and the
#                                              labels ui and slow
#   residua_add_test(<folder>/<tst_unit> [LABELS ui|gpu|slow|threads] [DISPLAY] SOURCES <further files> USES ... EXTERNAL ...)
#                                              a unit that has a main of its own
#                                              Without a label of these a test has "component" if its program links
#                                              LibTorch or the library that starts the engine's process, else "unit".
#
# Library <name> becomes target residua_<name> with the alias residua::<name>. Files are relative to the calling
# CMakeLists.txt; the include root is the checkout. A folder stands for its .cpp files, in HEADERS for its .h files, without
# the folders below it; EXCEPT names those of its sources that belong to another target. HEADERS are what other modules may include of it. PRIVATE_EXTERNAL
# packages never show in them.
# PRECOMPILE names headers that most sources of the target include anyway, or the one target that has precompiled the same
# ones. It only saves time; a source still includes what it uses.

include("${CMAKE_CURRENT_LIST_DIR}/CheckIncludes.cmake")
set(RESIDUA_JOIN 1 CACHE STRING "How many sources of a folder are compiled as one")
set(RESIDUA_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# module = the residua libraries and the packages that it may include and link. A library named <module>_<part> belongs to
# <module>, and libraries of one module may use each other.
set(RESIDUA_MAY_USE_projects       nlohmann)
set(RESIDUA_MAY_USE_kernels        "")
set(RESIDUA_MAY_USE_kernels_cuda   kernels cuda)
set(RESIDUA_MAY_USE_engine_api     projects)
set(RESIDUA_MAY_USE_engine_theory  projects eigen)
set(RESIDUA_MAY_USE_engine_files   projects engine_api nlohmann nettle)
set(RESIDUA_MAY_USE_engine_store    projects engine_api engine_files nlohmann sqlite)
set(RESIDUA_MAY_USE_engine_results projects engine_api engine_files engine_store)
set(RESIDUA_MAY_USE_engine_text    projects engine_api engine_files nlohmann archive zstd arrow)
set(RESIDUA_MAY_USE_engine_pictures projects engine_api engine_files engine_text png jpeg webp)
set(RESIDUA_MAY_USE_engine_tokeniser projects nlohmann icu pcre2)
set(RESIDUA_MAY_USE_engine_codec   projects engine_api engine_files engine_text engine_tokeniser nlohmann sentencepiece)
set(RESIDUA_MAY_USE_engine_tokens  projects engine_api engine_files engine_text engine_codec)
set(RESIDUA_MAY_USE_engine_sets    projects engine_api engine_theory engine_files engine_store engine_text engine_codec
                                   engine_tokens engine_pictures engine_worlds)
set(RESIDUA_MAY_USE_engine_worlds  projects engine_api engine_files mujoco)
set(RESIDUA_MAY_USE_engine_sets_bounds projects engine_theory engine_sets)
set(RESIDUA_MAY_USE_engine_bundle  projects engine_api engine_files engine_store engine_results engine_text engine_codec
                                   engine_sets archive)
set(RESIDUA_MAY_USE_engine_lowrank projects engine_theory eigen)
set(RESIDUA_MAY_USE_engine_wire    projects engine_api engine_files nlohmann)
set(RESIDUA_MAY_USE_engine_remote   projects engine_api engine_files engine_store engine_results engine_text engine_bundle engine_wire)
set(RESIDUA_MAY_USE_engine_process projects engine_api engine_files engine_remote engine_wire)
set(RESIDUA_MAY_USE_engine         projects kernels engine_api engine_theory engine_files engine_store engine_results engine_codec engine_sets
                                   engine_worlds engine_lowrank engine_remote engine_wire torch gloo cuda)
set(RESIDUA_MAY_USE_editor_scenes  projects resources cairo)
set(RESIDUA_MAY_USE_editor         projects resources editor_scenes imgui)
set(RESIDUA_MAY_USE_visualizers    projects engine_api engine_results resources qt qcustomplot)
set(RESIDUA_MAY_USE_resources      "")
set(RESIDUA_MAY_USE_report         projects engine_api engine_theory engine_results engine_sets_bounds resources)
set(RESIDUA_MAY_USE_cli            projects engine_api engine_theory engine_results engine_bundle engine_lowrank report editor_scenes
                                   resources nlohmann)
set(RESIDUA_MAY_USE_app            projects engine_api engine_results engine_bundle editor editor_scenes visualizers report
                                   resources qt imgui)
set(RESIDUA_MAY_USE_tests          projects kernels kernels_cuda engine_api engine_theory engine_files engine_store engine_results
                                   engine_text engine_tokeniser engine_codec engine_tokens engine_pictures engine_worlds engine_sets engine_sets_bounds
                                   engine_bundle engine_lowrank engine engine_remote engine_wire engine_process editor editor_scenes visualizers
                                   report resources cli app archive zstd png jpeg webp arrow eigen nlohmann sqlite sentencepiece torch qt
                                   qcustomplot imgui opengl cuda)
# What it may link besides, and never include.
set(RESIDUA_MAY_LINK_cli engine_process engine_codec engine_sets)
set(RESIDUA_MAY_LINK_app engine_process engine_codec engine_sets opengl)

# Imported target patterns of each package; what matches none (threads, dl) is free to all.
set(RESIDUA_FAMILY_TARGETS
  "eigen=^Eigen3::" "nlohmann=^nlohmann_json::" "torch=^residua::torch(_cuda)?$" "sqlite=^SQLite::" "sentencepiece=^residua::sentencepiece$"
  "archive=^residua::archive$" "zstd=^residua::zstd$" "arrow=^residua::arrow$" "mujoco=^residua::mujoco$" "png=^residua::png$" "jpeg=^residua::jpeg$" "webp=^residua::webp$" "cairo=^residua::cairo$" "gloo=^residua::gloo$" "icu=^residua::icu$" "pcre2=^residua::pcre2$" "nettle=^residua::nettle$"
  "qcustomplot=^residua::qcustomplot$" "qt=^Qt6?::" "imgui=^residua::imgui$" "opengl=^OpenGL::" "cuda=^CUDA::")

function(residua_module_of name out)
  set(module "${name}")
  while(NOT DEFINED RESIDUA_MAY_USE_${module})
    if(NOT module MATCHES "_")
      message(FATAL_ERROR "${name} belongs to no module (see RESIDUA_MAY_USE_* in ResiduaModules.cmake)")
    endif()
    string(REGEX REPLACE "_[^_]*$" "" module "${module}")
  endwhile()
  set(${out} "${module}" PARENT_SCOPE)
endfunction()

function(residua_family_of target out)
  set(family "")
  foreach(entry IN LISTS RESIDUA_FAMILY_TARGETS)
    string(REGEX MATCH "^([a-z0-9]+)=(.*)$" _ "${entry}")
    set(name "${CMAKE_MATCH_1}")
    if(target MATCHES "${CMAKE_MATCH_2}")
      set(family "${name}")
      break()
    endif()
  endforeach()
  set(${out} "${family}" PARENT_SCOPE)
endfunction()

# Checks the links and the includes of a target, now and again whenever one of its files changes.
function(residua_check_module target module uses externals files)
  set(allowed ${RESIDUA_MAY_USE_${module}})
  string(REPLACE ";" ", " shown "${allowed}")
  if(NOT shown)
    set(shown "nothing")
  endif()
  foreach(use IN LISTS uses)
    residua_module_of(${use} other)
    if(NOT other STREQUAL module AND NOT other IN_LIST allowed AND NOT other IN_LIST RESIDUA_MAY_LINK_${module})
      message(FATAL_ERROR "${target} uses ${use}: ${module} may use only: ${shown}")
    endif()
  endforeach()
  foreach(external IN LISTS externals)
    residua_family_of(${external} family)
    if(family AND NOT family IN_LIST allowed AND NOT family IN_LIST RESIDUA_MAY_LINK_${module})
      message(FATAL_ERROR "${target} uses ${external}: ${module} may use only: ${shown}")
    endif()
  endforeach()

  list(TRANSFORM files PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  get_property(public GLOBAL PROPERTY RESIDUA_PUBLIC_HEADERS)
  if(module STREQUAL "tests")
    set(public "") # they may include any
  endif()
  residua_check_includes("${CMAKE_SOURCE_DIR}" ${module} "${allowed}" "${public}" "${files}" scanned)
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${target}.includes")
  add_custom_command(OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${CMAKE_SOURCE_DIR}" -DMODULE=${module} "-DALLOWED=${allowed}"
            "-DPUBLIC=${public}" "-DFILES=${files}" "-DSTAMP=${stamp}" -P "${RESIDUA_CMAKE_DIR}/CheckIncludes.cmake"
    DEPENDS ${scanned} "${RESIDUA_CMAKE_DIR}/CheckIncludes.cmake"
    COMMENT "Checking the includes of ${target}" VERBATIM)
  add_custom_target(${target}_includes DEPENDS "${stamp}")
  add_dependencies(${target} ${target}_includes)
endfunction()

function(residua_set_up_target target scope uses externals private_externals)
  target_include_directories(${target} ${scope} "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE residua_compiler)
  list(TRANSFORM uses PREPEND "residua::")
  target_link_libraries(${target} ${scope} ${uses} ${externals} PRIVATE ${private_externals})
  set(all ${externals} ${private_externals})
  if(all MATCHES "Qt6?::")
    set_target_properties(${target} PROPERTIES AUTOMOC ON AUTOMOC_EXECUTABLE "${CMAKE_BINARY_DIR}/moc_alone.sh")
    if("residua::torch" IN_LIST all)
      # Qt and LibTorch both define `slots`.
      target_compile_definitions(${target} PRIVATE QT_NO_KEYWORDS)
    endif()
  endif()
endfunction()

# Joins sources into compilations of at most RESIDUA_JOIN each, because most of a source's time goes into its headers: those
# of each folder by themselves, so that a source added to one folder leaves the others' as they were, or with TOGETHER all.
function(residua_join_sources target files)
  if(RESIDUA_JOIN LESS 2)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # The warning is meant for headers; here anonymous namespaces are in sources.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  set(folders "")
  foreach(file IN LISTS files)
    if(NOT file MATCHES "[.]cpp$")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH file NORMALIZE OUTPUT_VARIABLE folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${CMAKE_SOURCE_DIR}")
    cmake_path(GET folder PARENT_PATH folder)
    if("TOGETHER" IN_LIST ARGN)
      set(folder ${target})
    endif()
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    if(NOT folder IN_LIST folders)
      list(APPEND folders ${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${RESIDUA_JOIN}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties("${file}" PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
endfunction()

# Headers; or a target that has precompiled the same ones with the same macros, whose file then serves for both.
function(residua_precompile target)
  if(TARGET "${ARGN}")
    target_precompile_headers(${target} REUSE_FROM "${ARGN}")
    return()
  endif()
  foreach(header IN LISTS ARGN)
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
endfunction()

# Replaces the folders in the list `files` by their files with the ending. CMake looks again when a file comes or goes.
function(residua_expand_folders files ending)
  set(expanded "")
  foreach(file IN LISTS ${files})
    if(IS_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
      file(GLOB found CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${file}/*.${ending}")
      list(APPEND expanded ${found})
    else()
      list(APPEND expanded "${file}")
    endif()
  endforeach()
  set(${files} ${expanded} PARENT_SCOPE)
endfunction()

function(residua_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "SHARED" "" "SOURCES;EXCEPT;HEADERS;PRECOMPILE;USES;EXTERNAL;PRIVATE_EXTERNAL")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "residua_add_library(${name}): unknown argument ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  residua_expand_folders(ARG_SOURCES cpp)
  residua_expand_folders(ARG_HEADERS h)
  if(ARG_EXCEPT)
    list(REMOVE_ITEM ARG_SOURCES ${ARG_EXCEPT})
  endif()
  set(target residua_${name})
  set(files ${ARG_SOURCES} ${ARG_HEADERS})
  set(externals ${ARG_EXTERNAL} ${ARG_PRIVATE_EXTERNAL})
  residua_module_of(${name} module)
  if(NOT ARG_SOURCES)
    add_library(${target} INTERFACE)
    target_sources(${target} PRIVATE ${ARG_HEADERS})
    target_include_directories(${target} INTERFACE "${CMAKE_SOURCE_DIR}")
    list(TRANSFORM ARG_USES PREPEND "residua::" OUTPUT_VARIABLE links)
    target_link_libraries(${target} INTERFACE ${links} ${ARG_EXTERNAL})
  else()
    set(kind STATIC)
    if(ARG_SHARED)
      set(kind SHARED)
    endif()
    add_library(${target} ${kind} ${ARG_SOURCES} ${ARG_HEADERS})
    residua_precompile(${target} ${ARG_PRECOMPILE})
    residua_join_sources(${target} "${ARG_SOURCES}")
    residua_set_up_target(${target} PUBLIC "${ARG_USES}" "${ARG_EXTERNAL}" "${ARG_PRIVATE_EXTERNAL}")
  endif()
  add_library(residua::${name} ALIAS ${target})
  foreach(header IN LISTS ARG_HEADERS)
    residua_include_path("${header}" include)
    set_property(GLOBAL APPEND PROPERTY RESIDUA_PUBLIC_HEADERS "${include}")
  endforeach()
  residua_check_module(${target} ${module} "${ARG_USES}" "${externals}" "${files}")
  if(RESIDUA_CHECK_HEADERS)
    residua_check_headers(${target} "${ARG_HEADERS}")
  endif()
endfunction()

# A file of the calling CMakeLists.txt as others include it: by its path in the checkout.
function(residua_include_path file out)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE include)
  set(${out} "${include}" PARENT_SCOPE)
endfunction()

# Each public header must compile alone, with nothing on the path but what the library makes public; included twice, so
# that a missing guard shows too. One that another of them includes before anything else is checked with that one: it
# costs no compilation of its own. Which these are is looked up when CMake configures.
function(residua_check_headers target headers)
  set(includes "")
  set(begun "")
  foreach(header IN LISTS headers)
    residua_include_path("${header}" include)
    list(APPEND includes "${include}")
    set(first_of_${include} "")
    file(STRINGS "${CMAKE_SOURCE_DIR}/${include}" first REGEX "^#include" LIMIT_COUNT 1)
    if(first MATCHES "^#include \"(.*)\"")
      set(first_of_${include} "${CMAKE_MATCH_1}")
      list(APPEND begun "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(sources "")
  foreach(include IN LISTS includes)
    if(include IN_LIST begun)
      continue()
    endif()
    set(content "#include \"${include}\"\n#include \"${include}\"\n")
    set(first "${first_of_${include}}")
    while(first IN_LIST includes)
      string(APPEND content "#include \"${first}\"\n")
      set(first "${first_of_${first}}")
    endwhile()
    string(MAKE_C_IDENTIFIER "${include}" unit)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/header_check/${unit}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "${content}" @ONLY)
    list(APPEND sources "${source}")
  endforeach()
  if(sources)
    add_library(${target}_header_check OBJECT ${sources})
    target_link_libraries(${target}_header_check PRIVATE ${target} residua_compiler)
    target_compile_options(${target}_header_check PRIVATE -O0 -g0)
  endif()
endfunction()

# Adds the source of <function> to library <name>, which resources/EmbedText.cmake writes: it returns the text of `files` as
# `type`, or without one that of a single file. `header` declares it.
function(residua_embed_text name files function header type)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
  set(script "${CMAKE_SOURCE_DIR}/resources/EmbedText.cmake")
  add_custom_command(OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DFILES=${files}" "-DOUTPUT=${source}" -DNAMESPACE=${name} "-DHEADER=${header}"
            -DFUNCTION=${function} "-DTYPE=${type}" -P "${script}"
    DEPENDS ${files} "${script}"
    COMMENT "Embedding ${function}()" VERBATIM)
  target_sources(residua_${name} PRIVATE "${source}")
endfunction()

function(residua_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MODULE" "SOURCES;USES;EXTERNAL")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "residua_add_executable(${name}): unknown argument ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_MODULE)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE folder)
    residua_include_owner("${folder}/" ARG_MODULE)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  residua_set_up_target(${name} PRIVATE "${ARG_USES}" "${ARG_EXTERNAL}" "")
  residua_check_module(${name} ${ARG_MODULE} "${ARG_USES}" "${ARG_EXTERNAL}" "${ARG_SOURCES}")
endfunction()

# What every test executable has in common.
function(residua_set_up_test target sources uses externals)
  set(externals Qt6::Test ${externals})
  add_executable(${target} ${sources})
  residua_set_up_target(${target} PRIVATE "${uses}" "${externals}" "")
  residua_check_module(${target} tests "${uses}" "${externals}" "${sources}")
  # Empty where every test includes its own moc, and then reading a precompiled header is all that compiling it takes.
  set_source_files_properties("${CMAKE_CURRENT_BINARY_DIR}/${target}_autogen/mocs_compilation.cpp"
    PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  if(RESIDUA_SANITIZE)
    target_sources(${target} PRIVATE "${CMAKE_SOURCE_DIR}/tests/support/keep_libraries.cpp")
  endif()
endfunction()

# Sets `out` to true if a target links LibTorch or the library that starts the engine's process, directly or not.
function(residua_links_engine target out)
  if(TARGET "${target}")
    get_target_property(aliased "${target}" ALIASED_TARGET)
    if(aliased)
      set(target "${aliased}")
    endif()
  endif()
  if(target STREQUAL "residua::torch" OR target STREQUAL "residua_engine_process")
    set(${out} TRUE PARENT_SCOPE)
    return()
  endif()
  set(${out} FALSE PARENT_SCOPE)
  if(NOT TARGET "${target}" AND target MATCHES "^residua::")
    message(FATAL_ERROR "${target} is added after what links it, whose label depends on it")
  elseif(NOT TARGET "${target}")
    return() # a library of the system, or a generator expression
  endif()
  get_property(known GLOBAL PROPERTY "RESIDUA_LINKS_ENGINE_${target}")
  if("${known}" STREQUAL "")
    set(known FALSE)
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(links "${target}" ${property})
      foreach(link IN LISTS links)
        residua_links_engine("${link}" reached)
        if(reached)
          set(known TRUE)
          break()
        endif()
      endforeach()
    endforeach()
    set_property(GLOBAL PROPERTY "RESIDUA_LINKS_ENGINE_${target}" ${known})
  endif()
  set(${out} ${known} PARENT_SCOPE)
endfunction()

# Registers `name` with CTest as the target with these arguments, in an environment of its own. Without `labels` the test
# is a unit or a component.
function(residua_register_test name target labels display)
  set(runner "")
  # Threads of OpenMP that spin while they wait would take the cores from the tests beside them.
  set(environment QT_QPA_PLATFORM=offscreen OMP_WAIT_POLICY=passive)
  if(display)
    set(runner "${RESIDUA_CMAKE_DIR}/with_xvfb.sh")
    # Mesa draws in the calling thread, because its own threads would take the cores from the tests beside them, and a
    # test once waited for them without end.
    set(environment QT_QPA_PLATFORM=xcb LIBGL_ALWAYS_SOFTWARE=1 LP_NUM_THREADS=0 OMP_WAIT_POLICY=passive)
  endif()
  if(RESIDUA_SANITIZE)
    list(APPEND environment ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
      "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/leaks.supp:print_suppressions=0"
      "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/races.supp:ignore_noninstrumented_modules=1")
  endif()
  if(RESIDUA_SANITIZE STREQUAL "thread")
    list(APPEND environment OMP_NUM_THREADS=1) # the thread sanitizer does not see where the compiler's OpenMP starts and joins threads
  endif()
  add_test(NAME ${name} COMMAND ${runner} $<TARGET_FILE:${target}> ${ARGN})
  if(NOT labels)
    set(labels unit)
    residua_links_engine(${target} linksEngine)
    if(linksEngine)
      set(labels component)
    endif()
  endif()
  set(timeout 600) # it ends what hangs; a busy machine may need ten times as long as an idle one
  if(RESIDUA_SANITIZE)
    math(EXPR timeout "5 * ${timeout}")
  endif()
  # A test sees neither the user's settings nor the user's caches.
  string(REPLACE "/" "_" folder "${name}")
  set(home "${CMAKE_BINARY_DIR}/tests/home/${folder}")
  file(MAKE_DIRECTORY "${home}/runtime")
  file(CHMOD "${home}/runtime" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
    ENVIRONMENT "${environment};XDG_RUNTIME_DIR=${home}/runtime;XDG_CONFIG_HOME=${home};XDG_DATA_HOME=${home};XDG_STATE_HOME=${home};XDG_CACHE_HOME=${home}")
endfunction()

function(residua_add_test path)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "DISPLAY" "" "LABELS;SOURCES;USES;EXTERNAL")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "residua_add_test(${path}): unknown argument ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  string(REGEX REPLACE "/.*/" "/" name "${path}") # without the folders between
  string(REPLACE "/" "_" target "${name}")
  residua_set_up_test(${target} "${CMAKE_SOURCE_DIR}/tests/${path}.cpp;${ARG_SOURCES}" "${ARG_USES}" "${ARG_EXTERNAL}")
  residua_reuse_test_headers(${target} "${ARG_USES}" "${ARG_EXTERNAL}")
  residua_register_test(${name} ${target} "${ARG_LABELS}" "${ARG_DISPLAY}")
endfunction()

# The main() of grouped tests. Its precompiled header serves the tests without Qt Gui, Widgets and LibTorch, beside which Qt has
# other macros: they are too few to win back the ten to twenty seconds that GCC takes to write another.
function(residua_reuse_test_headers target uses externals)
  if(NOT TARGET residua_test_program)
    add_library(residua_test_program OBJECT "${CMAKE_SOURCE_DIR}/tests/support/test_program.cpp")
    residua_set_up_target(residua_test_program PRIVATE "" Qt6::Test "")
    set_target_properties(residua_test_program PROPERTIES AUTOMOC OFF)
    residua_precompile(residua_test_program <QtTest> <algorithm> <map> <string> <vector>)
  endif()
  if(NOT "${uses};${externals}" MATCHES "(^|;)(app|visualizers|Qt6::Gui|Qt6::Widgets|residua::torch)(;|$)")
    target_precompile_headers(${target} REUSE_FROM residua_test_program)
  endif()
endfunction()

function(residua_add_tests path)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "UNITS;SLOW_UNITS;DISPLAY_UNITS;SOURCES;USES;EXTERNAL")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "residua_add_tests(${path}): unknown argument ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(GET path PARENT_PATH folder)
  string(REPLACE "/" "_" target "${path}")
  set(sources $<TARGET_OBJECTS:residua_test_program> ${ARG_SOURCES})
  foreach(unit IN LISTS ARG_UNITS ARG_SLOW_UNITS ARG_DISPLAY_UNITS)
    list(APPEND sources "${CMAKE_SOURCE_DIR}/tests/${folder}/${unit}.cpp")
  endforeach()
  residua_set_up_test(${target} "${sources}" "${ARG_USES}" "${ARG_EXTERNAL}")
  residua_join_sources(${target} "${sources}" TOGETHER)
  residua_reuse_test_headers(${target} "${ARG_USES}" "${ARG_EXTERNAL}")
  foreach(unit IN LISTS ARG_UNITS)
    cmake_path(GET unit FILENAME name)
    residua_register_test(${folder}/${name} ${target} "" OFF ${name})
  endforeach()
  foreach(unit IN LISTS ARG_SLOW_UNITS)
    cmake_path(GET unit FILENAME name)
    residua_register_test(${folder}/${name} ${target} slow OFF ${name})
  endforeach()
  foreach(unit IN LISTS ARG_DISPLAY_UNITS)
    cmake_path(GET unit FILENAME name)
    residua_register_test(${folder}/${name} ${target} "ui;slow" ON ${name})
  endforeach()
endfunction()
