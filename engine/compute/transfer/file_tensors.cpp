// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/transfer/file_tensors.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/huggingface/model_kinds.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <ranges>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::size_t kMostNamed = 6; ///< the maximum number of names in a message

/// Appends "3 tensors are missing: a, b, c" to `text` and a line for each to `all`.
void tell(std::string& text, std::vector<std::string>& all, const std::vector<std::string>& names,
          const std::string& one, const std::string& many)
{
    if (names.empty()) {
        return;
    }
    for (const std::string& name : names) {
        all.push_back(one + ": " + name);
    }
    text += (text.empty() ? "" : "; ") + std::to_string(names.size()) + " " + (names.size() == 1 ? one : many) + ": " +
            joinedText(names | std::views::take(kMostNamed));
    text += names.size() > kMostNamed ? ", … (residua-cli import --json lists all)" : "";
}

Result<bool> equalBytes(const TensorFiles& files, const TensorFiles::Tensor& one, const TensorFiles::Tensor& other)
{
    if (one.place.type != other.place.type || one.place.shape != other.place.shape) {
        return false;
    }
    std::vector<std::byte> bytes(one.place.bytes);
    std::vector<std::byte> others(other.place.bytes);
    for (const auto& [tensor, out] : {std::pair(&one, &bytes), std::pair(&other, &others)}) {
        RESIDUA_TRY(files.read(*tensor, *out));
    }
    return bytes == others;
}

/// Returns the names that a file may have for a tensor.
std::vector<std::string> namesOf(const projects::FileTensor& tensor, std::string_view prefix)
{
    std::vector<std::string> names{tensor.name};
    if (tensor.name.starts_with(prefix)) {
        names.push_back(tensor.name.substr(prefix.size()));
    }
    if (!tensor.otherName.empty()) {
        names.push_back(tensor.otherName);
    }
    return names;
}

} // namespace

Status checkTwins(const TensorFiles& files, const projects::KnownModel& model, std::vector<std::string>& notes)
{
    const auto& tensors = files.tensors();
    std::map<std::string, std::string> twins; // a held tensor by the name of one that is missing
    for (const projects::FileTensor& tensor : projects::fileTensorsOf(model)) {
        const auto names = namesOf(tensor, projects::findModelKind(model.kind)->prefix);
        const auto held = std::ranges::find_if(names, [&](const auto& name) { return tensors.contains(name); });
        for (const std::string& name : names) {
            if (held != names.end()) {
                twins.emplace(name, *held);
            }
        }
        const auto one = tensors.find(tensor.name);
        const auto other = tensors.find(tensor.otherName);
        if (tensor.otherWins && one != tensors.end() && other != tensors.end()) {
            const bool same = RESIDUA_TRY(equalBytes(files, one->second, other->second));
            if (!same) {
                notes.push_back(tensor.otherName + " differs from " + tensor.name +
                                ": the first is taken, with which transformers computes");
            }
        }
    }
    std::vector<std::string> others;
    for (const auto& [name, tensor] : tensors) {
        if (projects::isOfOtherTask(model, name)) {
            others.push_back(name);
        }
    }
    if (!others.empty()) {
        notes.push_back("the tensors of heads of other tasks are left out: " + joinedText(others));
    }
    for (const auto& [name, file] : files.absent()) {
        const auto twin = twins.find(name);
        if (twin == twins.end() && !projects::isRedundant(model, name)) {
            return Error{file.string() + " · tensor " + name, "is missing, and the index says it is in this file"};
        }
        notes.push_back(name + " is in none of the files, though the index names it" +
                        (twin != twins.end() ? ": it is tied to " + twin->second : std::string()));
    }
    return Done{};
}

TransferReport matchModel(const TensorFiles& files, const projects::KnownModel& model,
                          const std::function<std::string(const std::string&)>& named,
                          std::vector<NamedParameter>& parameters)
{
    TransferPlan plan;
    for (projects::FileTensor& tensor : projects::fileTensorsOf(model)) {
        if (named) {
            std::ranges::transform(tensor.parameters, tensor.parameters.begin(), named);
        }
        plan.add({.tensor = std::move(tensor)});
    }
    return plan.match(files, parameters, std::string(projects::findModelKind(model.kind)->prefix));
}

Result<bool> tieHolds(const TensorFiles& files, const projects::KnownModel& model)
{
    const std::string embedding = projects::fileTensorsOf(model).front().name;
    const std::string_view prefix = projects::findModelKind(model.kind)->prefix;
    const auto& tensors = files.tensors();
    const auto head = tensors.find(projects::headTensorOf(model));
    const auto whole = tensors.find(embedding);
    const auto stem = whole != tensors.end() ? whole : tensors.find(embedding.substr(prefix.size()));
    if (!model.tied || head == tensors.end() || stem == tensors.end()) {
        return true;
    }
    return equalBytes(files, head->second, stem->second);
}

Result<std::vector<TransferStep>> transfersOf(const TensorFiles& files, const projects::KnownModel& model,
                                              std::vector<NamedParameter>& parameters, const std::string& place,
                                              std::vector<std::string>& all)
{
    TransferReport report = matchModel(files, model, {}, parameters);
    const auto contradictions = mapped(
        report.contradictions, [](const TransferReport::Contradiction& each) { return each.name + " " + each.what; });
    const auto missing = mapped(report.missing, [](const Transfer& row) { return row.tensor.name; });
    std::vector<std::string> unused;
    for (const std::string& name : report.unused) {
        if (!projects::isRedundant(model, name)) {
            const bool told = unused.size() < kMostNamed; // edit distances take time
            const std::string_view meant = told ? nearest(name, missing) : std::string_view();
            unused.push_back(meant.empty() ? name
                                           : name + " (the nearest that is missing: " + std::string(meant) + ")");
        }
    }
    std::string text;
    tell(text, all, contradictions, "tensor is not as config.json says", "tensors are not as config.json says");
    tell(text, all, missing, "tensor is missing", "tensors are missing");
    tell(text, all, unused, "tensor is none of this architecture's", "tensors are none of this architecture's");
    return text.empty() ? Result<std::vector<TransferStep>>(std::move(report.steps)) : Error{place, text};
}

} // namespace residua::engine
