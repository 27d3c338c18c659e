// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <optional>

#include <sys/types.h>

namespace residua::engine {

/// model.onnx, made of exported PyTorch code (pytorch_folder.h) by a Python that has PyTorch, onnx and onnxscript: the
/// one that RESIDUA_PYTHON names, else the one that packaging/python.sh has installed, else the system's. The graph is
/// compared with the recorded outputs, by onnxruntime where that is there too and else by onnx's own evaluation. The
/// work is a process of its own, which is ended with this value.
class OnnxGraph {
public:
    /// `folder` has the code. An error where there is no such Python.
    [[nodiscard]] static Result<OnnxGraph> begin(const std::filesystem::path& folder);
    OnnxGraph(OnnxGraph&& other) noexcept;
    OnnxGraph& operator=(OnnxGraph&&) = delete;
    ~OnnxGraph();

    /// Nothing while it works; then whether the graph is there and agrees.
    [[nodiscard]] std::optional<Status> ended();

private:
    OnnxGraph(std::filesystem::path folder, pid_t process) : m_folder(std::move(folder)), m_process(process) {}

    std::filesystem::path m_folder;
    pid_t m_process = -1; ///< leads a group of its own; −1: it has ended
};

} // namespace residua::engine
