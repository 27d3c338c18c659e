// SPDX-License-Identifier: GPL-3.0-or-later
// A stand-in for libresidua_cuda_graph.so on the CPU: a launch calls the recorded function again, with what it
// captured, and copies its results into those of the recording. Then the results of the launch before become NaN,
// because all graphs on a GPU use the same memory. FAKE_GRAPH_PROBLEM: recording fails with this text.
// FAKE_GRAPH_VERSION: the version that it claims.
#include "engine/compute/runtime/device_graph.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <limits>

namespace residua::tests {
namespace {

std::vector<at::Tensor> s_last; ///< the results of the last launch

class FakeGraph final : public engine::DeviceGraph {
public:
    std::vector<at::Tensor> record(const Work& work) override
    {
        const char* const problem = std::getenv("FAKE_GRAPH_PROBLEM");
        m_work = work;
        at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
        const at::Tensor before = generator.get_state();
        m_results = work();
        generator.set_state(before);
        TORCH_CHECK(problem == nullptr, problem);
        const at::NoGradGuard noGrad;
        for (at::Tensor& result : m_results) { // recorded, and not computed
            if (result.defined()) {
                result.fill_(-1);
            }
        }
        return m_results;
    }

    void launch() override
    {
        const std::vector<at::Tensor> results = m_work();
        const at::NoGradGuard noGrad;
        TORCH_CHECK(results.size() == m_results.size(), "a launch gave ", results.size(), " results");
        for (at::Tensor& result : s_last) {
            if (result.defined()) {
                result.fill_(std::numeric_limits<double>::quiet_NaN());
            }
        }
        s_last = m_results;
        for (std::size_t i = 0; i < results.size(); ++i) {
            TORCH_CHECK(results[i].defined() == m_results[i].defined(), "result ", i, " is there once only");
            if (results[i].defined()) {
                m_results[i].copy_(results[i]);
            }
        }
    }

private:
    Work m_work;
    std::vector<at::Tensor> m_results;
};

std::unique_ptr<engine::DeviceGraph> create()
{
    return std::make_unique<FakeGraph>();
}

} // namespace
} // namespace residua::tests

extern "C" __attribute__((visibility("default"))) const residua::engine::DeviceGraphs* residuaDeviceGraphs()
{
    const char* const version = std::getenv("FAKE_GRAPH_VERSION");
    static const residua::engine::DeviceGraphs kTable = {
        version != nullptr ? std::atoi(version) : residua::engine::kDeviceGraphsVersion, residua::tests::create};
    return &kTable;
}
