// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/isa_table.h"

namespace residua::kernels {

namespace baseline {
const IsaTable& table();
}

const IsaTable& isaTable()
{
    return baseline::table();
}

} // namespace residua::kernels
