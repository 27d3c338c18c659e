// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/transfer/pytorch_folder.h"

#include "engine/files/safetensors.h"
#include "engine/train/tensor_io.h"
#include "projects/base/whole_file.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/zeros.h>

#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

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

/// Removes what it names, unless that was kept.
class Scratch {
public:
    explicit Scratch(fs::path path) : m_path(std::move(path)) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch()
    {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }
    [[nodiscard]] const fs::path& path() const { return m_path; }

private:
    fs::path m_path;
};

Error failure(const fs::path& folder, const std::string& what, const std::error_code& code)
{
    return Error{folder.string(), what + ": " + code.message()};
}

class FolderWriter {
public:
    FolderWriter(fs::path folder, PyTorchSource& source) : m_folder(std::move(folder)), m_source(source) {}

    Result<PyTorchFolder> write()
    {
        for (const auto stage : {&FolderWriter::makeCode, &FolderWriter::gather, &FolderWriter::writeAll}) {
            if (const Status done = (this->*stage)(); !done) {
                return done.error();
            }
        }
        return PyTorchFolder{m_code.layers, m_source.run.parameters, m_source.run.leftOut};
    }

private:
    Status makeCode()
    {
        if (const Status free = checkFree(m_folder); !free) {
            return free;
        }
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

    Status writeAll()
    {
        const fs::path parent = m_folder.has_parent_path() ? m_folder.parent_path() : fs::path(".");
        std::error_code code;
        fs::create_directories(parent, code);
        if (code) {
            return failure(parent, "cannot be made", code);
        }
        const Scratch scratch(parent / ("." + m_folder.filename().string() + "." + std::to_string(::getpid())));
        fs::create_directory(scratch.path(), code);
        if (code) {
            return failure(scratch.path(), "cannot be made", code);
        }
        if (const Status written = writeFiles(scratch.path()); !written) {
            return written;
        }
        fs::rename(scratch.path(), m_folder, code); // takes the place of an empty folder
        return code ? Status(failure(m_folder, "cannot be written", code)) : Status(Done{});
    }

    Status writeFiles(const fs::path& folder)
    {
        const std::map<std::string, std::string> metadata{{"format", "pt"}};
        if (Status done = writeSafetensors(folder / "weights.safetensors", m_weights.stored(), metadata); !done) {
            return done;
        }
        if (Status done = writeSafetensors(folder / "recorded.safetensors", m_recorded.stored(), metadata); !done) {
            return done;
        }
        const std::pair<const char*, std::string> texts[] = {
            {"model.py", m_code.model},
            {"check.py", projects::pyTorchCheck()},
            {"config.json", projects::pyTorchConfig(m_source.project, m_code, m_source.run)},
            {"README.md", projects::pyTorchReadme(m_source.project, m_code, m_source.run)},
        };
        for (const auto& [name, text] : texts) {
            if (Status done = writeFileAtomically(folder / name, text); !done) {
                return done;
            }
        }
        return Done{};
    }

    const fs::path m_folder;
    PyTorchSource& m_source;
    projects::PyTorchCode m_code;
    HostTensors m_weights;
    HostTensors m_recorded;
};

} // namespace

Status checkFree(const fs::path& folder)
{
    std::error_code code;
    const fs::file_status status = fs::symlink_status(folder, code);
    if (status.type() == fs::file_type::not_found) {
        return Done{};
    }
    const bool empty = status.type() == fs::file_type::directory && fs::is_empty(folder, code) && !code;
    return empty ? Status(Done{})
                 : Status(Error{folder.string(), "exists, expected a folder that does not, or an empty one"});
}

Result<PyTorchFolder> writePyTorchFolder(const std::filesystem::path& folder, PyTorchSource source)
{
    return FolderWriter(folder, source).write();
}

} // namespace residua::engine
