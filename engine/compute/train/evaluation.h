// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/compute/network/network.h"
#include "engine/compute/train/batches.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Returns the F1 scores of counted classes as metrics: "macro_f1", the mean over the classes that have an example or
/// were predicted, and of two classes also "f1", that of class 1. F1 is 2·TP/(2·TP + FP + FN). A score without any
/// such example is 0.
[[nodiscard]] std::map<std::string, double> f1Of(const Matrix& confusion);

/// Means over the targets of several batches, and not means of the batches' means, which have different numbers of
/// targets.
class BatchMeans {
public:
    /// Adds the means of a batch of `units` units. Every call has the same quantities in the same order.
    void add(const std::vector<BatchMean>& means, std::int64_t units);
    /// Returns the means by name; empty before the first batch, 0 if no batch had a target. Waits for the device.
    [[nodiscard]] std::map<std::string, double> values() const;
    /// Returns the mean of "loss"; NaN before the first batch. Waits for the device.
    [[nodiscard]] double loss() const;

private:
    struct Sum {
        std::string name;
        at::Tensor total; ///< of the means times their targets, in double on the device
        at::Tensor count; ///< of the targets; undefined: all units
    };
    std::vector<Sum> m_sums;
    std::int64_t m_units = 0;
};

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
    /// Returns the quantities by name ("loss") over all targets so far, which do not depend on the size of the batches,
    /// and the F1 of the confusion matrix (f1Of); empty before the first batch. Waits for the device.
    [[nodiscard]] std::map<std::string, double> means() const;
    /// Returns matrix::kConfusion of all examples so far, at `step`; nullopt if the objective has none. Waits for the
    /// device.
    [[nodiscard]] std::optional<Matrix> confusion(std::int64_t step) const;
    /// Returns the mean loss; NaN before the first batch. Waits for the device.
    [[nodiscard]] double loss() const { return m_means.loss(); }

private:
    CompiledNetwork& m_network;
    c10::Device m_device;
    SplitBatches m_batches;
    bool m_atEnd = false;
    BatchMeans m_means;
    at::Tensor m_confusion; ///< the sum over the batches, on the device
};

} // namespace residua::engine
