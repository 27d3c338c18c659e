// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/topology.h"
#include "projects/model/training_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::projects {

/// `repeat` consecutive layers that share a block but no weights.
struct StackSegment {
    std::string block;
    std::int64_t repeat = 1;

    bool operator==(const StackSegment&) const = default;
};

/// The order of a loop's visits to the layers a, b.
enum class VisitOrder {
    Cycle,   ///< a b a b: all layers, then all again
    InPlace, ///< a a b b: each layer several times before the next
};

/// How visits read the input e of their loop again. h is the residual at the end of the visit before.
enum class LoopInjection {
    None,
    Add,    ///< h + e
    Linear, ///< W·[h; e] with W [d, 2d], at every visit; for the first one h is e
};

/// The state h that the first visit of a loop reads.
enum class LoopStart {
    Input, ///< the loop's input e
    /// A truncated normal draw of deviation √(2/5) for each token and feature (Huginn), which no weight reads but
    /// through an injection. Every visit injects e then. A training step draws by example, so that ranks and
    /// micro-batches draw the same; an evaluation has one draw for all examples.
    Noise,
};

/// The norm of the state at the end of a loop's visits.
enum class LoopNorm {
    None,
    Visits, ///< after each visit (Ouro)
    Exit,   ///< after the last one only
    Head,   ///< the same with the weights of the head's first RMS norm (Huginn)
};

/// The states that visits read and write. They begin as copies of the loop's input e. A visit v computes
/// F(x) with the layers' residuals inside; n is Loop::streamCount, d the width.
enum class LoopStreams {
    None, ///< one state: the residual
    /// Lanes ℓ: x = α_v·ℓ, ℓ ← M_v·ℓ + β_v ⊗ F(x), exit Σ ℓ. α_v starts at the lane v mod n, M_v at I, β_v at 1.
    Lanes,
    /// Streams y (Hyperloop): z = RMSNorm(y) over all n·d numbers without a gain, (p, w, k) = σ(s_v·W_v·z + b_v),
    /// x = p·y, y ← k·y + 2w ⊗ (F(x) + e_v), exit mean. W_v [3n, n·d] starts at 0, so that p = 1/n and 2w = 1.
    Gated,
};

/// The law of the number of visits that a training step makes.
enum class VisitDraw {
    All,              ///< Loop::visits
    Uniform,          ///< 1 to Loop::visits, equally often
    Poisson,          ///< max(1, Poisson(mean)) (Parcae)
    Rising,           ///< not drawn: from `mean` to Loop::visits, each for an equal part of the run; evaluations too
    LogNormalPoisson, ///< 1 + Poisson(λ), λ log-normal with σ = ½ and the mean `mean` − 1 (Huginn)
};

/// The weights that gates, norms and streams of the wiring have at the visits of a loop.
enum class VisitRows {
    Visit, ///< each visit has its own
    Layer, ///< the visits of a layer share them, so that the number of visits may change
};

/// Consecutive layers that a pass visits several times with the same weights, but for `adapterRank`.
struct Loop {
    std::int64_t first = 1; ///< the first stored layer, from 1
    std::int64_t last = 1;  ///< the last one
    std::int64_t visits = 2;
    VisitOrder order = VisitOrder::Cycle;
    LoopInjection injection = LoopInjection::None;
    LoopStart start = LoopStart::Input;
    /// If true, each visit adds a learned vector of its own to its input, or with gated streams to its output (e_v);
    /// starts at 0.
    bool embedding = false;
    bool gate = false; ///< if true, a visit ends with h + σ(g)·(F(h) − h), with a learned g for each visit and feature
    LoopNorm norm = LoopNorm::None;
    /// If true, the state h after a visit has a learned probability σ(w·h + b) of being the last one, by which
    /// LossKind::ExpectedExit weighs the losses of all visits (Ouro).
    bool exitGate = false;
    VisitRows rows = VisitRows::Visit;
    LoopStreams streams = LoopStreams::None;
    std::int64_t streamCount = 4; ///< n ≥ 2
    double keep = 0.5;            ///< gated streams: the share k of a stream that a visit keeps at first
    double scale = 1;             ///< the factor of the branches inside the loop, > 0
    /// The number of visits of a training step is drawn for the whole step, and cut at `visits`. An evaluation makes
    /// evaluatedVisits() visits.
    VisitDraw draw = VisitDraw::All;
    double mean = 1;                 ///< of the drawn number, or the first one if it rises; ≥ 1
    std::int64_t gradientVisits = 0; ///< only so many last visits have a gradient (truncation); 0: all
    /// The rank r of U_v·V_v, which visit v adds to each matrix of products inside the loop (visit_adapters.h). U_v
    /// starts at 0. 0: the visits have the same matrices.
    std::int64_t adapterRank = 0;

