// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/measure_queries.h"
#include "engine/compute/network/network.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/evaluation.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// Returns an error unless loop `loop`, from 1, of the project's first tower can be measured over its visits.
[[nodiscard]] Status checkVisits(const projects::Project& project, std::int64_t loop);

/// Measures a loop over its visits (VisitMeasure) on held-out examples, one batch at a time: a pass, one from another
/// start, one with a backward pass, one of kSettledVisits + 1 visits, and on the first batch the power method. Engine
/// thread.
class VisitMeasures {
public:
    /// Uses `batches` batches of the validation split (0: all of it) and the network as it is after `step` steps.
    /// `loop` is an index that checkVisits() accepts, `apart` that of VisitsRequest. If the loop may make more visits,
    /// the network is one of withMoreVisits(). All references must outlive this.
    VisitMeasures(CompiledNetwork& network, const Dataset& dataset, const projects::Project& project,
                  c10::Device device, std::int64_t batches, std::int64_t step, std::size_t loop, double apart);

    /// Adds one batch, or sets atEnd() if no batch is left.
    [[nodiscard]] Status advance();
    [[nodiscard]] bool atEnd() const { return m_atEnd; }
    [[nodiscard]] std::int64_t batchesDone() const { return m_batches.count(); }
    /// Returns the mean loss; NaN before the first batch.
    [[nodiscard]] double loss() const { return m_loss.loss(); }
    /// Returns VisitsReady::curves.
    [[nodiscard]] std::vector<VisitCurve> curves() const;
    /// Returns the reasons for missing curves.
    [[nodiscard]] std::vector<std::string> notes() const;

private:
    /// A sum and what divides it.
    using Ratio = std::pair<double, double>;
    using States = std::vector<at::Tensor>; ///< before the first visit, then after each one
    /// The sum of the branches of a stored layer, by layer and visit.
    using Writes = std::map<std::int64_t, std::map<std::int64_t, at::Tensor>>;

    void add(VisitMeasure measure, std::int64_t layer, std::int64_t visit, double above, double below);
    /// Returns the states of a pass that `replace` may change, given the number of visits so far.
    template <class Replace>
    at::Tensor run(const DeviceBatch& batch, const Replace& replace, Writes* writes = nullptr, std::int64_t visits = 0);
    void addStates(const States& states);
    void addWrites(const Writes& writes);
    void addOtherStart(const DeviceBatch& batch, const States& states);
    void addGradients(const DeviceBatch& batch);
    void addRadius(std::int64_t visit, const at::Tensor& after, const at::Tensor& before);
    void addResidual(const DeviceBatch& batch);

    CompiledNetwork& m_network;
    const projects::Stack& m_stack;
    c10::Device m_device;
    SplitBatches m_batches;
    Pass m_pass;
    std::size_t m_index;
    const projects::Loop& m_loop;
    double m_apart;
    bool m_atEnd = false;
    bool m_isClosed = false;
    BatchMeans m_loss;
    std::vector<std::pair<std::int64_t, at::Tensor>> m_weights; ///< of the loop's layers, by stored layer
    std::map<std::pair<VisitMeasure, std::int64_t>, std::vector<Ratio>> m_sums; ///< by layer, of each visit
};

} // namespace residua::engine
