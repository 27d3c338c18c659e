// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/safetensors_writer.h"
#include "engine/compute/network/network.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/transfer/new_folder.h"
#include "projects/base/child_process.h"
#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/pytorch/pytorch_code.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace residua::engine {

/// The use of the code: on its own.
struct PlainPyTorch {};
/// As a model with custom code (projects/huggingface/custom_model.h).
struct CustomModel {
    std::string reason; ///< why it is not one of transformers' own architectures
    Companions companions;
};

/// A network to be written as PyTorch code.
struct PyTorchSource {
    const projects::SoundProject& project;
    CompiledNetwork& network;  ///< of that project, on the host, computing in its parameters' precision
    const DeviceBatch& sample; ///< the input of the recorded outputs
    projects::ExportedRun run; ///< its numbers of parameters are filled in
    std::variant<PlainPyTorch, CustomModel> use = PlainPyTorch{};
};

/// The result of writing the folder.
struct PyTorchFolder {
    std::int64_t layers = 0;
    std::int64_t parameters = 0; ///< scalars in weights.safetensors
    /// scalars of the network that are not exported: nothing reads them, or their layers had not begun
    std::int64_t leftOut = 0;
};

/// Writes the folder: model.py, weights.safetensors, config.json, recorded.safetensors (the sample with the output, the
/// loss and the norm of each parameter's gradient, in evaluation), check.py and README.md. Refused by name, with
/// nothing written, if a part of the network has no counterpart. Overwrites the gradients of the network's parameters.
/// For a custom model, the weights are in model.safetensors, and the folder also has the files that transformers needs
/// and the companions.
class PyTorchWriter {
public:
    /// `folder` must exist and be empty; on error it may have some files (NewFolder). The references in `source` must
    /// outlive this.
    PyTorchWriter(std::filesystem::path folder, PyTorchSource source)
        : m_path(std::move(folder)), m_source(std::move(source))
    {
    }

    [[nodiscard]] bool atEnd() const { return m_ended; }
    /// Executes a piece of the work: the code, a pass of the network, or a tensor.
    [[nodiscard]] Status advance();
    [[nodiscard]] std::uint64_t tensorsDone() const { return m_written; }
    [[nodiscard]] std::uint64_t tensors() const { return m_weights.stored().size(); }
    /// Valid at the end.
    [[nodiscard]] PyTorchFolder folder() const;

private:
    [[nodiscard]] Status makeCode();
    [[nodiscard]] Status gather();
    [[nodiscard]] Status begin();
    [[nodiscard]] Status writeNext();
    [[nodiscard]] Status end();
    [[nodiscard]] std::map<std::string, std::string> texts() const;
    [[nodiscard]] std::map<std::string, std::string> textsOf(const CustomModel& custom) const;

    const std::filesystem::path m_path;
    PyTorchSource m_source;
    projects::PyTorchCode m_code;
    HostTensors m_weights;
    HostTensors m_recorded;
    std::optional<SafetensorsWriter> m_file;
    std::uint64_t m_written = 0;
    bool m_ended = false;
};

/// Writes the folder in one call.
[[nodiscard]] Result<PyTorchFolder> writePyTorchFolder(const std::filesystem::path& folder, PyTorchSource source);

/// Makes model.onnx from exported PyTorch code (pytorch_folder.h), with a Python (pythonCommand()) that has PyTorch,
/// onnx and onnxscript. Compares the graph with the recorded outputs, by onnxruntime if it is installed, else by onnx's
/// own evaluation. The work runs in a separate process, which the destructor ends.
class OnnxGraph {
public:
    /// Starts the process. `folder` must have the code. Returns an error if there is no such Python.
    [[nodiscard]] static Result<OnnxGraph> begin(const std::filesystem::path& folder);

    /// Returns nullopt while the process runs; then whether the graph exists and agrees.
    [[nodiscard]] std::optional<Status> ended();

private:
    OnnxGraph(std::filesystem::path folder, ChildProcess process)
        : m_folder(std::move(folder)), m_process(std::move(process))
    {
    }

    std::filesystem::path m_folder;
    ChildProcess m_process;
};

} // namespace residua::engine
