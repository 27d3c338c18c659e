// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cpu/parallel.h"
#include "kernels/depth_mix.h"
#include "kernels/dropout.h"
#include "kernels/streams.h"
#include "kernels/transformer.h"

namespace residua::kernels {

// The functions that exist once per instruction set. Each processes a range of tokens or chunks on one thread; its
// arguments have been validated.

/// The layout of a chunk's partial sums in the workspace of mixWeightGrad: weightGrad's elements, then
/// gateVectorGrad's.
struct PartialLayout {
    ChunkLayout chunks;
    std::int64_t weightElements;
    std::int64_t vectorElements;
};

struct IsaTable {
    const char* name;
    void (*mixForward)(const MixForward& mix, std::int64_t begin, std::int64_t end);
    void (*mixWeightGrad)(const MixWeightGrad& mix, const PartialLayout& layout, std::int64_t beginChunk,
                          std::int64_t endChunk);
    void (*mixGather)(const MixGather& mix, std::int64_t begin, std::int64_t end);
    void (*normForward)(const NormForward& norm, std::int64_t begin, std::int64_t end);
    /// Processes one chunk of tokens; weightPartial is the chunk's [d] in the workspace, or null.
    void (*normBackward)(const NormBackward& norm, std::int64_t begin, std::int64_t end, void* weightPartial);
    void (*swigluForward)(const SwigluForward& swiglu, std::int64_t begin, std::int64_t end);
    void (*swigluBackward)(const SwigluBackward& swiglu, std::int64_t begin, std::int64_t end);
    void (*rotary)(const Rotary& rotation, std::int64_t begin, std::int64_t end);  ///< over (batch, time)
    void (*dropout)(const Dropout& dropout, std::int64_t begin, std::int64_t end); ///< over (example, group)
    void (*streamsForward)(const StreamsForward& streams, std::int64_t begin, std::int64_t end);
    /// Processes one chunk of tokens; rowsPartial is the chunk's gradient of the rows in the workspace, or null.
    void (*streamsBackward)(const StreamsBackward& streams, std::int64_t begin, std::int64_t end, void* rowsPartial);
};

/// Returns the table of the widest instruction set that this processor has, limited by the environment variable
/// RESIDUA_CPU_ISA (baseline, avx2, avx512). Chosen once.
[[nodiscard]] const IsaTable& isaTable();

} // namespace residua::kernels

namespace residua::kernels::RESIDUA_ISA {

// The entry points of one instruction set; see isa_table.h for their contracts.

void mixForward(const MixForward& mix, std::int64_t begin, std::int64_t end);
void mixWeightGrad(const MixWeightGrad& mix, const PartialLayout& layout, std::int64_t beginChunk,
                   std::int64_t endChunk);
void mixGather(const MixGather& mix, std::int64_t begin, std::int64_t end);
void normForward(const NormForward& norm, std::int64_t begin, std::int64_t end);
void normBackward(const NormBackward& norm, std::int64_t begin, std::int64_t end, void* weightPartial);
void swigluForward(const SwigluForward& swiglu, std::int64_t begin, std::int64_t end);
void swigluBackward(const SwigluBackward& swiglu, std::int64_t begin, std::int64_t end);
void rotary(const Rotary& rotation, std::int64_t begin, std::int64_t end);
void dropout(const Dropout& dropout, std::int64_t begin, std::int64_t end);
void streamsForward(const StreamsForward& streams, std::int64_t begin, std::int64_t end);
void streamsBackward(const StreamsBackward& streams, std::int64_t begin, std::int64_t end, void* rowsPartial);

} // namespace residua::kernels::RESIDUA_ISA
