// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/ranks/rank_group.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace residua::engine {

[[nodiscard]] inline double secondsSince(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Ranks that exchange tensors on a GPU.
struct GpuGroup {
    at::Device device;
    c10::Stream stream;               ///< in which the group enqueues
    std::unique_ptr<RankGroup> group; ///< of the GPU's memory
    std::function<bool()> isBroken;   ///< whether a rank has ended: called if the GPU waits unusually long; any thread
};

/// A contiguous tensor whose values all ranks get from rank `root`.
struct SharedTensor {
    at::Tensor values;
    int root = 0;
};

/// Exchanges tensors with other ranks, one after the other, while its caller goes on: on a thread of its own, because
/// Gloo waits, and on a GPU in a stream of its own. All ranks make the same calls in the same order.
class TensorExchange {
public:
    /// Exchanges tensors on the host by `host`, and those on a GPU, which the trained network is on, by `gpu`.
    explicit TensorExchange(RankGroup& host, std::optional<GpuGroup> gpu = std::nullopt);
    /// Must not be called while isBusy().
    ~TensorExchange();
    TensorExchange(const TensorExchange&) = delete;
    TensorExchange& operator=(const TensorExchange&) = delete;

    /// Replaces a contiguous tensor's values by their sums over the ranks, from what the current stream computes.
    /// float32 or float64. They are valid after finish().
    void sum(const at::Tensor& values);
    /// Replaces the values of contiguous tensors of one type and device by their means over the ranks, likewise.
    void mean(std::vector<at::Tensor> tensors);
    /// Replaces a contiguous tensor's values by those of rank `root`, likewise.
    void share(const at::Tensor& values, int root);
    /// Replaces the values of several tensors on one device, likewise, in one exchange.
    void share(std::vector<SharedTensor> tensors);
    /// Waits for all exchanges; on a GPU the current stream does. Throws the error of the first that failed.
    void finish();
    /// Ends the exchanges of a GPU that wait for other ranks; later ones throw.
    void abort() { m_gpu->group->abort(); }
    /// True if exchanges have not ended, on the host.
    [[nodiscard]] bool isBusy();

    [[nodiscard]] at::Device device() const { return m_gpu ? m_gpu->device : at::Device(at::kCPU); }

    /// Seconds of the exchanges, and those in which finish() waited for them. On a GPU, those whose end is known.
    struct Seconds {
        double exchanging = 0;
        double waiting = 0;
    };
    /// Returns the seconds since the last call.
    [[nodiscard]] Seconds takeSeconds();

private:
    using Span = std::pair<c10::Event, c10::Event>; ///< of time in a stream
    struct Task {
        std::function<void()> exchange;
        std::optional<c10::Event> after; ///< what the caller's stream held; nullopt on the CPU
    };

    void post(std::function<void()> exchange);
    void run();
    void perform(Task& task);
    /// Aborts the exchanges on a GPU if one has waited unusually long and a rank has ended.
    void watch();

    [[nodiscard]] RankGroup& groupOf(const at::Tensor& tensor) { return tensor.is_cpu() ? m_host : *m_gpu->group; }

    RankGroup& m_host;
    std::optional<GpuGroup> m_gpu; ///< nullopt on the CPU

    std::mutex m_mutex; ///< guards the following
    std::condition_variable m_posted;
    std::condition_variable m_done;
    std::deque<Task> m_tasks; ///< the first is being performed
    std::exception_ptr m_failure;
    Seconds m_seconds;
    std::deque<Span> m_exchanges;
    std::deque<Span> m_waits;
    bool m_quits = false;

    std::chrono::steady_clock::time_point m_moved; ///< when the GPU was last seen not to wait; m_thread alone

    std::thread m_thread; ///< last, because it uses the other members
};

} // namespace residua::engine
