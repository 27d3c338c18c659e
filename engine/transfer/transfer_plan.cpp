// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/transfer/transfer_plan.h"

#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
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

/// What is stored under `name`; an error says that it is missing.
Result<at::Tensor> storedAs(const std::string& name, const StoredTensors& stored)
{
    const auto found = stored.find(name);
    if (found == stored.end()) {
        return Error{name, "is missing in what the weights are taken from"};
    }
    return viewOf(found->second);
}

} // namespace

void TransferPlan::add(Transfer transfer)
{
    std::string parameter = transfer.parameter;
    const bool added = m_transfers.emplace(std::move(parameter), std::move(transfer)).second;
    TORCH_CHECK(added, "a parameter is transferred twice");
}

void TransferPlan::copy(const std::string& parameter, Moments moments)
{
    add({parameter, StoredStart{parameter}, moments});
}

const Transfer* TransferPlan::find(const std::string& parameter) const
{
    const auto found = m_transfers.find(parameter);
    return found == m_transfers.end() ? nullptr : &found->second;
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
            made ? storedAs(made->name, stored) : Result<at::Tensor>(std::get<ComputedStart>(transfer->from).values);
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
        const Transfer* const transfer = find(std::string(projects::ownerOf(name)));
        const bool carried = !stored.empty() && transfer != nullptr && transfer->moments == Moments::Carried;
        const auto* const made = carried ? std::get_if<StoredStart>(&transfer->from) : nullptr;
        const Result<at::Tensor> values = made
                                              ? storedAs(made->name + "." + std::string(projects::lastOf(name)), stored)
                                              : Result<at::Tensor>(viewOf(tensor));
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
        if (made) {
            used.insert(made->name);
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
