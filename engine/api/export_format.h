// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace residua::engine {

/// What a network can be exported as.
enum class ExportFormat {
    PyTorch, ///< code that needs nothing of this program
    /// A model that transformers loads: by itself where the network is one of its architectures, else with that code as
    /// the model's own. The project's tokeniser comes along.
    HuggingFace,
    Onnx, ///< that code, and a graph that Python's PyTorch makes of it
};

struct ExportFormatInfo {
    ExportFormat format{};
    const char* key = "";   ///< on the command line
    const char* title = ""; ///< in the window
    const char* makes = ""; ///< what is written, for people: begins in lower case, without a full stop
    const char* lost = "";  ///< what does not come along: a sentence
};

/// Every one, the usual first: command line, help and window offer what is in it.
[[nodiscard]] std::span<const ExportFormatInfo> exportFormats();
[[nodiscard]] const ExportFormatInfo& infoOf(ExportFormat format);
[[nodiscard]] std::optional<ExportFormat> exportFormatFrom(std::string_view key);

/// The types that weights are kept in, by their names in a safetensors file: those that are read, and that an export
/// can be asked for.
inline constexpr std::string_view kWeightTypes[] = {"F32", "BF16", "F16", "F64"};
/// "F32, BF16, F16 or F64".
[[nodiscard]] std::string weightTypeNames();

} // namespace residua::engine
