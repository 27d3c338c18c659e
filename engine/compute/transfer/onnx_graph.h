// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/child_process.h"
#include "projects/base/result.h"

#include <filesystem>
#include <optional>
#include <utility>

namespace residua::engine {

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
