// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <vector>

namespace residua::engine {

/// Whether a step with this loss and this norm of its gradient has not diverged.
[[nodiscard]] bool isFiniteStep(double loss, double gradientNorm);

/// Losses and gradient norms of the last steps, kept on the device until a batch of them is read in one copy. On a GPU,
/// which computes a step after the host has enqueued it, it also times the steps.
class MetricRing {
public:
    MetricRing(c10::Device device, std::int64_t capacity);

    /// Begins a step. Enqueues, never waits.
    void begin();
    /// Adds to the loss of the step under way (one micro-batch's share of it). Enqueues, never waits. Throws where the
    /// ring is full.
    void addLoss(const at::Tensor& loss);
    /// Forgets the loss of the step under way.
    void dropLoss();
    /// Ends the step: its norm, and what the host knows of it. On a GPU `known.seconds` is replaced by the seconds from
    /// begin() to here, of this step alone, when the record is taken.
    void commit(const at::Tensor& gradientNorm, const StepRecord& known);

    /// Whether the numbers of the last step are finite, before it is taken. For a ring on the CPU, which has them.
    [[nodiscard]] bool isLastFinite() const;

    /// All steps since the last take, complete. Waits for the device, unless there are none.
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
