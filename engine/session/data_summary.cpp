// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/data_summary.h"

#include "engine/data/dataset.h"
#include "engine/session/failure.h"

namespace residua::engine {
namespace {

std::int64_t counted(const Dataset& dataset, Split split)
{
    const std::int64_t size = dataset.size(split);
    return size == kEndless ? -1 : size;
}

} // namespace

Result<DataSummary> summariseData(const projects::Project& project, const std::filesystem::path& projectDirectory)
{
    Result<DataSummary> summary = DataSummary{};
    const auto failure = attempt([&] {
        const Result<std::unique_ptr<Dataset>> opened = Dataset::open(project, projectDirectory);
        if (!opened) {
            summary = opened.error();
            return;
        }
        const Dataset& dataset = **opened;
        const DataShape shape = dataset.shape();
        summary = DataSummary{.language = shape.language,
                              .vocabulary = shape.vocabulary,
                              .inputs = shape.inputs,
                              .outputs = shape.outputs,
                              .train = counted(dataset, Split::Train),
                              .validation = counted(dataset, Split::Validation),
                              .test = counted(dataset, Split::Test),
                              .notes = dataset.notes()};
    });
    return failure ? Result<DataSummary>(Error{"data", failure->text}) : summary;
}

} // namespace residua::engine
