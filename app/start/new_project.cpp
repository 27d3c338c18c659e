// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/new_project.h"

#include "projects/check/validate.h"
#include "projects/commands/cures.h"
#include "projects/commands/topology_commands.h"
#include "projects/edit/edit.h"
#include "projects/library/presets.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr int kMostCures = 4; ///< a cure may bring another problem to light

/// The one that trains on data of the same kind.
const projects::Example& exampleFor(const projects::Source& source)
{
    const char* const name = std::holds_alternative<projects::LinearRegression>(source)    ? "linear-ancre"
                             : std::holds_alternative<projects::LowRankRegression>(source) ? "low-rank-regression"
                             : std::holds_alternative<projects::BooleanPolynomial>(source) ? "boolean-polynomial"
                                                                                           : "plain-language";
    return *projects::findExample(name);
}

/// Vectors that go into the stack as they are have its width.
void setWidth(projects::Project& project, std::int64_t width)
{
    project.network.width = width;
    if (auto* linear = std::get_if<projects::LinearRegression>(&project.data.source)) {
        linear->dim = width;
        linear->samples = std::max(linear->samples, width);
    } else if (auto* lowRank = std::get_if<projects::LowRankRegression>(&project.data.source)) {
        lowRank->dim = width;
    }
}

Status change(projects::Project& project, const projects::Edit& edit)
{
    projects::Document document{std::move(project), {}};
    const auto undo = applyEdit(document, edit);
    project = std::move(document.project);
    return undo ? Status(Done{}) : Status(undo.error());
}

void cure(projects::Project& project)
{
    for (int i = 0; i < kMostCures; ++i) {
        for (const projects::Problem& problem : projects::validate(project)) {
            const auto found =
                problem.severity == projects::Severity::Error ? projects::cureOf(project, problem) : std::nullopt;
            if (found && change(project, found->edit)) {
                break;
            }
        }
    }
}

} // namespace

NewProject proposalFor(const projects::Source& source)
{
    const projects::Project& example = exampleFor(source).project;
    NewProject proposal;
    proposal.source = source;
    proposal.depth = example.network.depth();
    proposal.width = example.network.width;
    proposal.topology = example.topology.preset;
    proposal.steps = example.training.steps;
    proposal.batch = example.training.batch;
    proposal.sequenceLength = example.training.sequenceLength;
    return proposal;
}

Result<projects::Project> projectFrom(const NewProject& wanted)
{
    if (wanted.depth < 1 || wanted.width < 1) {
        return Error{wanted.depth < 1 ? "depth" : "width",
                     "got " + std::to_string(wanted.depth < 1 ? wanted.depth : wanted.width) + ", expected 1 or more"};
    }
    projects::Project project = exampleFor(wanted.source).project;
    project.name = wanted.name;
    project.description.clear();
    project.sweeps.clear();
    project.data.source = wanted.source;
    project.network.stack = {{project.network.stack.front().block, wanted.depth}};
    setWidth(project, wanted.width);
    project.training.steps = wanted.steps;
    project.training.learningRate.warmupSteps =
        std::min(project.training.learningRate.warmupSteps, std::max<std::int64_t>(wanted.steps / 10, 0));
    project.training.batch = wanted.batch;
    if (isLanguage(project.data)) {
        project.training.sequenceLength = wanted.sequenceLength;
    }
    const auto presets = projects::topologyPresets(project.network);
    const auto preset = std::ranges::find(presets, wanted.topology, &projects::TopologyPreset::name);
    if (preset == presets.end()) {
        return Error{"topology", "there is no preset \"" + wanted.topology + "\""};
    }
    if (const Status wired = change(project, wireAs(project, *preset)); !wired) {
        return wired.error();
    }
    cure(project);
    return project;
}

} // namespace residua::app
