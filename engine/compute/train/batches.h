// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace residua::engine {

/// Returns the batch as tensors with the shapes of the schema's fields: tokens, or `real`. On the CPU tokens are int64,
/// and the tensors may view the batch's memory, which must not change until the backward pass is done. On a GPU tokens
/// are int32, and the batch may be refilled at once.
[[nodiscard]] DeviceBatch upload(Batch& batch, const projects::ExampleSchema& schema, c10::Device device,
                                 at::ScalarType real);

/// Returns a batch of the first `examples` examples, or of all if there are fewer, as views.
[[nodiscard]] DeviceBatch firstOf(const DeviceBatch& batch, std::int64_t examples);
/// Cuts each sequence of the batch after `time` tokens.
void shorten(DeviceBatch& batch, const projects::ExampleSchema& schema, std::int64_t time);

/// Returns the number of tokens or samples in a batch.
[[nodiscard]] std::int64_t unitsIn(const Batch& batch, const projects::ExampleSchema& schema);

/// Returns the number of tokens of the target that are not projects::kIgnoredTarget.
[[nodiscard]] std::int64_t targetsIn(const Batch& batch, const projects::ExampleSchema& schema);

/// Consecutive batches of a split on the device, in the same order every time.
class SplitBatches {
public:
    /// At most `batches` batches of plan.batch examples; 0: to the end of the split. `dataset` and `plan` must outlive
    /// this.
    SplitBatches(const Dataset& dataset, Split split, const projects::TrainingPlan& plan, c10::Device device,
                 std::int64_t batches);

    /// Returns the next batch, which is valid until the next call; nullopt at the end. Returns an error if the data can
    /// no longer be read.
    [[nodiscard]] Result<std::optional<DeviceBatch>> next();
    /// Returns the last batch, on the host.
    [[nodiscard]] const Batch& host() const { return m_batch; }
    /// Returns the number of tokens or samples in it.
    [[nodiscard]] std::int64_t units() const { return unitsIn(m_batch, m_schema); }
    [[nodiscard]] std::int64_t count() const { return m_index; }

private:
    const Dataset& m_dataset;
    const projects::TrainingPlan& m_plan;
    projects::ExampleSchema m_schema;
    Split m_split;
    c10::Device m_device;
    std::int64_t m_limit;
    std::int64_t m_index = 0;
    Batch m_batch;
};

} // namespace residua::engine
