// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ranks/tensor_exchange.h"

#include "projects/base/mapped.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <stdexcept>

namespace residua::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGlance{1};
constexpr std::chrono::seconds kSilence{30}; ///< of a GPU, after which the other ranks are looked for

c10::Stream streamOf(at::Device device)
{
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

/// Creates an event and the one that will end the span.
auto beginSpan(const c10::Stream& stream)
{
    const auto mark = [&] { return c10::Event(stream.device_type(), c10::EventFlag::BACKEND_DEFAULT); };
    std::pair span(mark(), mark());
    span.first.record(stream);
    return span;
}

template <class Real>
std::vector<Numbers<Real>> numbersOf(const std::vector<at::Tensor>& tensors)
{
    return mapped(tensors, [](const at::Tensor& tensor) {
        return Numbers<Real>{tensor.mutable_data_ptr<Real>(), static_cast<std::size_t>(tensor.numel())};
    });
}

/// Removes the spans that have ended. Returns their seconds.
double taken(auto& spans)
{
    double seconds = 0;
    for (; !spans.empty() && spans.front().second.query(); spans.pop_front()) {
        seconds += spans.front().first.elapsedTime(spans.front().second) / 1000;
    }
    return seconds;
}

} // namespace

TensorExchange::TensorExchange(RankGroup& host, std::optional<GpuGroup> gpu)
    : m_host(host), m_gpu(std::move(gpu)), m_moved(Clock::now()), m_thread([this] { run(); })
{
}

TensorExchange::~TensorExchange()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_quits = true;
    }
    m_posted.notify_one();
    m_thread.join();
}

void TensorExchange::sum(const at::Tensor& values)
{
    TORCH_CHECK(values.is_contiguous(), "ranks exchange contiguous tensors");
    RankGroup& group = groupOf(values);
    const auto count = static_cast<std::size_t>(values.numel());
    post([&group, values, count] {
        values.scalar_type() == at::kDouble ? group.sum(values.mutable_data_ptr<double>(), count)
                                            : group.sum(values.mutable_data_ptr<float>(), count);
    });
}

void TensorExchange::mean(std::vector<at::Tensor> tensors)
{
    if (tensors.empty()) {
        return;
    }
    for (const at::Tensor& tensor : tensors) {
        TORCH_CHECK(tensor.is_contiguous() && tensor.scalar_type() == tensors.front().scalar_type(),
                    "ranks exchange contiguous tensors of one type");
    }
    RankGroup& group = groupOf(tensors.front());
    const bool isDouble = tensors.front().scalar_type() == at::kDouble;
    post([&group, isDouble, tensors = std::move(tensors)] {
        isDouble ? group.mean(numbersOf<double>(tensors)) : group.mean(numbersOf<float>(tensors));
    });
}

void TensorExchange::share(const at::Tensor& values, int root)
{
    TORCH_CHECK(values.is_contiguous(), "ranks exchange contiguous tensors");
    RankGroup& group = groupOf(values);
    post([&group, values, root] { group.share(values.mutable_data_ptr(), values.nbytes(), root); });
}

void TensorExchange::share(std::vector<SharedTensor> tensors)
{
    if (tensors.empty()) {
        return;
    }
    for (const SharedTensor& tensor : tensors) {
        TORCH_CHECK(tensor.values.is_contiguous(), "ranks exchange contiguous tensors");
    }
    RankGroup& group = groupOf(tensors.front().values);
    post([&group, tensors = std::move(tensors)] {
        const auto pieces = mapped(tensors, [](const SharedTensor& tensor) {
            return SharedBytes{tensor.values.mutable_data_ptr(), tensor.values.nbytes(), tensor.root};
        });
        group.share(pieces);
    });
}

void TensorExchange::post(std::function<void()> exchange)
{
    Task task{std::move(exchange), std::nullopt};
    if (m_gpu) {
        task.after.emplace(m_gpu->device.type());
        task.after->record(streamOf(m_gpu->device));
    }
    {
        const std::scoped_lock lock(m_mutex);
        m_tasks.push_back(std::move(task));
    }
    m_posted.notify_one();
}

void TensorExchange::run()
{
    const c10::OptionalDeviceGuard current(m_gpu ? std::optional(m_gpu->device) : std::nullopt);
    std::unique_lock lock(m_mutex);
    const auto due = [this] { return m_quits || !m_tasks.empty(); };
    while (!m_quits) {
        if (!m_gpu) {
            m_posted.wait(lock, due);
        } else if (!m_posted.wait_for(lock, kGlance, due)) {
            lock.unlock();
            watch();
            lock.lock();
        }
        if (m_quits || m_tasks.empty()) {
            continue;
        }
        Task& task = m_tasks.front(); // posting does not move it
        const bool sound = m_failure == nullptr;
        lock.unlock();
        std::exception_ptr failure;
        try {
            if (sound) {
                perform(task);
            }
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        m_failure = m_failure ? m_failure : failure;
        m_tasks.pop_front();
        if (m_tasks.empty()) {
            m_done.notify_all();
        }
    }
}

void TensorExchange::perform(Task& task)
{
    if (!m_gpu) {
        const auto begin = Clock::now();
        task.exchange();
        const std::scoped_lock lock(m_mutex);
        m_seconds.exchanging += secondsSince(begin);
        return;
    }
    task.after->block(m_gpu->stream);
    auto span = beginSpan(m_gpu->stream);
    task.exchange();
    span.second.record(m_gpu->stream);
    const std::scoped_lock lock(m_mutex);
    m_exchanges.push_back(std::move(span));
}

void TensorExchange::watch()
{
    {
        const std::scoped_lock lock(m_mutex);
        if (m_exchanges.empty() || m_exchanges.back().second.query()) {
            m_moved = Clock::now();
        }
    }
    if (Clock::now() - m_moved < kSilence || !m_gpu->isBroken()) {
        return;
    }
    abort();
    const std::scoped_lock lock(m_mutex);
    m_failure = std::make_exception_ptr(std::runtime_error("the GPU waits for a rank that does not answer"));
}

void TensorExchange::finish()
{
    const auto begin = Clock::now();
    std::unique_lock lock(m_mutex);
    m_done.wait(lock, [this] { return m_tasks.empty(); });
    if (m_failure) {
        std::rethrow_exception(m_failure);
    }
    if (!m_gpu) {
        m_seconds.waiting += secondsSince(begin);
        return;
    }
    const c10::Stream computing = streamOf(m_gpu->device);
    auto span = beginSpan(computing);
    c10::Event last(computing.device_type());
    last.record(m_gpu->stream);
    last.block(computing);
    span.second.record(computing);
    m_waits.push_back(std::move(span));
}

bool TensorExchange::isBusy()
{
    const std::scoped_lock lock(m_mutex);
    return !m_tasks.empty();
}

TensorExchange::Seconds TensorExchange::takeSeconds()
{
    const std::scoped_lock lock(m_mutex);
    m_seconds.exchanging += taken(m_exchanges);
    m_seconds.waiting += taken(m_waits);
    return std::exchange(m_seconds, {});
}

} // namespace residua::engine