    bool operator==(const Loop&) const = default;
};
/// True if something happens to the residual between the visits, or reads it there.
[[nodiscard]] constexpr bool changesState(const Loop& loop)
{
    return loop.injection != LoopInjection::None || loop.embedding || loop.gate || loop.norm != LoopNorm::None ||
           loop.exitGate || loop.streams != LoopStreams::None || loop.start != LoopStart::Input;
}
/// Returns VisitDraw::Rising's number of visits in step `step` of `steps`, both from 1.
[[nodiscard]] std::int64_t risenVisits(const Loop& loop, std::int64_t step, std::int64_t steps);
/// Returns the number of visits of an evaluation, of a finished run if they rise: the rounded mean of drawn ones, at
/// most Loop::visits.
[[nodiscard]] std::int64_t evaluatedVisits(const Loop& loop);
/// The largest number of visits of a loop.
inline constexpr std::int64_t kMaxVisits = 1024;
/// The largest rank of what a visit adds to a matrix.
inline constexpr std::int64_t kMostAdapterRank = 65'536;

/// A visit to a stored layer, both from 1. The visit is 1 outside loops.
struct LayerVisit {
    std::int64_t layer = 1;
    std::int64_t visit = 1;
    auto operator<=>(const LayerVisit&) const = default;
};

/// The largest number of layers of a document, stored and executed. Files and edits with more are rejected.
inline constexpr std::int64_t kMaxLayers = 4096;
/// Returns the number of stored layers of `stack`. A negative repeat counts as 0, and a very large sum saturates.
[[nodiscard]] std::int64_t layersOf(const std::vector<StackSegment>& stack);
/// True if a layer uses the block with this name.
[[nodiscard]] bool isUsed(const std::vector<StackSegment>& stack, const std::string& block);

/// Layers of one width whose entries a topology mixes, and the schedule that leaves them out of steps. A network has
/// one.
///
/// A layer with weights of its own is *stored*. A pass *executes* a stored layer once, or once for each visit of its
/// loop. Wiring, schedule, plans, costs and views count executed layers, 1 to depth(); files of weights and loops count
/// stored ones. Without loops both are the same.
struct Stack {
    std::int64_t width = 256; ///< d: features of every stack entry
    std::vector<StackSegment> segments;
    std::vector<Loop> loops; ///< ascending and disjoint; others have no effect (validate() reports them)
    Topology topology;
    StageSchedule schedule;

    [[nodiscard]] std::int64_t stored() const { return layersOf(segments); } ///< the number of stored layers
    [[nodiscard]] std::int64_t depth() const;          ///< L, the number of executed layers; saturates
    [[nodiscard]] std::int64_t evaluatedDepth() const; ///< the number of layers that an evaluation executes
    /// Returns the stored layer and the visit of executed layer `number` in 1..depth(). Other numbers are their own
    /// layer.
    [[nodiscard]] LayerVisit visitAt(std::int64_t number) const;
    /// Returns the number of an executed layer; the inverse of visitAt().
    [[nodiscard]] std::int64_t numberOf(const LayerVisit& at) const;
    /// Returns the numbers of the executed layers of stored layer `layer`, ascending; none if there is no such layer.
    [[nodiscard]] std::vector<std::int64_t> visitsOf(std::int64_t layer) const;
    /// Returns the loop that visits stored layer `layer`; null if it is executed once.
    [[nodiscard]] const Loop* loopOf(std::int64_t layer) const;
    /// True if the loop at `index` has an effect: it is within the stored layers, after the loops before it that have
    /// one, and has at least one visit.
    [[nodiscard]] bool isSound(std::size_t index) const;
    bool operator==(const Stack&) const = default;

private:
    [[nodiscard]] std::vector<const Loop*> soundLoops() const;
};
/// Returns the place of stored layer `layer` in the stack: 0 for the first one, 1 for the last one.
[[nodiscard]] double depthOfStored(const Stack& stack, std::int64_t layer);
/// Returns the stack whose executed layers have the weights of the wiring: `stack` with one visit for each loop whose
/// visits share them.
[[nodiscard]] Stack rowStackOf(const Stack& stack);
/// Returns for each executed layer the number of the layer in rowStackOf() that has its weights.
[[nodiscard]] std::vector<std::int64_t> rowLayersOf(const Stack& stack);
/// Returns every executed layer in order.
[[nodiscard]] std::vector<LayerVisit> executionOf(const Stack& stack);

} // namespace residua::projects
