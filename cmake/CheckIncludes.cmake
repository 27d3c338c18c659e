# SPDX-License-Identifier: GPL-3.0-or-later
# Reads the #include lines of a library's files and stops at the first that its module may not have.
#
# Included by ResiduaModules for the check at configure time, and run as a script when a file changes:
#   cmake -DMODULE=editor -DALLOWED=projects;imgui -DPUBLIC=<headers> -DROOT=<checkout> -DFILES=<list> -DSTAMP=<file>
#         -P CheckIncludes.cmake
cmake_minimum_required(VERSION 3.25)

# The module that owns a path below the checkout: of the folder, or of the file without its ending, that matches first.
set(RESIDUA_MODULE_FOLDERS
  engine/data/sets/project_bounds=engine_sets_bounds
  engine/base/api=engine_api engine/maths/theory=engine_theory engine/base/machine=engine_files engine/base/files=engine_files
  engine/runs/store=engine_store
  engine/runs/results=engine_results engine/data/text=engine_text engine/data/pictures=engine_pictures
  engine/data/tokeniser=engine_tokeniser engine/data/codec=engine_codec engine/data/tokens=engine_tokens engine/data/sets=engine_sets
  engine/data/worlds=engine_worlds
  engine/link/bundle=engine_bundle engine/maths/lowrank=engine_lowrank engine/link/wire=engine_wire engine/link/remote=engine_remote
  engine/link/process=engine_process engine=engine
  kernels/cuda=kernels_cuda kernels=kernels
  app/report=report app/cli=cli app=app
  projects=projects editor/scenes=editor_scenes editor/figures=editor_scenes editor=editor visualizers=visualizers resources=resources tests=tests)

# The folders of a module or of one of its folders, in an order in which each may include itself and those before it; what
# lies beside them comes last. Where there is an order, every folder below it has a place there, or is a module of its own.
set(RESIDUA_ORDERED_FOLDERS
  projects engine engine/base engine/maths engine/runs engine/data engine/data/tokeniser engine/link engine/compute
  engine/compute/queries editor visualizers app app/cli)
set(RESIDUA_FOLDER_ORDER_projects
  base model depth nodes schedule library schema diff edit file shipped check pytorch huggingface cost layers transfer
  studies graphs commands)
set(RESIDUA_FOLDER_ORDER_engine base maths runs data link compute)
set(RESIDUA_FOLDER_ORDER_engine/base api machine files)
set(RESIDUA_FOLDER_ORDER_engine/maths theory lowrank)
set(RESIDUA_FOLDER_ORDER_engine/runs store results)
set(RESIDUA_FOLDER_ORDER_engine/data text pictures tokeniser codec tokens worlds sets)
set(RESIDUA_FOLDER_ORDER_engine/data/tokeniser base models stages)
set(RESIDUA_FOLDER_ORDER_engine/link wire bundle remote process)
set(RESIDUA_FOLDER_ORDER_engine/compute
  runtime ops init graph depth network ranks train transfer queries session)
set(RESIDUA_FOLDER_ORDER_engine/compute/queries base measures branches models)
set(RESIDUA_FOLDER_ORDER_editor scenes figures canvas shortcuts depth matrix block)
set(RESIDUA_FOLDER_ORDER_visualizers plot runs pareto heatmap gap theory sweeps)
set(RESIDUA_FOLDER_ORDER_app
  look properties engine document records training runs palette help commands canvas block bundle schedule sweeps sides
  inspector outline start workspace views actions window launch)
set(RESIDUA_FOLDER_ORDER_app/cli terminal arguments runs sweep analyze commands reproduce)

# Header name patterns of the packages that are not ours. Earlier ones win: qcustomplot.h also looks like Qt's.
set(RESIDUA_FAMILY_HEADERS
  "eigen=^Eigen/"
  "nlohmann=^nlohmann/"
  "archive=^archive(_entry)?[.]h$"
  "zstd=^zstd(_errors)?[.]h$"
  "png=^png(conf)?[.]h$"
  "jpeg=^j(peglib|config|morecfg|error)[.]h$"
  "webp=^webp/" "cairo=^cairo(-[a-z]+)?[.]h$" "gloo=^gloo/"
  "arrow=^(arrow|parquet)/"
  "mujoco=^mujoco/"
  "torch=^(torch|ATen|c10|caffe2)/"
  "sqlite=^sqlite3(ext)?[.]h$"
  "sentencepiece=^sentencepiece"
  "icu=^unicode/"
  "pcre2=^pcre2[.]h$"
  "nettle=^nettle/"
  "qcustomplot=^qcustomplot"
  "qt=^(Q[A-Z]|Qt[A-Z][A-Za-z]*/|q[a-z0-9]+[.]h$)"
  "imgui=^(imgui|imstb_|backends/imgui)"
  "opengl=^(GL|GLES2|GLES3|EGL|KHR|GLFW)/"
  "cuda=^(cuda|cublas|cudnn|nccl|nvrtc|cooperative_groups|cub/|thrust/|mma[.]h)")

