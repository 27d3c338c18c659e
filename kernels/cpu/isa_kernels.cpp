// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/isa_table.h"

namespace residua::kernels::RESIDUA_ISA {

#define RESIDUA_TEXT(name) RESIDUA_TEXT_OF(name)
#define RESIDUA_TEXT_OF(name) #name

const IsaTable& table()
{
    static constexpr IsaTable kTable = {RESIDUA_TEXT(RESIDUA_ISA),
                                        mixForward,
                                        mixWeightGrad,
                                        mixGather,
                                        normForward,
                                        normBackward,
                                        swigluForward,
                                        swigluBackward,
                                        rotary,
                                        dropout,
                                        streamsForward,
                                        streamsBackward};
    return kTable;
}

} // namespace residua::kernels::RESIDUA_ISA
