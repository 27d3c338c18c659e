// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/transfer/transfer_plan.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

namespace residua::engine {
namespace {

std::string shapeText(at::IntArrayRef shape)
{
    std::ostringstream text;
    text << shape;
    return text.str();
}

/// Moments of one number for the whole parameter (a count of updates) are not cut, joined or repeated.
bool isOneNumber(const at::Tensor& tensor)
{
    return tensor.dim() == 0;
}

Result<at::Tensor> partOf(const StoredPart& part, const StoredTensors& stored, const std::string& suffix)
{
    const auto found = stored.find(part.name + suffix);
    if (found == stored.end()) {
        return Error{part.name + suffix, "is missing in what the weights are taken from"};
    }
    at::Tensor tensor = viewOf(found->second);
    if (isOneNumber(tensor)) {
        return tensor;
    }
    if (part.transposed) {
        if (tensor.dim() < 2) {
            return Error{part.name + suffix,
                         "has the shape " + shapeText(tensor.sizes()) + " and cannot be transposed"};
        }
        tensor = tensor.transpose(-2, -1);
    }
    const std::int64_t size = part.dimension < tensor.dim() ? tensor.size(part.dimension) : 0;
    const std::int64_t length = part.length < 0 ? size - part.begin : part.length;
    if (part.begin < 0 || length < 0 || part.begin + length > size) {
        return Error{part.name + suffix, "has " + std::to_string(size) + " elements along dimension " +
                                             std::to_string(part.dimension) + ", " +
                                             std::to_string(part.begin + length) + " are wanted"};
    }
    return tensor.narrow(part.dimension, part.begin, length);
}

} // namespace

Result<at::Tensor> assembled(const StoredStart& start, const StoredTensors& stored, const std::string& suffix)
{
    std::vector<at::Tensor> parts;
    for (const StoredPart& part : start.parts) {
        Result<at::Tensor> tensor = partOf(part, stored, suffix);
        if (!tensor) {
            return tensor;
        }
        parts.push_back(std::move(*tensor));
    }
    TORCH_CHECK(!parts.empty(), "a parameter must be made of something");
    if (isOneNumber(parts.front())) {
        return parts.front();
    }
    const at::Tensor whole = parts.size() == 1 ? parts.front() : at::cat(parts, start.joinedAlong);
    return start.repeats.empty() ? whole : whole.repeat(start.repeats);
}

void TransferPlan::add(Transfer transfer)
{
    std::string parameter = transfer.parameter;
    const bool added = m_transfers.emplace(std::move(parameter), std::move(transfer)).second;
    TORCH_CHECK(added, "a parameter is transferred twice");
}

void TransferPlan::copy(const std::string& parameter, Moments moments)
{
    add({parameter, StoredStart{.parts = {{.name = parameter}}, .repeats = {}}, moments});
}

const Transfer* TransferPlan::find(const std::string& parameter) const
{
    const auto found = m_transfers.find(parameter);
    const bool starts = found == m_transfers.end() || std::holds_alternative<FreshStart>(found->second.from);
    return starts ? nullptr : &found->second;
}

Status TransferPlan::apply(const StoredTensors& stored, CompiledNetwork& network) const
{
    if (Status started = network.initialise({}, [this](const std::string& name) { return find(name) == nullptr; });
        !started) {
        return started;
    }
    const at::NoGradGuard noGrad;
    for (NamedParameter& parameter : network.parameters()) {
        const Transfer* const transfer = find(parameter.name);
        if (transfer == nullptr) {
            continue;
        }
        const auto* const made = std::get_if<StoredStart>(&transfer->from);
        const Result<at::Tensor> values =
            made ? assembled(*made, stored) : Result<at::Tensor>(std::get<ComputedStart>(transfer->from).values);
        if (!values) {
            return values.error();
        }
        if (values->sizes() != parameter.tensor.sizes()) {
            return Error{parameter.name,
                         "got " + shapeText(values->sizes()) + ", expected " + shapeText(parameter.tensor.sizes())};
        }
        parameter.tensor.copy_(*values);
    }
    return Done{};
}

Result<HostTensors> TransferPlan::optimiserState(const StoredTensors& stored, const HostTensors& fresh) const
{
    HostTensors state;
    for (const auto& [name, tensor] : fresh.stored()) {
        const std::size_t dot = name.rfind('.');
        const Transfer* const transfer = find(name.substr(0, dot));
        const bool carried = !stored.empty() && transfer != nullptr && transfer->moments == Moments::Carried;
        const auto* const made = carried ? std::get_if<StoredStart>(&transfer->from) : nullptr;
        const Result<at::Tensor> values =
            made ? assembled(*made, stored, name.substr(dot)) : Result<at::Tensor>(viewOf(tensor));
        if (!values) {
            return Error{"checkpoint", "the optimiser's " + values.error().place + " " + values.error().message};
        }
        state.add(name, *values);
    }
    return state;
}

TransferReport TransferPlan::report(const StoredTensors& stored, std::vector<NamedParameter>& parameters) const
{
    TransferReport report;
    std::set<std::string> used;
    for (const NamedParameter& parameter : parameters) {
        const Transfer* const transfer = find(parameter.name);
        const auto* const made = transfer ? std::get_if<StoredStart>(&transfer->from) : nullptr;
        const bool kept = made && transfer->moments == Moments::Carried;
        (kept ? report.kept : report.added).push_back(parameter.name);
        used.insert(parameter.name);
        for (const StoredPart& part : made ? made->parts : std::vector<StoredPart>()) {
            used.insert(part.name);
        }
    }
    for (const auto& [name, tensor] : stored) {
        if (!used.contains(name)) {
            report.dropped.push_back(name);
        }
    }
    std::ranges::sort(report.kept);
    std::ranges::sort(report.added);
    return report;
}

} // namespace residua::engine
