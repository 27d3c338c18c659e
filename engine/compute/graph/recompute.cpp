// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/recompute.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace residua::engine {
namespace {

using torch::autograd::Node;
using torch::autograd::variable_list;

at::Tensor randomState(at::Device device)
{
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    return generator.get_state();
}

void setRandomState(at::Device device, const at::Tensor& state)
{
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state);
}

/// Sets the state of the random generator for its lifetime. An undefined state changes nothing.
class RandomStateOf {
public:
    RandomStateOf(at::Device device, const at::Tensor& state) : m_device(device)
    {
        if (state.defined()) {
            m_before = randomState(device);
            setRandomState(device, state);
        }
    }
    ~RandomStateOf()
    {
        if (m_before.defined()) {
            setRandomState(m_device, m_before);
        }
    }
    RandomStateOf(const RandomStateOf&) = delete;
    RandomStateOf& operator=(const RandomStateOf&) = delete;

private:
    at::Device m_device;
    at::Tensor m_before;
};

/// Runs the function again in the backward and differentiates that run.
class RecomputeNode final : public Node {
public:
    RecomputeNode(Rerun run, std::span<const at::Tensor> inputs, std::span<const at::Tensor> parameters,
                  at::Tensor state)
        : m_run(std::move(run)), m_parameters(parameters.begin(), parameters.end()), m_state(std::move(state))
    {
        for (const at::Tensor& input : inputs) {
            const auto same = std::ranges::find_if(inputs, [&](const auto& other) { return other.is_same(input); });
            const auto first = static_cast<std::size_t>(same - inputs.begin());
            if (first < m_inputs.size()) {
                m_inputs.push_back(m_inputs[first]);
            } else {
                m_inputs.push_back(input.defined() ? input.detach().set_requires_grad(input.requires_grad()) : input);
            }
        }
    }

    [[nodiscard]] std::string name() const override { return "Recompute"; }

    variable_list apply(variable_list&& grads) override
    {
        TORCH_CHECK(!at::GradMode::is_enabled(), "what is computed again has no second derivative");
        variable_list result(num_outputs());
        const auto given = std::ranges::find_if(grads, [](const at::Tensor& grad) { return grad.defined(); });
        if (given == grads.end()) {
            return result;
        }
        TORCH_CHECK(m_run, "a layer's inputs were freed by an earlier backward pass");
        variable_list wanted;
        std::vector<std::size_t> places;
        const auto want = [&](const at::Tensor& tensor, std::size_t place) {
            if (tensor.requires_grad() && task_should_compute_output(place)) {
                wanted.push_back(tensor);
                places.push_back(place);
            }
        };
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            const auto first = std::ranges::find_if(m_inputs, [&](const auto& t) { return t.is_same(m_inputs[i]); });
            if (static_cast<std::size_t>(first - m_inputs.begin()) == i) {
                want(m_inputs[i], i);
            }
        }
        for (std::size_t p = 0; p < m_parameters.size(); ++p) {
            want(m_parameters[p], m_inputs.size() + p);
        }
        if (wanted.empty()) {
            return result;
        }
        variable_list outputs;
        {
            const at::AutoGradMode record(true);
            const RandomStateOf as(given->device(), m_state);
            outputs = m_run(m_inputs, RunOf::Backward);
        }
        variable_list roots;
        variable_list rootGrads;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (grads[i].defined() && outputs[i].requires_grad()) {
                roots.push_back(outputs[i]);
                rootGrads.push_back(grads[i]);
            }
        }
        if (roots.empty()) {
            return result;
        }
        variable_list found = torch::autograd::grad(roots, wanted, rootGrads, std::nullopt, false, true);
        for (std::size_t i = 0; i < found.size(); ++i) {
            result[places[i]] = std::move(found[i]);
        }
        return result;
    }

    void release_variables() override
    {
        m_inputs.clear();
        m_parameters.clear();
        m_state.reset();
        m_run = {};
    }

private:
    Rerun m_run;
    variable_list m_inputs; ///< detached from their history
    variable_list m_parameters;
    at::Tensor m_state;
};

} // namespace

variable_list runRecomputed(Rerun run, std::span<const at::Tensor> inputs, std::span<const at::Tensor> parameters,
                            const Pass& pass)
{
    variable_list all(inputs.begin(), inputs.end());
    all.insert(all.end(), parameters.begin(), parameters.end());
    if (!at::GradMode::is_enabled() || !torch::autograd::any_variable_requires_grad(all)) {
        return run(inputs, RunOf::Forward);
    }
    const at::Tensor state = pass.training() ? randomState(inputs.front().device()) : at::Tensor();
    variable_list outputs;
    {
        const at::NoGradGuard noGrad;
        outputs = run(inputs, RunOf::Forward);
    }
    variable_list taken(inputs.begin(), inputs.end()); // tensors that have a history already, or will get one
    for (at::Tensor& output : outputs) {
        if (std::ranges::any_of(taken, [&](const at::Tensor& other) { return output.is_same(other); })) {
            output = output.detach();
        }
        taken.push_back(output);
    }
    auto node = std::make_shared<RecomputeNode>(std::move(run), inputs, parameters, state);
    node->set_next_edges(torch::autograd::collect_next_edges(all));
    torch::autograd::set_history(outputs, node);
    return outputs;
}

} // namespace residua::engine
