// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/child_process.h"
#include "projects/base/result.h"

#include <filesystem>
#include <optional>
#include <utility>

namespace residua::engine {

/// model.onnx, made of exported PyTorch code (pytorch_folder.h) by a Python (pythonCommand()) that has PyTorch, onnx
/// and onnxscript. The graph is compared with the recorded outputs, by onnxruntime where that is there too and else by
/// onnx's own evaluation. The work is a process of its own, which is ended with this value.
class OnnxGraph {
public:
    /// `folder` has the code. An error where there is no such Python.
    [[nodiscard]] static Result<OnnxGraph> begin(const std::filesystem::path& folder);

    /// Nothing while it works; then whether the graph is there and agrees.
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
