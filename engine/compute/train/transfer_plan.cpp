// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/transfer_plan.h"

#include "engine/base/api/export_format.h"
#include "engine/compute/train/tensor_io.h"
#include "projects/base/mapped.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <utility>

namespace residua::engine {
namespace {

using projects::FileTensor;

using ParameterIndex = std::map<std::string, std::size_t>;

ParameterIndex indexByName(const std::vector<NamedParameter>& parameters)
{
    ParameterIndex index;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        index.emplace(parameters[i].name, i);
    }
    return index;
}

/// Returns the row's parameters; empty if the network lacks one of them.
std::vector<at::Tensor> parametersOf(const FileTensor& tensor, const ParameterIndex& index,
                                     const std::vector<NamedParameter>& parameters)
{
    std::vector<at::Tensor> found;
    for (const std::string& name : tensor.parameters) {
        if (const auto at = index.find(name); at != index.end()) {
            found.push_back(parameters[at->second].tensor);
        }
    }
    return found.size() == tensor.parameters.size() ? found : std::vector<at::Tensor>();
}

std::vector<std::int64_t> shapeOf(const FileTensor& tensor, const std::vector<at::Tensor>& parameters)
{
    const auto shapes = mapped(parameters, [](const at::Tensor& parameter) { return parameter.sizes().vec(); });
    return packedShape(tensor, shapes);
}

std::string unlike(const std::string& got, const std::string& expected)
{
    return "got " + got + ", expected " + expected;
}

/// Returns the shape that a tensor needs so that `row` can make a parameter of `shape` from it. Its rows need not all
/// be taken: if `stored` has those that are, they set the extent.
std::vector<std::int64_t> sourceShape(const Transfer& row, std::vector<std::int64_t> shape,
                                      const std::vector<std::int64_t>& stored)
{
    const auto dimension = static_cast<std::size_t>(row.dimension);
    if (!row.rows.empty() && dimension < shape.size() && stored.size() == shape.size() &&
        std::ranges::max(row.rows) < stored[dimension]) {
        shape[dimension] = stored[dimension];
    }
    return shape;
}

/// Returns why the tensor does not fit; empty if it does.
std::string misfitOf(const TransferStep& step)
{
    const std::vector<std::int64_t> stored(step.stored.place.shape.begin(), step.stored.place.shape.end());
    const std::vector<std::int64_t> expected = sourceShape(step.row, shapeOf(step.row.tensor, step.parameters), stored);
    const at::IntArrayRef got =
        step.row.computed.defined() ? step.row.computed.sizes() : at::IntArrayRef(step.stored.place.shape);
    if (got != at::IntArrayRef(expected)) {
        return unlike(shapeText(got), shapeText(expected));
    }
    const StoredType type = step.stored.place.type;
    return step.row.computed.defined() || isWeightType(type) ? std::string()
                                                             : unlike(typeText(step.stored.place), weightTypeNames());
}

/// Copies the row's numbers into its parameters.
void writeParts(const Transfer& row, const at::Tensor& whole, const std::vector<at::Tensor>& parameters)
{
    const at::NoGradGuard noGrad;
    if (!row.rows.empty()) {
        takeRows(row, whole, parameters.front(), false);
        return;
    }
    const std::vector<at::Tensor> parts = unpacked(row.tensor, whole, parameters);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        at::Tensor parameter = parameters[i];
        parameter.copy_(parts[i]);
    }
}

} // namespace

void takeRows(const Transfer& row, const at::Tensor& from, at::Tensor to, bool clears)
{
    const at::NoGradGuard noGrad;
    std::vector<std::int64_t> taken;
    std::vector<std::int64_t> places;
    for (std::size_t i = 0; i < row.rows.size(); ++i) {
        if (row.rows[i] >= 0) {
            taken.push_back(row.rows[i]);
            places.push_back(static_cast<std::int64_t>(i));
        }
    }
    if (clears && taken.size() < row.rows.size()) {
        to.zero_();
    }
    const at::Tensor values = from.index_select(row.dimension, at::tensor(taken, at::kLong)).to(to.options());
    to.index_copy_(row.dimension, at::tensor(places, at::kLong).to(to.device()), values);
}

