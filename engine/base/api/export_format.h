// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::engine {

/// The formats that a network can be exported to.
enum class ExportFormat {
    PyTorch, ///< code that does not need this program
    /// A model that transformers loads: as one of its own architectures if the network is one, else with the PyTorch
    /// code as the model's custom code. Includes the project's tokeniser.
    HuggingFace,
    Onnx, ///< the PyTorch code, and a graph that Python's PyTorch makes from it
};

struct ExportFormatInfo {
    const char* key = "";   ///< on the command line
    const char* title = ""; ///< in the window
    const char* makes = ""; ///< the files written, for users: begins in lower case, without a full stop
    const char* lost = "";  ///< the parts of a run that are not exported, as a sentence
};
/// Indexed by the enumerators, the most common first.
inline constexpr ExportFormatInfo kExportFormats[] = {
    {"pytorch", "PyTorch code", "model.py, its weights, and check.py, which compares",
     "The optimiser's state, the learning rate's schedule, the stages and the data are not in it."},
    {"huggingface", "Hugging Face model", "what transformers loads as a model of language",
     "The optimiser's state, the learning rate's schedule, the stages and the data are not in it."},
    {"onnx", "ONNX graph", "model.onnx beside the PyTorch code that it is made from, by a Python with PyTorch",
     "As with PyTorch code; and the graph itself only evaluates."},
};
[[nodiscard]] constexpr const ExportFormatInfo& infoOf(ExportFormat format)
{
    return kExportFormats[static_cast<std::size_t>(format)];
}

/// The types of stored weights, by their names in a safetensors file. All can be read, and requested for an export.
inline constexpr std::string_view kWeightTypes[] = {"F32", "BF16", "F16", "F64"};
/// Returns "F32, BF16, F16 or F64".
[[nodiscard]] std::string weightTypeNames();

} // namespace residua::engine
