// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/transfer/pytorch_folder.h"

#include "engine/files/safetensors.h"
#include "engine/train/tensor_io.h"
#include "engine/transfer/new_folder.h"
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

/// What evaluation does with each layer; an error where it runs a layer in part.
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

class FolderWriter {
public:
    FolderWriter(fs::path folder, PyTorchSource& source) : m_folder(std::move(folder)), m_source(source) {}

    Result<PyTorchFolder> write()
    {
        for (const auto stage : {&FolderWriter::makeCode, &FolderWriter::gather, &FolderWriter::writeFiles}) {
            if (const Status done = (this->*stage)(); !done) {
                return done.error();
            }
        }
        return PyTorchFolder{m_code.layers, m_source.run.parameters, m_source.run.leftOut};
    }

private:
    Status makeCode()
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

    /// Weights, and what the network makes of the sample.
    Status gather()
    {
        CompiledNetwork& network = m_source.network;
        for (const NamedParameter& parameter : network.parameters()) {
            parameter.tensor.mutable_grad().reset();
        }
        const Pass pass = passAfter(m_source.run.step);
        const at::Tensor output = network.forward(m_source.sample.input, pass);
        const at::Tensor loss = network.loss(m_source.sample, pass);
        if (loss.requires_grad()) {
            loss.backward();
        }
        m_recorded.add("input", m_source.sample.input);
        m_recorded.add("target", m_source.sample.target);
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
            return Error{"export", "the code has " + std::to_string(m_code.names.size()) +
                                       " parameters, the network has " + std::to_string(m_weights.stored().size()) +
                                       " of them"};
        }
        return Done{};
    }

    Status writeFiles()
    {
        const std::map<std::string, std::string> metadata{{"format", "pt"}};
        const auto* const custom = std::get_if<CustomModel>(&m_source.use);
        const char* const weights = custom == nullptr ? kWeightsFile : kCustomWeightsFile;
        if (Status done = writeSafetensors(m_folder / weights, m_weights.stored(), metadata); !done) {
            return done;
        }
        if (Status done = writeSafetensors(m_folder / "recorded.safetensors", m_recorded.stored(), metadata); !done) {
            return done;
        }
        for (const auto& [name, text] : custom == nullptr ? texts() : textsOf(*custom)) {
            if (Status done = writeFileAtomically(m_folder / name, text); !done) {
                return done;
            }
        }
        return custom == nullptr ? Status(Done{}) : addCompanions(m_folder, custom->companions);
    }

    [[nodiscard]] std::map<std::string, std::string> texts() const
    {
        return {{"model.py", m_code.model},
                {"check.py", projects::pyTorchCheck()},
                {"config.json", projects::pyTorchConfig(m_source.project, m_code, m_source.run)},
                {"README.md", projects::pyTorchReadme(m_source.project, m_code, m_source.run)}};
    }

    [[nodiscard]] std::map<std::string, std::string> textsOf(const CustomModel& custom) const
    {
        const bool exact = m_source.project->training.precision == projects::Precision::Fp64;
        std::map<std::string, std::string> all = texts();
        for (const char* const name : {"model.py", "README.md"}) {
            rename(all[name]);
        }
        all["README.md"] =
            projects::customReadme(m_source.project, custom.reason, custom.companions.tokeniser) + all["README.md"];
        all["config.json"] =
            projects::customConfig(m_source.project, m_code, m_source.run, exact ? "float64" : "float32");
        all[projects::kConfigurationFile] = projects::configurationCode();
        all[projects::kModelingFile] = projects::modelingCode();
        return all;
    }

    /// The weights by the name that transformers looks for.
    static void rename(std::string& text)
    {
        const std::string old = kWeightsFile;
        for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at)) {
            text.replace(at, old.size(), kCustomWeightsFile);
        }
    }

    const fs::path m_folder;
    PyTorchSource& m_source;
    projects::PyTorchCode m_code;
    HostTensors m_weights;
    HostTensors m_recorded;
};

} // namespace

Result<PyTorchFolder> writePyTorchFolder(const std::filesystem::path& folder, PyTorchSource source)
{
    return FolderWriter(folder, source).write();
}

} // namespace residua::engine