void TransferPlan::add(Transfer row)
{
    for (const std::string& parameter : row.tensor.parameters) {
        TORCH_CHECK(m_named.insert(parameter).second, "the parameter ", parameter, " is transferred twice");
        if (std::ranges::find(row.rows, -1) == row.rows.end()) {
            m_made.insert(parameter);
        }
    }
    m_rows.push_back(std::move(row));
}

void TransferPlan::copy(const std::string& parameter, Moments moments)
{
    add({.tensor = {parameter, {parameter}}, .moments = moments});
}

void TransferPlan::start(const std::string& parameter, const at::Tensor& values)
{
    add({.tensor = {"", {parameter}}, .computed = values});
}

TransferReport TransferPlan::match(const TensorFiles& files, std::vector<NamedParameter>& parameters,
                                   const std::string& prefix) const
{
    TransferReport report;
    const ParameterIndex index = indexByName(parameters);
    std::set<std::string> used;
    for (const Transfer& row : m_rows) {
        TransferStep step{row, row.tensor.name, parametersOf(row.tensor, index, parameters), {}};
        if (step.parameters.empty()) {
            continue; // for example a bias that the config omits; its tensor counts as unused
        }
        if (!row.computed.defined()) {
            if (!files.tensors().contains(step.name) && step.name.starts_with(prefix)) {
                step.name = step.name.substr(prefix.size());
            }
            if ((row.tensor.otherWins || !files.tensors().contains(step.name)) &&
                files.tensors().contains(row.tensor.otherName)) {
                step.name = row.tensor.otherName;
            }
            const auto stored = files.tensors().find(step.name);
            if (stored == files.tensors().end()) {
                report.missing.push_back(row);
                continue;
            }
            used.insert(step.name);
            step.stored = stored->second;
        }
        if (std::string misfit = misfitOf(step); misfit.empty()) {
            report.steps.push_back(std::move(step));
        } else {
            report.contradictions.push_back({row, step.name, std::move(misfit)});
        }
    }
    for (const auto& [name, stored] : files.tensors()) {
        if (!used.contains(name)) {
            report.unused.push_back(name);
        }
    }
    return report;
}

Status TransferPlan::apply(const TensorFiles& files, CompiledNetwork& network, const PreparationWatch& watch) const
{
    const TransferReport report = match(files, network.parameters());
    if (!report.missing.empty()) {
        return Error{report.missing.front().tensor.name, "is missing in what the weights are taken from"};
    }
    if (!report.contradictions.empty()) {
        const TransferReport::Contradiction& first = report.contradictions.front();
        return Error{first.row.tensor.parameters.front(), first.what};
    }
    const auto half = [&watch](double share) { return !watch || watch(share / 2); };
    RESIDUA_TRY(network.initialise(half, [this](const std::string& name) { return !makes(name); }));
    const auto count = static_cast<double>(report.steps.size());
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        if (watch && !watch(0.5 + static_cast<double>(i) / (2 * count))) {
            return Error{"weights", "their transfer was given up"};
        }
        RESIDUA_TRY(carryOut(files, report.steps[i]));
    }
    return Done{};
}

Status TransferPlan::applyMoments(const TensorFiles& files, const std::vector<NamedParameter>& parameters,
                                  Optimiser& optimiser) const
{
    const ParameterIndex index = indexByName(parameters);
    for (const Transfer& row : m_rows) {
        const bool carried = row.moments == Moments::Carried && !files.tensors().empty();
        if (!carried) {
            continue; // the moments of a new parameter
        }
        TORCH_CHECK(row.tensor.parameters.size() == 1, "moments of several parameters are not cut");
        const auto at = index.find(row.tensor.parameters.front());
        Status loaded = Done{};
        if (at != index.end()) {
            const auto take = [&row](const at::Tensor& from, const at::Tensor& to) -> Status {
                const std::vector<std::int64_t> expected = sourceShape(row, to.sizes().vec(), from.sizes().vec());
                if (from.sizes() != at::IntArrayRef(expected)) {
                    return Error{"shape", unlike(shapeText(from.sizes()), shapeText(expected))};
                }
                takeRows(row, from, to, true);
                return Done{};
            };
            loaded = row.rows.empty() ? optimiser.loadMoments(at->second, files, row.tensor.name)
                                      : optimiser.takeMoments(at->second, files, row.tensor.name, take);
        }
        if (!loaded) {
            return Error{"checkpoint", "the optimiser's state: " + loaded.error().text()};
        }
    }
    return Done{};
}

