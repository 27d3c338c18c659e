// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/isa_table.h"

#include <cstdlib>
#include <string_view>

namespace residua::kernels {

namespace baseline {
const IsaTable& table();
}
namespace avx2 {
const IsaTable& table();
}
namespace avx512 {
const IsaTable& table();
}

namespace {

bool hasAvx2()
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

bool hasAvx512()
{
    return hasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/// Returns the best table for the processor. RESIDUA_CPU_ISA (baseline, avx2, avx512) is an upper limit.
const IsaTable& choose()
{
    const char* variable = std::getenv("RESIDUA_CPU_ISA");
    const std::string_view wanted = variable ? variable : "";
    if (wanted == "baseline" || !hasAvx2())
        return baseline::table();
    if (wanted == "avx2" || !hasAvx512())
        return avx2::table();
    return avx512::table();
}

} // namespace

const IsaTable& isaTable()
{
    static const IsaTable& table = choose();
    return table;
}

} // namespace residua::kernels
