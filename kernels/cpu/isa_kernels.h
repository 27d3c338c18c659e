// SPDX-License-Identifier: GPL-3.0-or-later
// The entry points of one instruction set; see isa_table.h for their contracts.
#pragma once

#include "kernels/cpu/isa_table.h"

namespace residua::kernels::RESIDUA_ISA {

void mixForward(const MixForward& mix, std::int64_t begin, std::int64_t end);
void mixWeightGrad(const MixWeightGrad& mix, const PartialLayout& layout, std::int64_t beginChunk,
                   std::int64_t endChunk);
void mixGather(const MixGather& mix, std::int64_t begin, std::int64_t end);
void normForward(const NormForward& norm, std::int64_t begin, std::int64_t end);
void normBackward(const NormBackward& norm, std::int64_t begin, std::int64_t end, void* weightPartial);
void swigluForward(const SwigluForward& swiglu, std::int64_t begin, std::int64_t end);
void swigluBackward(const SwigluBackward& swiglu, std::int64_t begin, std::int64_t end);
void rotary(const Rotary& rotation, std::int64_t begin, std::int64_t end);

} // namespace residua::kernels::RESIDUA_ISA
