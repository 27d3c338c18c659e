// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Watches what a network costs: the products that LibTorch is seen to carry out, and the memory that it has in use.
// Must be included before any other header of LibTorch.

// LibTorch is built so, and what its observers are given has another layout without.
#ifndef NDEBUG
#define NDEBUG
#endif

#include "network_harness.h"

#include "projects/transfer/retrofit.h"

#include <ATen/ExpandUtils.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <QtTest>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace residua::tests {

inline constexpr std::int64_t kCostDepth = 6;
inline constexpr std::int64_t kCostBatch = 2;
inline constexpr std::int64_t kCostTime = 32;

/// LibTorch's memory on the host, counted. For the life of the process.
class CountingAllocator final : public c10::Allocator {
public:
    static CountingAllocator& instance()
    {
        static auto* const allocator = new CountingAllocator;
        return *allocator;
    }

    c10::DataPtr allocate(std::size_t bytes) override
    {
        void* const data = c10::alloc_cpu(bytes);
        const std::scoped_lock lock(m_mutex);
        m_sizes[data] = bytes;
        m_live += bytes;
        m_peak = std::max(m_peak, m_live);
        return {data, data, raw_deleter(), at::Device(at::kCPU)};
    }
    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override
    {
        return [](void* data) { instance().release(data); };
    }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

    [[nodiscard]] double live() const { return static_cast<double>(m_live); }
    /// The most that was live at once since resetPeak().
    [[nodiscard]] double peak() const { return static_cast<double>(m_peak); }
    void resetPeak() { m_peak = m_live; }

private:
    void release(void* data)
    {
        {
            const std::scoped_lock lock(m_mutex);
            const auto found = m_sizes.find(data);
            if (found != m_sizes.end()) {
                m_live -= found->second;
                m_sizes.erase(found);
            }
        }
        c10::free_cpu(data);
    }

    std::mutex m_mutex;
    std::unordered_map<void*, std::size_t> m_sizes;
    std::size_t m_live = 0;
    std::size_t m_peak = 0;
};

/// FLOP that LibTorch is seen to carry out, multiply and add counted as two.
struct Seen {
    double products = 0; ///< of matrices, and attention
    double elements = 0; ///< sums and products of elements, and products with a vector
};
inline Seen g_seen;

inline double sizeOf(const c10::IValue& value)
{
    return static_cast<double>(value.toTensor().numel());
}

/// Returns the number of elements of a result of two operands. Either may be broadcast; the second may be a number.
inline double resultSize(c10::ArrayRef<const c10::IValue> inputs)
{
    if (!inputs[1].isTensor()) {
        return sizeOf(inputs[0]);
    }
    double size = 1;
    for (const std::int64_t extent : at::infer_size(inputs[0].toTensor().sizes(), inputs[1].toTensor().sizes())) {
        size *= static_cast<double>(extent);
    }
    return size;
}

inline std::unique_ptr<at::ObserverContext> observe(const at::RecordFunction& function)
{
    const std::string name = function.name();
    const auto inputs = function.inputs();
    if (name == "aten::mm" || name == "aten::bmm") {
        g_seen.products += 2 * sizeOf(inputs[0]) * static_cast<double>(inputs[1].toTensor().size(-1));
    } else if (name == "aten::addmm" || name == "aten::addmm_") {
        g_seen.products += 2 * sizeOf(inputs[1]) * static_cast<double>(inputs[2].toTensor().size(-1));
    } else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu") {
        // Scores and values, over half of the keys each: it is causal.
        g_seen.products += 2 * sizeOf(inputs[0]) * static_cast<double>(inputs[1].toTensor().size(2));
    } else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu_backward") {
        g_seen.products += 4 * sizeOf(inputs[1]) * static_cast<double>(inputs[2].toTensor().size(2));
    } else if (name.starts_with("residua::streams") && inputs[0].toTensor().defined()) {
        const double passes = name == "residua::streams" ? 1 : 2;
        const auto logits = static_cast<double>(inputs[0].toTensor().size(-2) * inputs[2].toInt());
        g_seen.products += passes * 2 * logits * sizeOf(inputs[1]);
    } else if (name == "aten::add" || name == "aten::mul") {
        g_seen.elements += resultSize(inputs);
    } else if (name == "aten::mv") {
        g_seen.elements += 2 * sizeOf(inputs[0]);
    }
    return nullptr;
}

/// Watches while it lives.
class Watch {
public:
    Watch() : m_handle(add()) { g_seen = {}; }
    ~Watch() { at::removeCallback(m_handle); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

private:
    static at::CallbackHandle add()
    {
        return at::addGlobalCallback(
            at::RecordFunctionCallback(&observe).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
    }

    at::CallbackHandle m_handle;
};

/// Returns a language model wide enough for its products to be what counts.
inline projects::Project costSized(projects::Project project)
{
    project = *projects::rewired(project, project.stack().topology);
    project.stack().width = 64;
    project.training.batch = kCostBatch;
    project.training.sequenceLength = kCostTime;
    return project;
}

/// Bytes that a forward pass leaves in use for its backward pass.
inline double keptBy(engine::CompiledNetwork& network, const engine::DeviceBatch& batch, const engine::Pass& pass)
{
    network.loss(batch, pass).backward(); // what is made once is there now
    for (engine::NamedParameter& parameter : network.parameters()) {
        parameter.tensor.mutable_grad().reset();
    }
    const double before = CountingAllocator::instance().live();
    const at::Tensor loss = network.loss(batch, pass);
    return CountingAllocator::instance().live() - before;
}

inline void within(const char* what, double ratio, double low, double high)
{
    QVERIFY2(ratio >= low && ratio <= high, qPrintable(QString("%1: %2 times what is measured").arg(what).arg(ratio)));
}

} // namespace residua::tests
