// SPDX-License-Identifier: GPL-3.0-or-later
// A mixing problem in double precision, the plain composition that says what its results must be, and a runner that
// puts it through the kernels of any backend.
#pragma once

#include "kernels/depth_mix.h"

#include <string>
#include <vector>

namespace residua::tests {

struct MixCase {
    kernels::DataType dataType = kernels::DataType::float64;
    int tokens = 1;
    int width = 1;
    int sources = 1;
    int outputs = 1;
    kernels::WeightKind weightKind = kernels::WeightKind::scalar;
    kernels::GateKind gateKind = kernels::GateKind::none;
    kernels::GateInput gateInput = kernels::GateInput::raw;
    kernels::ReluGradAtZero reluGradAtZero = kernels::ReluGradAtZero::one;
    bool base = false;
    bool own = false;
    int absent = -1; ///< index of a source that is not there

    [[nodiscard]] std::string name() const;
};

using Values = std::vector<double>;

/// Inputs, already rounded to the data type; weights and gates to float32 unless the data is float64.
struct MixData {
    std::vector<Values> source;  // [t][N·d]
    Values weights;              // [O, t] or [O, t, d]
    Values tokenWeights;         // [O, t, N]
    Values gateVectors;          // [O, d]
    std::vector<Values> base;    // [O][N·d]
    std::vector<Values> outGrad; // [O][N·d]
    Values own;                  // [N·d], added to every source's gradient
};

struct MixResult {
    std::vector<Values> out; // [O][N·d]
    Values gateLogits;       // [O, t, N] of relu gates
    Values rstd;             // [t, N] of normalised gate inputs
    Values weightGrad;
    Values tokenGrad; // dγ, or q of the relu gates
    Values gateVectorGrad;
    std::vector<Values> sourceGrad; // [t][N·d], empty for an absent source
};

/// Where the kernels run and allocate their memory.
class MixBackend {
public:
    virtual ~MixBackend() = default;
    /// Memory of the backend that holds a copy of `bytes` bytes; freed with the backend.
    virtual void* upload(const void* from, std::size_t bytes) = 0;
    virtual void download(void* to, const void* from, std::size_t bytes) = 0;
    virtual kernels::Status forward(const kernels::MixForward& mix) = 0;
    virtual std::size_t workspace(const kernels::MixWeightGrad& mix) = 0;
    virtual kernels::Status weightGrad(const kernels::MixWeightGrad& mix) = 0;
    virtual kernels::Status gather(const kernels::MixGather& mix) = 0;
};

[[nodiscard]] MixData randomData(const MixCase& mix, unsigned seed);

/// The composition, in double precision and without any of the kernels' tricks.
[[nodiscard]] MixResult reference(const MixCase& mix, const MixData& data);

/// Σ_o <outGrad_o, out_o>: the loss whose gradients the backward kernels compute.
[[nodiscard]] double referenceLoss(const MixCase& mix, const MixData& data);

/// Forward, weight gradients and the gather of every source. Throws std::runtime_error with a kernel's complaint.
[[nodiscard]] MixResult runKernels(const MixCase& mix, const MixData& data, MixBackend& backend);

/// The results that mixWeightGrad is asked for.
struct WantedGradients {
    bool weights = true;
    bool tokens = true;
    bool vectors = true;
};

/// Returns the results of forward and mixWeightGrad. Unwanted results, and those that the kinds lack, are empty.
[[nodiscard]] MixResult runWeightGrad(const MixCase& mix, const MixData& data, MixBackend& backend,
                                      const WantedGradients& wanted);

/// The gradient of source 0 that several readers share, by one gather; the cases agree in type, tokens and width.
[[nodiscard]] Values gatherShared(const std::vector<MixCase>& mixes, const std::vector<MixData>& data,
                                  MixBackend& backend);

/// Empty, or where and by how much `got` leaves `want`.
[[nodiscard]] std::string difference(const MixCase& mix, const MixResult& got, const MixResult& want);
[[nodiscard]] std::string difference(const std::string& what, const Values& got, const Values& want, double tolerance);

/// Kinds × types × outputs × base, each with one of a cycle of odd and even shapes.
[[nodiscard]] std::vector<MixCase> caseTable();

} // namespace residua::tests
