// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/init/named_parameter.h"
#include "engine/compute/ranks/ranks.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace residua::engine {

/// Replaces gradients by their means over the ranks while the backward pass computes the others. The parameters are
/// divided into buckets in the order in which a backward pass reaches the network's parts. A bucket is exchanged when
/// its gradients and the buckets before it are ready, so that the order is the same on every rank. Gradients are
/// exchanged where they are, except those in memory that other tensors use too. Gradients that the
/// pass does not compute, such as those of absent layers, are not exchanged.
class GradientExchange {
public:
    /// Both must outlive it. `device` is that of the parameters. Throws if the ranks cannot exchange its tensors.
    GradientExchange(Ranks& ranks, std::vector<NamedParameter>& parameters, at::Device device);
    ~GradientExchange() { m_ranks.leaveGpu(); }
    GradientExchange(const GradientExchange&) = delete;
    GradientExchange& operator=(const GradientExchange&) = delete;

    /// Begins an exchange: after the forward pass of a step's last micro-batch and before its backward pass. `loss` is
    /// the step's loss on this rank, a scalar.
    void begin(const at::Tensor& loss);
    /// Exchanges the rest, after the backward pass. Returns the mean of the loss. The gradients are means, on a GPU in
    /// the current stream. Throws std::runtime_error with the ranks that have ended.
    [[nodiscard]] at::Tensor finish();

private:
    struct Bucket {
        std::vector<std::size_t> parameters; ///< indices, of one type
        std::size_t missing = 0;             ///< gradients that the pass still computes
    };

    void ready(std::size_t bucket);
    /// Exchanges the buckets before `end` that have not begun.
    void exchangeUntil(std::size_t end);
    void exchange(const Bucket& bucket);

    Ranks& m_ranks;
    TensorExchange& m_exchange;
    std::vector<NamedParameter>& m_parameters;
    at::Tensor m_head; ///< the loss and the times of the step before

    std::mutex m_mutex; ///< guards the following: on a GPU the backward pass has a thread of its own
    std::vector<Bucket> m_buckets;
    std::size_t m_begun = 0;                                  ///< buckets whose exchange has begun
    std::shared_ptr<std::function<void(std::size_t)>> m_hook; ///< of the pass; hooks of earlier ones have expired
};

} // namespace residua::engine
