// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/compute/network/network.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/evaluation.h"
#include "engine/compute/train/knockout.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <vector>

namespace residua::engine {

/// Measures the effect of leaving out each layer on held-out examples (RaPTr, section 5.1), one batch at a time with L
/// + 1 passes each. A layer is left out as in a schedule's step, but the others are not rescaled. Ψ and the norms are
/// root mean squares, over examples or tokens, of the 2-norm over features. Engine thread.
class Stability {
public:
    /// Uses `batches` batches of the validation split (0: all of it) and the network as it is after `step` steps. All
    /// arguments must outlive this.
    Stability(CompiledNetwork& network, const Dataset& dataset, const projects::Project& project, c10::Device device,
              std::int64_t batches, std::int64_t step);

    /// Adds one batch, or sets atEnd() if no batch is left.
    [[nodiscard]] Status advance();
    [[nodiscard]] bool atEnd() const { return m_atEnd; }
    [[nodiscard]] std::int64_t batchesDone() const { return m_batches.count(); }
    /// Returns L(F), the mean over all units; NaN before the first batch.
    [[nodiscard]] double loss() const { return m_loss.loss(); }
    /// Returns matrix::kStability and matrix::kStabilityGap; empty before the first batch.
    [[nodiscard]] std::vector<Matrix> matrices() const;

private:
    struct Sums {
        double effect = 0; ///< the sum of squares over the rows
        double output = 0;
        BatchMeans loss;
    };

    [[nodiscard]] bool canGo(std::size_t layer) const;
    void addOutputs(const Matrix& magnitudes, double features, double rows, double last);
    [[nodiscard]] Matrix gapOf(const Matrix& stability) const;

    CompiledNetwork& m_network;
    const projects::Project& m_project;
    c10::Device m_device;
    SplitBatches m_batches;
    std::int64_t m_step;
    AlteredPasses m_passes; ///< with the whole network's use of each layer
    bool m_atEnd = false;
    std::vector<Sums> m_layers;
    BatchMeans m_loss;
    double m_rows = 0; ///< the number of examples or tokens
};

} // namespace residua::engine
