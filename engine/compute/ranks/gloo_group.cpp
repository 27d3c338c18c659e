// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ranks/rank_group.h"

#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace residua::engine {
namespace {

/// A rank that ends closes its connections, which the others notice at once. They wait for one that is paused.
constexpr std::chrono::hours kPatience{24 * 365};

class Store final : public gloo::rendezvous::Store {
public:
    explicit Store(RankStore& store) : m_store(store) {}

    void set(const std::string& key, const std::vector<char>& data) override
    {
        m_store.set(key, {data.begin(), data.end()});
    }
    std::vector<char> get(const std::string& key) override
    {
        const std::string bytes = m_store.get(key);
        return {bytes.begin(), bytes.end()};
    }
    void wait(const std::vector<std::string>& keys) override
    {
        for (const std::string& key : keys) {
            (void)m_store.get(key);
        }
    }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

private:
    RankStore& m_store;
};

class GlooGroup final : public RankGroup {
public:
    GlooGroup(int rank, int count, const char* host, RankStore& store)
        : m_context(std::make_shared<gloo::rendezvous::Context>(rank, count))
    {
        gloo::transport::tcp::attr place;
        place.hostname = host;
        std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(place);
        Store keys(store);
        m_context->connectFullMesh(keys, device);
        m_context->setTimeout(kPatience);
    }

    void sum(float* values, std::size_t count) override { sumOf(values, count); }
    void sum(double* values, std::size_t count) override { sumOf(values, count); }

    void mean(std::span<const Numbers<float>> arrays) override { meanOf(arrays); }
    void mean(std::span<const Numbers<double>> arrays) override { meanOf(arrays); }

    void share(void* bytes, std::size_t count, int root) override
    {
        gloo::BroadcastOptions options(m_context);
        options.setOutput(static_cast<char*>(bytes), count);
        options.setRoot(root);
        gloo::broadcast(options);
    }

    /// Exchanges a copy of each rank's pieces side by side.
    void share(std::span<const SharedBytes> pieces) override
    {
        for (int root = 0; root < m_context->size; ++root) {
            std::vector<char> all;
            for (const SharedBytes& piece : pieces) {
                const auto* const own = static_cast<const char*>(piece.bytes);
                all.insert(all.end(), own, own + (piece.root == root ? piece.count : 0));
            }
            if (all.empty()) {
                continue;
            }
            share(all.data(), all.size(), root);
            const char* from = all.data();
            for (const SharedBytes& piece : pieces) {
                if (piece.root == root) {
                    std::copy(from, from + piece.count, static_cast<char*>(piece.bytes));
                    from += piece.count;
                }
            }
        }
    }

    void abort() override { m_context->closeConnections(); }

private:
    template <class Real>
    void sumOf(Real* values, std::size_t count)
    {
        if (count == 0) {
            return;
        }
        gloo::AllreduceOptions options(m_context);
        options.setOutput(values, count);
        options.setReduceFunction(
            static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<Real>));
        gloo::allreduce(options);
    }

    /// Exchanges a copy of the arrays side by side, because Gloo exchanges one array at a time.
    template <class Real>
    void meanOf(std::span<const Numbers<Real>> arrays)
    {
        std::vector<Real> all;
        for (const Numbers<Real>& array : arrays) {
            all.insert(all.end(), array.values, array.values + array.count);
        }
        sumOf(all.data(), all.size());
        const Real* sum = all.data();
        for (const Numbers<Real>& array : arrays) {
            std::transform(sum, sum + array.count, array.values,
                           [count = static_cast<Real>(m_context->size)](Real value) { return value / count; });
            sum += array.count;
        }
    }

    std::shared_ptr<gloo::rendezvous::Context> m_context;
};

} // namespace
} // namespace residua::engine

extern "C" __attribute__((visibility("default"))) residua::engine::RankGroup*
residua_join_ranks(int rank, int count, const char* host, residua::engine::RankStore& store)
{
    return new residua::engine::GlooGroup(rank, count, host, store);
}
