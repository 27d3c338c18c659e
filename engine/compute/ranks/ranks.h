// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/rank_position.h"
#include "engine/base/machine/preparation.h"
#include "engine/compute/ranks/rank_group.h"
#include "projects/base/result.h"

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

class RankPulse;
class TcpRankStore;
class TensorExchange;

/// The word that rank 0 shares before each step.
inline constexpr const char* kRankStep = "step";
/// The word that rank 0 shares before it measures a network whose values some ranks have rounded.
inline constexpr const char* kRankValues = "values";
/// The word that rank 0 shares before the optimiser's divided states are collected. Any other word ends the run.
inline constexpr const char* kRankStates = "states";

/// How the ranks spent the time of some steps, in seconds.
struct RankTimes {
    double seconds = 0;             ///< of the whole, as this rank measured it
    std::vector<double> computing;  ///< by rank, without waiting for others
    std::vector<double> exchanging; ///< by rank: gradients, also beside the backward pass
    std::int64_t steps = 0;
};

/// The processes that train one run together, each on a part of every batch. Rank 0 records. Engine thread.
class Ranks {
public:
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    /// Returns the ranks that this process belongs to, whose others it waits for at the first call; null if it trains
    /// alone (rankPosition). `watch` receives the fraction of ranks that are there; if it cancels, the others end too.
    /// Errors: the library is missing, the others are not reached, or one of them has refused.
    [[nodiscard]] static Result<Ranks*> ofProcess(const PreparationWatch& watch = {});
    /// Returns them if they have been joined, else null.
    [[nodiscard]] static Ranks* joinedOfProcess();
    /// Joins the ranks at a place, likewise.
    [[nodiscard]] static Result<std::unique_ptr<Ranks>> join(const RankPosition& place,
                                                             const PreparationWatch& watch = {});
    /// Ends the other ranks of this process, whether or not it has joined them, because it does not train: each reports
    /// `why`. Waits until they know it, a few seconds at most. Does nothing if this process trains alone.
    static void refuseOfProcess(const std::string& why);
    /// Ends the other ranks at a place before joining them, likewise.
    static void refuse(const RankPosition& place, const std::string& why);
    /// Ends the other ranks, likewise. No exchange may follow.
    void refuse(const std::string& why);

    [[nodiscard]] int rank() const { return m_place.rank; }
    [[nodiscard]] int count() const { return m_place.count; }
    /// Returns the number among the ranks of this machine.
    [[nodiscard]] int local() const { return m_place.local; }

    /// Returns the exchange of tensors on a device: by Gloo on the CPU, by NCCL on a GPU. All ranks call it together.
    /// Throws std::runtime_error if a rank cannot use its GPU for it.
    [[nodiscard]] TensorExchange& exchange(at::Device device);
    /// Gives the GPU's exchange up, while its driver still works: at the end of a run.
    void leaveGpu();
    /// Waits for the exchanges of tensors. Throws std::runtime_error with the ranks that have ended.
    void finish();
    /// Returns the sum of the ranks' values. Throws likewise.
    [[nodiscard]] double sum(double value);
    /// Returns the text of rank 0. Throws likewise.
    [[nodiscard]] std::string share(const std::string& text);

    /// Two ranks' texts that differ.
    struct Disagreement {
        int rank = 0;      ///< the first that differs from rank 0
        std::string first; ///< of rank 0
        std::string other;
    };
    using Agrees = std::function<bool(const std::string& first, const std::string& other)>;
    /// Compares the text of each rank with that of rank 0, which `agrees` receives first. Returns nullopt if all agree,
    /// else the same disagreement on all ranks. Throws likewise.
    [[nodiscard]] std::optional<Disagreement> compare(const std::string& text,
                                                      const Agrees& agrees = std::equal_to<std::string>());

    /// On a rank but the first, which waits for rank 0: asks rank 0 to stop the run once `wanted` returns false. If no
    /// step has begun, the ranks end within seconds. `wanted` is called on another thread until this is called with an
    /// empty function.
    void setWanted(std::function<bool()> wanted);
    /// Notes that training has begun: a rank that is asked to stop then waits for rank 0's checkpoint.
    void noteStep();
    /// On rank 0: returns why another rank wants the run to stop, if one does. Any thread.
    [[nodiscard]] std::optional<std::string> stopAsked() const;
    /// Returns why a rank does not train, if one has said so (refuse). Any thread.
    [[nodiscard]] std::optional<std::string> refused() const;

    /// Notes that this rank has begun a step. Until it leaves the step, the others may wait for its exchanges.
    void enterStep() { m_isInStep = true; }
    void leaveStep() { m_isInStep = false; }
    /// True if this rank has begun a step and not left it. After an error, no word can be shared: see end().
    [[nodiscard]] bool isInStep() const { return m_isInStep; }
    /// Begins the exchanges of a step. Writes the times of the last one to `times`, zeros of timesCount() numbers,
    /// which are to be summed over the ranks.
    void beginStep(const at::Tensor& times);
    [[nodiscard]] std::int64_t timesCount() const { return std::int64_t{2} * m_place.count; }
    /// As finish(), and adds the sums of the times.
    void finishStep(const at::Tensor& times);
    /// Returns the times of the steps whose successors have ended, since the last call.
    [[nodiscard]] RankTimes takeTimes();
    /// On rank 0: ends the run of the others; as failed if this one failed in a step. Does nothing if one has ended.
    void end();
    /// Returns "cuda:N" of this rank for a GPU, other devices as they are.
    [[nodiscard]] std::string deviceFor(const std::string& device) const;

private:
    explicit Ranks(const RankPosition& place);
    /// Waits until all ranks have come. Throws.
    void meet(const PreparationWatch& watch);
    [[nodiscard]] std::optional<std::string> refusal();
    [[nodiscard]] std::vector<std::string> missing();
    void guarded(const auto& call);
    [[nodiscard]] std::unique_ptr<TensorExchange> gpuExchange(at::Device device);

    RankPosition m_place;
    std::unique_ptr<TcpRankStore> m_store;
    std::unique_ptr<RankGroup> m_group;
    std::unique_ptr<RankPulse> m_pulse;
    std::unique_ptr<TensorExchange> m_exchange;
    bool m_isBroken = false; ///< true once a rank has ended
    bool m_isInStep = false; ///< true between enterStep() and leaveStep()
    int m_compared = 0;      ///< the number of disagreements

    /// The seconds of one step on this rank.
    struct StepTime {
        double seconds = 0;
        double computing = 0;
        double exchanging = 0;
    };
    std::optional<StepTime> m_last;
    at::Tensor m_times; ///< sums over steps of what beginStep() writes, on the device
    double m_seconds = 0;
    std::int64_t m_steps = 0;
    std::chrono::steady_clock::time_point m_stepBegan = std::chrono::steady_clock::now();
    double m_waited = 0; ///< seconds since then in which rank 0's words were waited for
};

} // namespace residua::engine
