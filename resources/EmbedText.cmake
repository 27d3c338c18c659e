# SPDX-License-Identifier: GPL-3.0-or-later
# Writes the source of helpPages(): every page as a raw string, under the name of its file.
#   cmake "-DFILES=a.md;b.md" -DOUTPUT=help_pages.cpp -P EmbedText.cmake
cmake_minimum_required(VERSION 3.25)

set(entries "")
foreach(path IN LISTS FILES)
  cmake_path(GET path STEM name)
  file(READ "${path}" text)
  if(text MATCHES "[)]page\"")
    message(FATAL_ERROR "${path}: holds )page\", which would end its string")
  endif()
  string(APPEND entries "    {\"${name}\", R\"page(${text})page\"},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Generated from resources/help by EmbedText.cmake.
#include \"resources/help.h\"

namespace residua::resources {

std::span<const HelpPage> helpPages()
{
    static constexpr HelpPage kPages[] = {
${entries}    };
    return kPages;
}

} // namespace residua::resources
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