void TransferPlan::applyWithin(std::vector<NamedParameter>& parameters, Optimiser& optimiser) const
{
    const ParameterIndex index = indexByName(parameters);
    for (const Transfer& row : m_rows) {
        const std::size_t to = index.at(row.tensor.parameters.front());
        const at::Tensor whole =
            row.computed.defined() ? row.computed : parameters[index.at(row.tensor.name)].tensor.detach();
        writeParts(row, whole, parametersOf(row.tensor, index, parameters));
        if (row.moments == Moments::Carried) {
            optimiser.copyMoments(index.at(row.tensor.name), to);
        } else {
            optimiser.clearMoments(to);
        }
    }
}

std::vector<std::string> TransferPlan::carried() const
{
    std::vector<std::string> names;
    for (const Transfer& row : m_rows) {
        if (row.moments == Moments::Carried) {
            names.insert(names.end(), row.tensor.parameters.begin(), row.tensor.parameters.end());
        }
    }
    std::ranges::sort(names);
    return names;
}

Status carryOut(const TensorFiles& files, const TransferStep& step)
{
    if (step.row.computed.defined()) {
        writeParts(step.row, step.row.computed, step.parameters);
        return Done{};
    }
    const at::Tensor& first = step.parameters.front();
    const bool asItLies = step.parameters.size() == 1 && step.row.rows.empty() && !step.row.tensor.transposed &&
                          first.is_cpu() && first.is_contiguous() &&
                          first.scalar_type() == scalarTypeOf(step.stored.place.type);
    if (asItLies) {
        return readInto(files, step.stored, first);
    }
    const at::Tensor whole = RESIDUA_TRY(readTensor(files, step.name));
    writeParts(step.row, whole, step.parameters);
    return Done{};
}

at::Tensor packed(const FileTensor& tensor, const std::vector<at::Tensor>& parameters)
{
    at::Tensor whole = parameters.front();
    if (parameters.size() > 1) {
        const auto grouped = mapped(parameters, [&](const at::Tensor& parameter) {
            return parameter.unflatten(0, {tensor.groups, -1});
        });
        whole = at::cat(grouped, 1).flatten(0, 1);
    }
    whole = tensor.transposed ? whole.t() : whole;
    return (tensor.leadingOne ? whole.unsqueeze(0) : whole).contiguous();
}

std::vector<at::Tensor> unpacked(const FileTensor& tensor, const at::Tensor& whole,
                                 const std::vector<at::Tensor>& parameters)
{
    const at::Tensor upright = tensor.transposed ? whole.t() : tensor.leadingOne ? whole.squeeze(0) : whole;
    if (parameters.size() == 1) {
        return {upright};
    }
    const at::Tensor grouped = upright.unflatten(0, {tensor.groups, -1}); // [groups, rows of all, …]
    std::vector<at::Tensor> parts;
    std::int64_t begin = 0;
    for (const at::Tensor& parameter : parameters) {
        const std::int64_t own = parameter.size(0) / tensor.groups;
        parts.push_back(grouped.narrow(1, begin, own).flatten(0, 1));
        begin += own;
    }
    return parts;
}

std::vector<std::int64_t> packedShape(const FileTensor& tensor,
                                      const std::vector<std::vector<std::int64_t>>& parameters)
{
    std::vector<std::int64_t> shape = parameters.front();
    for (std::size_t i = 1; i < parameters.size(); ++i) {
        shape.front() += parameters[i].front();
    }
    if (tensor.transposed) {
        std::swap(shape.front(), shape.back());
    }
    if (tensor.leadingOne) {
        shape.insert(shape.begin(), 1);
    }
    return shape;
}

} // namespace residua::engine
