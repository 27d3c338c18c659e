// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/transfer/pytorch_folder.h"

#include "engine/base/files/safetensors_writer.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/transfer/new_folder.h"
#include "projects/base/whole_file.h"
#include "projects/huggingface/custom_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/zeros.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeightsFile = "weights.safetensors";
constexpr const char* kCustomWeightsFile = "model.safetensors";

/// Returns the use of each layer in evaluation; an error if it runs only a part of a layer.
Result<std::vector<projects::ExportedLayer>> layersIn(CompiledNetwork& network, const Pass& pass)
{
    std::vector<projects::ExportedLayer> layers;
    for (const LayerUse& use : network.layersOf(pass)) {
        if (use.runs && (!use.heads.all() || !use.mlp.all())) {
            return Error{"schedule", "after step " + std::to_string(pass.step) +
                                         " the network has only some of its attention heads or MLP parts, which is not "
                                         "exported; expected a step of the last stage, where all are there"};
        }
        layers.push_back({use.runs, use.factor});
    }
    return layers;
}

/// Replaces the name of the weights' file by the one that transformers expects.
void renameWeights(std::string& text)
{
    const std::string old = kWeightsFile;
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at)) {
        text.replace(at, old.size(), kCustomWeightsFile);
    }
}

} // namespace

Status PyTorchWriter::advance()
{
    if (m_code.model.empty()) {
        return makeCode();
    }
    if (m_recorded.stored().empty()) {
        return gather();
    }
    if (!m_file) {
        return begin();
    }
    return m_file->next() != nullptr ? writeNext() : end();
}

PyTorchFolder PyTorchWriter::folder() const
{
    return {m_code.layers, m_source.run.parameters, m_source.run.leftOut};
}

Status PyTorchWriter::makeCode()
{
    const Result<std::vector<projects::ExportedLayer>> layers =
        layersIn(m_source.network, passAfter(m_source.run.step));
    if (!layers) {
        return layers.error();
    }
    Result<projects::PyTorchCode> code = projects::pyTorchCodeOf(m_source.project, *layers);
    if (!code) {
        return code.error();
    }
    m_code = std::move(*code);
    return Done{};
}

/// Collects the weights, and the network's results for the sample.
Status PyTorchWriter::gather()
{
    CompiledNetwork& network = m_source.network;
    for (const NamedParameter& parameter : network.parameters()) {
        parameter.tensor.mutable_grad().reset();
    }
    const Pass pass = passAfter(m_source.run.step);
    const at::Tensor output = network.forward(m_source.sample, pass);
    const at::Tensor loss = network.loss(m_source.sample, pass);
    if (loss.requires_grad()) {
        loss.backward();
    }
    m_recorded.add("input", m_source.sample.input);
    m_recorded.add("target", m_source.sample.target);
    for (const auto& [name, values] : m_source.sample.conditions) {
        m_recorded.add(name, values);
    }
    m_recorded.add("output", output.detach());
    m_recorded.add("loss", loss.detach().reshape({1}).to(output.scalar_type()));
    for (const NamedParameter& parameter : network.parameters()) {
        const auto name = m_code.names.find(parameter.name);
        if (name == m_code.names.end()) {
            m_source.run.leftOut += parameter.tensor.numel();
            continue;
        }
        m_source.run.parameters += parameter.tensor.numel();
        m_weights.add(name->second, parameter.tensor.detach());
        const at::Tensor gradient = parameter.tensor.grad();
        m_recorded.add("gradient_norm." + name->second,
                       gradient.defined() ? gradient.norm().reshape({1})
                                          : at::zeros({1}, parameter.tensor.options().requires_grad(false)));
    }
    if (m_weights.stored().size() != m_code.names.size()) {
        return Error{"export", "the code has " + std::to_string(m_code.names.size()) + " parameters, the network has " +
                                   std::to_string(m_weights.stored().size()) + " of them"};
    }
    return Done{};
}

Status PyTorchWriter::begin()
{
    const bool custom = std::holds_alternative<CustomModel>(m_source.use);
    Result<SafetensorsWriter> file = SafetensorsWriter::begin(m_path / (custom ? kCustomWeightsFile : kWeightsFile),
                                                              formsOf(m_weights.stored()), {{"format", "pt"}});
    if (!file) {
        return file.error();
    }
    m_file.emplace(std::move(*file));
    return Done{};
}

Status PyTorchWriter::writeNext()
{
    ++m_written;
    return m_file->write(m_weights.stored().at(*m_file->next()).bytes);
}

Status PyTorchWriter::end()
{
    if (const auto ended = m_file->end(); !ended) {
        return ended.error();
    }
    if (Status done = writeNewSafetensors(m_path / "recorded.safetensors", m_recorded.stored(), {{"format", "pt"}});
        !done) {
        return done;
    }
    const auto* const custom = std::get_if<CustomModel>(&m_source.use);
    for (const auto& [name, text] : custom == nullptr ? texts() : textsOf(*custom)) {
        if (Status done = writeFileAtomically(m_path / name, text); !done) {
            return done;
        }
    }
    m_ended = true;
    return custom == nullptr ? Status(Done{}) : addCompanions(m_path, custom->companions);
}

std::map<std::string, std::string> PyTorchWriter::texts() const
{
    return {{"model.py", m_code.model},
            {"check.py", projects::pyTorchCheck()},
            {"config.json", projects::pyTorchConfig(m_source.project, m_code, m_source.run)},
            {"README.md", projects::pyTorchReadme(m_source.project, m_code, m_source.run)}};
}

std::map<std::string, std::string> PyTorchWriter::textsOf(const CustomModel& custom) const
{
    const bool exact = m_source.project->training.precision == projects::Precision::Fp64;
    std::map<std::string, std::string> all = texts();
    for (const char* const name : {"model.py", "README.md"}) {
        renameWeights(all[name]);
    }
    all["README.md"] =
        projects::customReadme(m_source.project, custom.reason, custom.companions.tokeniser) + all["README.md"];
    all["config.json"] = projects::customConfig(m_source.project, m_code, m_source.run, exact ? "float64" : "float32");
    all[projects::kConfigurationFile] = projects::configurationCode(m_code);
    all[projects::kModelingFile] = projects::modelingCode();
    return all;
}

Result<PyTorchFolder> writePyTorchFolder(const fs::path& folder, PyTorchSource source)
{
    PyTorchWriter writer(folder, std::move(source));
    while (!writer.atEnd()) {
        if (const Status done = writer.advance(); !done) {
            return done.error();
        }
    }
    return writer.folder();
}

} // namespace residua::engine
