// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/data/dataset.h"
#include "engine/network/network.h"
#include "engine/train/batches.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace residua::engine {

/// Returns the F1 scores of counted classes as metrics: "macro_f1", the mean over the classes that have an example or
/// were predicted, and of two classes also "f1", that of class 1. F1 is 2·TP/(2·TP + FP + FN). A score without any
/// such example is 0.
[[nodiscard]] std::map<std::string, double> f1Of(const Matrix& confusion);

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
    /// Returns the quantities by name ("loss") over all units so far; empty before the first batch. They are means with
    /// equal weights, and the F1 of the confusion matrix (f1Of). Waits for the device.
    [[nodiscard]] std::map<std::string, double> means() const;
    /// Returns matrix::kConfusion of all examples so far, at `step`; nullopt if the objective has none. Waits for the
    /// device.
    [[nodiscard]] std::optional<Matrix> confusion(std::int64_t step) const;
    /// Returns the mean loss; NaN before the first batch. Waits for the device.
    [[nodiscard]] double loss() const;

private:
    CompiledNetwork& m_network;
    c10::Device m_device;
    SplitBatches m_batches;
    bool m_atEnd = false;
    BatchMeans m_sums;      ///< of the means times units, on the device
    at::Tensor m_confusion; ///< the sum over the batches, on the device
    std::int64_t m_units = 0;
};

} // namespace residua::engine
