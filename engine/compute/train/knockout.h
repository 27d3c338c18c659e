// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/depth/stack_borders.h"
#include "engine/compute/network/network.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/evaluation.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/alteration.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace residua::engine {

/// Passes of one batch after another, each unaltered once and then altered any number of times. An altered pass starts
/// at the first module that it changes, if the values there fit in kMostBorderBytes. No gradients; engine thread.
class AlteredPasses {
public:
    static constexpr std::int64_t kMostBorderBytes = std::int64_t{2} << 30;

    /// `pass` is one of evaluation. The network must outlive this.
    AlteredPasses(CompiledNetwork& network, Pass pass, std::int64_t mostBorderBytes = kMostBorderBytes)
        : m_network(network), m_pass(std::move(pass)), m_borders(mostBorderBytes)
    {
    }

    /// Makes whole() keep what altered passes with `alteration` use of the unaltered pass.
    void keepFor(const projects::Alteration& alteration);
    /// Runs the unaltered pass and returns the output of the stack. `magnitudes` may be null.
    [[nodiscard]] at::Tensor whole(const DeviceBatch& batch, LayerMagnitudes* magnitudes = nullptr);
    /// Returns the output of the stack for the batch of whole() under an alteration.
    [[nodiscard]] at::Tensor altered(const DeviceBatch& batch, const projects::Alteration& alteration);
    /// Returns the unaltered pass.
    [[nodiscard]] const Pass& pass() const { return m_pass; }
    [[nodiscard]] std::int64_t borderBytes() const { return m_borders.bytes(); }
    [[nodiscard]] bool bordersAreFull() const { return m_borders.isFull(); }

private:
    CompiledNetwork& m_network;
    Pass m_pass;
    StackBorders m_borders;
};

/// The effect of one subject of a knock-out.
struct KnockoutEffect {
    double rise = 0;  ///< the loss without it minus the loss of the whole network, over all targets
    double error = 0; ///< the standard error of the rise over batches; NaN of one batch
    /// The mean over the outputs of KL(p ‖ p′) in nats, p of the whole network and p′ without the subject; NaN if the
    /// network's outputs are no logits.
    double divergence = 0;
};

/// Measures what a network does without each of some subjects on held-out batches. Engine thread.
class Knockout {
public:
    /// Uses `batches` batches of the validation split (0: all of it) and the network as it is after `step` steps. All
    /// arguments must outlive this, except for the subjects.
    Knockout(CompiledNetwork& network, const Dataset& dataset, const projects::Project& project, c10::Device device,
             std::int64_t batches, std::int64_t step, std::vector<projects::KnockoutSubject> subjects);

    /// Runs subject `index` by another network with the same head in place of an alteration.
    void use(std::size_t index, std::unique_ptr<CompiledNetwork> network);

    /// Runs the next pass, of the whole network or without a subject, or sets atEnd() if no batch is left.
    [[nodiscard]] Status advance();
    [[nodiscard]] bool atEnd() const { return m_atEnd; }
    [[nodiscard]] std::int64_t batchesDone() const { return m_batches.count(); }
    [[nodiscard]] std::int64_t passesDone() const { return m_passes; }
    /// Returns the loss of the whole network; NaN before the first batch.
    [[nodiscard]] double loss() const { return m_loss.loss(); }
    [[nodiscard]] const std::vector<projects::KnockoutSubject>& subjects() const { return m_subjects; }
    /// Returns the effects in the order of the subjects, of the batches that all of them have seen.
    [[nodiscard]] std::vector<KnockoutEffect> effects() const;
    /// Returns the bytes that the last unaltered pass has kept, and whether they reached the limit.
    [[nodiscard]] std::int64_t borderBytes() const { return m_passesOf.borderBytes(); }
    [[nodiscard]] bool bordersAreFull() const { return m_passesOf.bordersAreFull(); }

private:
    struct Sums {
        BatchMeans loss;
        std::vector<double> rises; ///< of each batch
        double divergence = 0;     ///< the sum over the outputs
    };

    [[nodiscard]] Status begin();
    [[nodiscard]] double lossOf(const at::Tensor& output, BatchMeans& means);
    [[nodiscard]] at::Tensor logarithms(const at::Tensor& output);

    CompiledNetwork& m_network;
    c10::Device m_device;
    SplitBatches m_batches;
    AlteredPasses m_passesOf;
    bool m_hasLogits;
    std::vector<projects::KnockoutSubject> m_subjects;
    std::vector<Sums> m_sums;                               ///< of each subject
    std::vector<std::unique_ptr<CompiledNetwork>> m_others; ///< of each subject; null: the network, altered
    BatchMeans m_loss;
    std::optional<DeviceBatch> m_batch;
    std::size_t m_next = 0; ///< the next subject of m_batch
    double m_wholeLoss = 0; ///< of m_batch
    at::Tensor m_wholeLogarithms;
    double m_outputs = 0; ///< of all batches
    std::int64_t m_passes = 0;
    bool m_atEnd = false;
};

} // namespace residua::engine
