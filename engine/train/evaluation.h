// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/dataset.h"
#include "engine/network/network.h"
#include "engine/train/batches.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

namespace residua::engine {

/// The means of the objective's quantities on consecutive batches of a split, one batch at a time, so that training can
/// continue in between.
class Evaluation {
public:
    /// At most `batches` batches of plan.batch examples; 0: to the end of the split. The network must outlive this.
    Evaluation(CompiledNetwork& network, const Dataset& dataset, Split split, const projects::TrainingPlan& plan,
               c10::Device device, std::int64_t batches);

    /// Adds one batch, or sets atEnd() if no batch is left. `pass` must be one of evaluation. Returns an error if the
    /// data can no longer be read.
    [[nodiscard]] Status advance(const Pass& pass = Pass());
    [[nodiscard]] bool atEnd() const { return m_atEnd; }
    [[nodiscard]] std::int64_t batchesDone() const { return m_batches.count(); }
    /// Returns the means of all quantities by name ("loss") over all units so far, with equal weights; empty before the
    /// first batch. Waits for the device.
    [[nodiscard]] std::map<std::string, double> means() const;
    /// Returns the mean loss; NaN before the first batch. Waits for the device.
    [[nodiscard]] double loss() const;

private:
    CompiledNetwork& m_network;
    c10::Device m_device;
    SplitBatches m_batches;
    bool m_atEnd = false;
    BatchMeans m_sums; ///< of the means times units, on the device
    std::int64_t m_units = 0;
};

} // namespace residua::engine
