# SPDX-License-Identifier: GPL-3.0-or-later
# Writes OUTPUT, a source with the build's identity: VERSION, and a hash of the HEADERS that say what crosses between the
# programs and the engine's process. At build time, so that a change of a header does not configure anew.
#
#   cmake -DHEADERS=<list> -DVERSION=<text> -DOUTPUT=<file> -P BuildIdentity.cmake
set(hashes "")
foreach(header IN LISTS HEADERS)
  file(SHA256 "${header}" hash)
  string(APPEND hashes "${hash} ")
endforeach()
string(SHA256 identity "${hashes}")
string(SUBSTRING "${identity}" 0 16 identity) # as much as a person compares in an error
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/wire/messages.h"

const char* residua::engine::buildIdentity() noexcept
{
    return "@VERSION@ @identity@";
}
]])
