// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/session_table.h"

namespace residua::engine {

const char* buildIdentity() noexcept
{
    return RESIDUA_BUILD_IDENTITY;
}

} // namespace residua::engine
