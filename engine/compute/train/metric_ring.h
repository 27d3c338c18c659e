// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <vector>

namespace residua::engine {

/// True if a step with this loss and this gradient norm has not diverged.
[[nodiscard]] bool isFiniteStep(double loss, double gradientNorm);

/// The losses and gradient norms of the last steps, kept on the device until a batch of them is read in one copy. On a
/// GPU, which computes a step after the host has enqueued it, it also measures the duration of the steps.
class MetricRing {
public:
    MetricRing(c10::Device device, std::int64_t capacity);

    /// Begins a step. Enqueues without waiting.
    void begin();
    /// Adds to the current step's loss (the share of one micro-batch). Enqueues without waiting. Throws if the ring is
    /// full.
    void addLoss(const at::Tensor& loss);
    /// Discards the current step's loss.
    void dropLoss();
    /// Ends the step, with its norm and the values known on the host. On a GPU, the record's seconds are those from
    /// begin() to here, for this step only, instead of `known.seconds`.
    void commit(const at::Tensor& gradientNorm, const StepRecord& known);

    /// True if the last step's values are finite, before its record is taken. Only for a ring on the CPU.
    [[nodiscard]] bool isLastFinite() const;

    /// Returns all steps since the last call, complete. Waits for the device if there are any.
    [[nodiscard]] std::vector<StepRecord> take();

private:
    /// Marks on the device's stream.
    struct Span {
        c10::Event begin;
        c10::Event end;
    };
    [[nodiscard]] bool timesSteps() const { return !m_values.is_cpu(); }

    at::Tensor m_values;              ///< [capacity, 2]: loss, norm
    std::vector<at::Tensor> m_losses; ///< views of m_values
    std::vector<at::Tensor> m_norms;
    std::vector<Span> m_spans; ///< of the steps, on a GPU
    std::vector<StepRecord> m_records;
};

} // namespace residua::engine
