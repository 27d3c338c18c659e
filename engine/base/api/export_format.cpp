// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/export_format.h"

#include "projects/base/text.h"

#include <algorithm>

namespace residua::engine {

std::span<const ExportFormatInfo> exportFormats()
{
    static constexpr ExportFormatInfo kFormats[] = {
        {ExportFormat::PyTorch, "pytorch", "PyTorch code", "model.py, its weights, and check.py, which compares",
         "The optimiser's state, the learning rate's schedule, the stages and the data are not in it."},
        {ExportFormat::HuggingFace, "huggingface", "Hugging Face model",
         "what transformers loads as a model of language",
         "The optimiser's state, the learning rate's schedule, the stages and the data are not in it."},
        {ExportFormat::Onnx, "onnx", "ONNX graph",
         "model.onnx beside the PyTorch code that it is made from, by a Python with PyTorch",
         "As with PyTorch code; and the graph itself only evaluates."},
    };
    return kFormats;
}

const ExportFormatInfo& infoOf(ExportFormat format)
{
    return *std::ranges::find(exportFormats(), format, &ExportFormatInfo::format);
}

std::optional<ExportFormat> exportFormatFrom(std::string_view key)
{
    const auto found = std::ranges::find(exportFormats(), key, &ExportFormatInfo::key);
    return found != exportFormats().end() ? std::optional(found->format) : std::nullopt;
}

std::string weightTypeNames()
{
    return choiceText(kWeightTypes);
}

} // namespace residua::engine
