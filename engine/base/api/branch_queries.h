// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/run_ref.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Queries that make a run with the weights of another: each with its answer and its fields.
namespace residua::engine {

struct RetrofitReady {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::int64_t step = 0;
    std::vector<std::string> kept;    ///< names of parameters that keep their values and optimiser state
    std::vector<std::string> added;   ///< names of new parameters, without optimiser state
    std::vector<std::string> dropped; ///< of the old topology
    double difference = 0; ///< the largest difference of the outputs on examples of the data, in the run's precision
    double differenceInDouble = 0; ///< the same, computed in double precision
    // If the request was measured, instead of the differences:
    double lossBefore = 0; ///< mean over `batches` of the validation split, or of the training split if that is empty
    double lossAfter = 0;  ///< on the same batches
    std::int64_t batches = 0;       ///< 0: not measured
    std::vector<std::string> notes; ///< as SampleReady's
};

/// Makes `newRun` (as StartRun's directory; empty: a new one beside the run) that continues from a checkpoint under
/// `topology`, or under the run's own without some shortcuts and layers. Keeps the remaining weights with their
/// optimiser state; new parameters start afresh. Blocks whose attention has separate inputs in the topology get its
/// ports. ResumeRun trains the new run.
///
/// Unless `measured`, the new run at first computes the same function, and the request is refused with the reason if it
/// would not. If `measured`, weights and moments are kept by name, and of tensors with a row for each shortcut or
/// module by row; the answer has the loss before and after.
struct RetrofitRequest {
    using Answer = RetrofitReady;
    QueryTag tag{};
    RunRef of;
    projects::Topology topology; ///< not used if `prune` or `ties` is given
    std::string prune;           ///< parts to leave out (projects/transfer/prune.h); implies `measured`
    /// "untie", or layers that become visits (projects/transfer/ties.h), in place of a topology; implies `measured`
    std::string ties = {};
    bool measured = false;
    std::optional<projects::Project> project; ///< the run's with other settings of training and schedule
    std::filesystem::path newRun;
    std::optional<std::int64_t> steps; ///< a new total of steps
    std::string tower = {};            ///< the name of the changed tower; empty: the first
};

constexpr void describe(const RetrofitRequest*, auto&& v)
{
    v({"topology",
       "topology",
       "a preset, shortcuts (0:2+1:3), or a project to take it from",
       {.value = "NAME", .need = projects::Need::Required}},
      &RetrofitRequest::topology);
    v({"prune",
       {},
       "shortcuts and layers that are left out, separated by commas: 2:7, 3:* (all out of 3), *:5 (all into 5), layer "
       "4",
       {.value = "PARTS"}},
      &RetrofitRequest::prune);
    v({"layers",
       "layers and visits",
       "the layers that become visits of a loop, and how many visits: 3:10,4; then average or stepwise for the "
       "weights, cycle or in_place for the order, and rank=16 for products of this rank that each visit adds",
       {.value = "TIE"}},
      &RetrofitRequest::ties);
    v({"measured", "go on though the outputs change",
       "go on though the outputs change; the loss before and after is measured"},
      &RetrofitRequest::measured);
    v(keyed("settings"), &RetrofitRequest::project);
    v(kNewRun, &RetrofitRequest::newRun);
    v(kNewSteps, &RetrofitRequest::steps);
    v(kTower, &RetrofitRequest::tower);
}

/// The end of a refusal of RetrofitRequest that does not occur if it is measured.
inline constexpr const char* kGoOnMeasured = "; --measured goes on anyway";

struct FactoriseReady {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::int64_t step = 0;
    /// A weight that was factored.
    struct Weight {
        std::string name; ///< "layers.1.up.weight"
        std::int64_t rank = 0;
        double relativeError = 0; ///< ‖u·v − W‖_F / ‖W‖_F
    };
    std::vector<Weight> weights;
    std::int64_t parametersBefore = 0;
    std::int64_t parametersAfter = 0;
    double lossBefore = 0; ///< mean over `batches` of the validation split, or of the training split if that is empty
    double lossAfter = 0;  ///< on the same batches
    std::int64_t batches = 0;
    std::vector<std::string> notes; ///< as SampleReady's, and remarks on the fits
};

/// Makes `newRun`, as RetrofitRequest does, that continues from a checkpoint with the weights of its blocks replaced by
/// two factors of `rank` that approximate them. The fits go layer by layer from the first: each uses the inputs that
/// the layers before it, already factored, compute from a batch of the training data. Everything else is kept with its
/// optimiser state; that of the factors starts afresh. Weights already in factors are unchanged. Refused if no weight
/// is left to factor.
struct FactoriseRequest {
    using Answer = FactoriseReady;
    QueryTag tag{};
    RunRef of;
    projects::WeightRank rank = projects::RankScale{};
    projects::LowRankMethod method = projects::LowRankMethod::Exact; ///< any but Baseline
    projects::LowRankInputs inputs = projects::LowRankInputs::Data;  ///< Gaussian: does not read the data
    std::filesystem::path newRun;
    std::optional<std::int64_t> steps; ///< a new total of steps
    std::string tower = {};            ///< the name of the changed tower; empty: the first
};

constexpr void describe(const FactoriseRequest*, auto&& v)
{
    v({"rank", "rank scale", "the rank as a share of each weight's smaller side", {.need = projects::Need::Required}},
      &FactoriseRequest::rank);
    v({"method", "method", {}, {.value = "NAME"}}, &FactoriseRequest::method);
    v({"inputs", "fitted to", "data: fitted to each layer's own; or gaussian", {.value = "NAME"}},
      &FactoriseRequest::inputs);
    v(kNewRun, &FactoriseRequest::newRun);
    v(kNewSteps, &FactoriseRequest::steps);
    v(kTower, &FactoriseRequest::tower);
}

} // namespace residua::engine