function(residua_include_owner include out)
  set(owner "")
  if(include MATCHES "/")
    foreach(entry IN LISTS RESIDUA_MODULE_FOLDERS)
      string(REPLACE "=" ";" entry "${entry}")
      list(GET entry 0 folder)
      if(include MATCHES "^${folder}[/.]")
        list(GET entry 1 owner)
        break()
      endif()
    endforeach()
  endif()
  if(NOT owner)
    foreach(entry IN LISTS RESIDUA_FAMILY_HEADERS)
      string(FIND "${entry}" "=" cut)
      string(SUBSTRING "${entry}" 0 ${cut} family)
      math(EXPR cut "${cut} + 1")
      string(SUBSTRING "${entry}" ${cut} -1 pattern)
      if(include MATCHES "${pattern}")
        set(owner "${family}")
        break()
      endif()
    endforeach()
  endif()
  set(${out} "${owner}" PARENT_SCOPE)
endfunction()

function(residua_include_refuse root file include reason)
  # Only a refusal pays for finding the line number.
  file(READ "${file}" text)
  string(FIND "${text}" "${include}" at)
  string(SUBSTRING "${text}" 0 ${at} before)
  string(REGEX MATCHALL "\n" newlines "${before}")
  list(LENGTH newlines line)
  math(EXPR line "${line} + 1")
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${root}" OUTPUT_VARIABLE shown)
  message(FATAL_ERROR "${shown}:${line}: includes \"${include}\": ${reason}")
endfunction()

# The place of a path in the order of the folders below `top`; -1 where it has none.
function(residua_folder_place path top out)
  set(place -1)
  if(path MATCHES "^${top}/([^/]+)/")
    list(FIND RESIDUA_FOLDER_ORDER_${top} "${CMAKE_MATCH_1}" place)
  elseif(path MATCHES "^${top}/")
    list(LENGTH RESIDUA_FOLDER_ORDER_${top} place)
  endif()
  set(${out} ${place} PARENT_SCOPE)
endfunction()

# Stops at a file in a folder that the order of what is above it does not name.
function(residua_check_folder_known root file)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${root}" OUTPUT_VARIABLE path)
  foreach(top IN LISTS RESIDUA_ORDERED_FOLDERS)
    if(NOT path MATCHES "^${top}/")
      continue()
    endif()
    residua_folder_place("${path}" "${top}" place)
    if(place EQUAL -1 AND path MATCHES "^(${top}/[^/]+)/")
      set(folder "${CMAKE_MATCH_1}")
      set(own_module FALSE)
      foreach(entry IN LISTS RESIDUA_MODULE_FOLDERS)
        if(entry MATCHES "^${folder}=")
          set(own_module TRUE)
        endif()
      endforeach()
      if(NOT own_module)
        message(FATAL_ERROR "${path}: the folder ${folder} has no place in RESIDUA_FOLDER_ORDER_${top}: give it one, "
          "before all that may include it")
      endif()
    endif()
  endforeach()
endfunction()

# Refuses an include of a folder that comes later in an order that has both.
function(residua_check_folder_order root file include)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${root}" OUTPUT_VARIABLE from)
  foreach(top IN LISTS RESIDUA_ORDERED_FOLDERS)
    if(NOT from MATCHES "^${top}/" OR NOT include MATCHES "^${top}/")
      continue()
    endif()
    residua_folder_place("${from}" "${top}" here)
    residua_folder_place("${include}" "${top}" there)
    if(here GREATER_EQUAL 0 AND there GREATER here)
      list(JOIN RESIDUA_FOLDER_ORDER_${top} ", " shown)
      residua_include_refuse("${root}" "${file}" "${include}"
        "a folder of ${top} may include itself and those before it: ${shown}")
    endif()
  endforeach()
endfunction()

# Scans `files` and every header of the same module that they include. `public` are the headers that modules show each
# other, which all but tests keep to. `out` receives all files that were read.
function(residua_check_includes root module allowed public files out)
  set(queue ${files})
  set(seen "")
  while(queue)
    list(POP_FRONT queue file)
    if(file IN_LIST seen OR NOT EXISTS "${file}")
      continue()
    endif()
    list(APPEND seen "${file}")
    residua_check_folder_known("${root}" "${file}")
    file(STRINGS "${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
      if(NOT line MATCHES "include[ \t]*[<\"]([^>\"]+)[>\"]")
        continue()
      endif()
      set(include "${CMAKE_MATCH_1}")
      if(include MATCHES "(^|/)[.][.]/")
        residua_include_refuse("${root}" "${file}" "${include}" "paths start at the top of the checkout, without \"..\"")
      endif()
      residua_check_folder_order("${root}" "${file}" "${include}")
      residua_include_owner("${include}" owner)
      if(owner STREQUAL module)
        list(APPEND queue "${root}/${include}")
      elseif(owner AND NOT owner IN_LIST allowed)
        string(REPLACE ";" ", " shown "${allowed}")
        if(NOT shown)
          set(shown "nothing")
        endif()
        residua_include_refuse("${root}" "${file}" "${include}"
          "that is ${owner}'s, and ${module} may include only its own headers, the standard library and: ${shown}")
      elseif(RESIDUA_MODULE_FOLDERS MATCHES "=${owner}(;|$)" AND NOT module STREQUAL "tests" AND NOT include IN_LIST public)
        residua_include_refuse("${root}" "${file}" "${include}"
          "no HEADERS list names it, so ${owner} keeps it to itself: name it in HEADERS or include a header that is there")
      endif()
    endforeach()
  endwhile()
  set(${out} "${seen}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  residua_check_includes("${ROOT}" "${MODULE}" "${ALLOWED}" "${PUBLIC}" "${FILES}" scanned)
  file(TOUCH "${STAMP}")
endif()
