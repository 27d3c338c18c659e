// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/depth_rule.h"

#include "engine/base/api/matrix_name.h"
#include "projects/model/parameter_name.h"

#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>

namespace residua::engine {

WiringTensors::WiringTensors(const std::vector<projects::WiringParameter>& parameters, InitPlan& plan)
{
    for (const projects::WiringParameter& parameter : parameters) {
        ParameterStart start{
            .role = Role::Matrix, .deviation = parameter.deviation, .values = {}, .follows = parameter.follows};
        if (parameter.is == projects::ParameterClass::Vector) {
            start.role = Role::Given;
            start.values = at::tensor(parameter.values, at::kDouble);
            const bool ofElements = start.values.numel() == static_cast<std::int64_t>(parameter.elements());
            std::vector<std::int64_t> ofRows(parameter.shape.size(), 1);
            ofRows.front() = -1;
            start.values = start.values.view(ofElements ? parameter.shape : ofRows);
        }
        at::Tensor& tensor = m_tensors[parameter.name];
        tensor = plan.add(parameter.name, parameter.shape, std::move(start), parameter.decays ? Decay::Yes : Decay::No);
        std::ranges::find_if(plan.all(), [&](const NamedParameter& each) {
            return each.tensor.is_same(tensor);
        })->matrix = parameter.matrix;
    }
}

at::Tensor WiringTensors::operator[](const std::string& name) const
{
    const auto found = m_tensors.find(projects::topologyParameter(name));
    return found == m_tensors.end() ? at::Tensor() : found->second;
}

std::vector<at::Tensor> WiringTensors::each(const std::string& name, std::size_t rows) const
{
    std::vector<at::Tensor> tensors;
    for (std::size_t row = 1; row <= rows; ++row) {
        tensors.push_back((*this)[std::to_string(row) + "." + name]);
    }
    return tensors;
}

std::vector<at::Tensor> DepthRule::mix(const projects::DepthStep& /*step*/, const MixInputs& /*inputs*/,
                                       DepthStack* /*stack*/)
{
    TORCH_CHECK(false, "the wiring has no mixes");
    return {};
}

at::Tensor DepthRule::join(const projects::DepthStep& /*step*/, std::span<const at::Tensor> /*inputs*/)
{
    TORCH_CHECK(false, "the wiring has no joins");
    return {};
}

std::vector<double> hostNumbers(const at::Tensor& tensor)
{
    const at::Tensor host = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
    return {host.const_data_ptr<double>(), host.const_data_ptr<double>() + host.numel()};
}

Matrix mixMatrix(const std::vector<std::vector<double>>& weights, std::int64_t step)
{
    const auto rows = static_cast<std::int64_t>(weights.size());
    Matrix matrix{matrix::kMix, step, rows, rows,
                  std::vector<float>(weights.size() * weights.size(), std::numeric_limits<float>::quiet_NaN())};
    for (std::size_t row = 0; row < weights.size(); ++row) {
        std::ranges::transform(weights[row], matrix.values.begin() + static_cast<std::ptrdiff_t>(row * weights.size()),
                               [](double weight) { return static_cast<float>(weight); });
    }
    return matrix;
}

Matrix mixMatrix(const projects::UnrolledDepth& unrolled, std::int64_t step)
{
    std::vector<std::vector<double>> rows;
    for (std::size_t branch = 0; branch < unrolled.inputs.size(); ++branch) {
        const projects::BranchSum& sum = unrolled.inputs[branch].front();
        rows.emplace_back(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(branch) + 1);
    }
    rows.push_back(unrolled.output);
    return mixMatrix(rows, step);
}

} // namespace residua::engine
