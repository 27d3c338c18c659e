// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/text.h"
#include "projects/check/problems.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/shape.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/kept_parts.h"
#include "projects/schema/fields.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>

namespace residua::projects {
namespace {

std::string placeOfTower(const Network& network)
{
    return "tower " + network.name;
}

/// True if the name can begin names of values and parameters.
bool isName(const std::string& name)
{
    constexpr std::string_view kTaken[] = {"stem",        "layers", "head",           "topology", "name",
                                           "description", "data",   "training",       "schedule", "seeds",
                                           "sweeps",      "towers", "initialisation", "losses"};
    return !name.empty() && name.find_first_of(". \t\n/") == std::string::npos &&
           std::ranges::find(kTaken, name) == std::end(kTaken);
}

void checkNames(const Project& project, Problems& problems)
{
    std::set<std::string> names;
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        const std::string& name = towerAt(project, index).name;
        const std::string path = pointerOfView(index, "/network/name");
        if (!isName(name)) {
            problems.error(path, "is \"" + name +
                                     "\"; expected a name without spaces, points and slashes, which is not one "
                                     "of a part, such as stem, layers, head, topology or training");
        } else if (!names.insert(name).second) {
            problems.error(path, "is \"" + name + "\", which an earlier tower has; expected a name of its own");
        }
    }
}

/// Reports inputs that name no value, and those of towers that do not run before.
void checkInput(const Project& view, std::size_t index, Problems& problems)
{
    const std::string& input = view.network.input;
    const std::map<std::string, Shape> known = conditionsOf(view);
    if (!input.empty() && !known.contains(input)) {
        problems.error(
            pointerOfView(index, "/network/input"),
            "reads \"" + input + "\", which no tower before it has; expected " +
                (known.empty() ? "nothing, the examples' input" : "one of " + joinedText(std::views::keys(known))));
    }
}

/// Checks tower `index` by what is checked of a first tower.
void checkTower(const Project& project, std::size_t index, Problems& problems)
{
    const Project view = viewOf(project, index);
    Problems found(view);
    validateNetwork(view, found);
    validateTopology(view, found);
    found.checkRanges("/schedule");
    validateSchedule(view, found);
    if (grows(view.stack().schedule)) {
        found.error("/schedule", "makes the tower grow from stage to stage, which only the first one does; expected "
                                 "another choice of the layers that train");
    }
    for (const Problem& problem : found.take()) {
        const std::string path = pointerOfView(index, problem.path);
        const bool isOfField = problem.place == placeOfField(view, problem.path);
        const std::string place =
            isOfField ? placeOfField(project, path) : placeOfTower(view.network) + " · " + problem.place;
        if (problem.severity == Severity::Error) {
            problems.error(path, place, problem.message);
        } else {
            problems.warning(path, place, problem.message);
        }
    }
}

/// Checks a loss between two values, or between a value and the examples' target.
void checkLoss(const Project& project, const std::map<std::string, Shape>& values, const Loss& loss,
               const std::string& path, Problems& problems)
{
    const auto output = values.find(loss.output);
    const auto target = values.find(loss.target);
    const ExampleField data = examplesOf(project.data).target();
    const auto expected = [&values] { return "is no value; expected one of " + joinedText(std::views::keys(values)); };
    if (output == values.end()) {
        problems.error(path + "/output", "\"" + loss.output + "\" " + expected());
        return;
    }
    if (!loss.target.empty() && target == values.end()) {
        problems.error(path + "/target",
                       "\"" + loss.target + "\" " + expected() + ", or nothing for the examples' target");
        return;
    }
    const Shape wanted = !loss.target.empty()                  ? target->second
                         : loss.kind == LossKind::CrossEntropy ? examplesOf(project.data).output()
                                                               : data.shape;
    const bool ofTokens = loss.kind == LossKind::CrossEntropy;
    if (ofTokens != (loss.target.empty() && data.isTokens())) {
        problems.error(path + "/target",
                       ofTokens ? "cross-entropy needs the tokens or labels of the examples; expected nothing, and "
                                  "such examples"
                                : "got the examples' tokens, expected a value of a tower");
    } else if (wanted.dims != output->second.dims) {
        problems.error(
            path + "/output",
            loss.output + " is " + output->second.text() + ", its target " + wanted.text() +
                "; expected the same shape" +
                (loss.kind == LossKind::SoftTargets ? ", such as that of a teacher with the same vocabulary" : ""));
    }
}

void checkLosses(const Project& project, Problems& problems)
{
    const std::map<std::string, Shape> values = valuesOf(project);
    std::set<std::string> names{"loss"};
    for (std::size_t i = 0; i < project.losses.size(); ++i) {
        const Loss& loss = project.losses[i];
        const std::string path = "/losses/" + std::to_string(i);
        if (loss.name.empty() || loss.name.find('/') != std::string::npos || !names.insert(loss.name).second) {
            problems.error(path + "/name",
                           "is \"" + loss.name + "\"; expected a name of its own without slashes, other than loss");
        }
        for (const std::string& name : loss.trains) {
            const std::size_t tower = towerNamed(project, name);
            if (tower == towerCount(project)) {
                problems.error(path + "/trains", "loss " + loss.name, "there is no tower " + name);
            } else if (towerAt(project, tower).frozen) {
                problems.error(path + "/trains", "loss " + loss.name,
                               "trains the tower " + name +
                                   ", which is frozen; expected others, or a tower that is "
                                   "not frozen");
            }
        }
        checkLoss(project, values, loss, path, problems);
        if (const std::size_t output = towerOfValue(project, loss.output); output < towerCount(project)) {
            const bool trains = std::ranges::any_of(reachOf(project, {output}), [&](std::size_t tower) {
                const Network& network = towerAt(project, tower);
                return !network.frozen &&
                       (loss.trains.empty() || std::ranges::find(loss.trains, network.name) != loss.trains.end());
            });
            if (!trains && loss.weight > 0) {
                problems.error(path, "loss " + loss.name,
                               "trains no tower: its output " + loss.output +
                                   " comes from towers that are frozen or not named by \"trains\"");
            }
        }
    }
    problems.checkRanges("/losses");
}

} // namespace

void validateTowers(const Project& project, Problems& problems)
{
    if (project.network.ownLoss == OwnLoss::None) {
        problems.error("/network/own_loss", "is none; expected a loss, because the first tower judges the run");
    }
    if (project.network.frozen && project.towers.empty()) {
        problems.error("/network/frozen", "leaves nothing to train");
    }
    if (project.towers.empty() && project.losses.empty() && project.network.input.empty()) {
        return;
    }
    checkNames(project, problems);
    if (const Result<std::vector<std::size_t>> order = runOrder(project); !order) {
        problems.error("/towers", order.error().place, order.error().message);
        return;
    }
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        checkInput(viewOf(project, index), index, problems);
        if (index > 0) {
            checkTower(project, index, problems);
        }
    }
    checkLosses(project, problems);
    const std::set<std::size_t> used = usedTowers(project);
    for (std::size_t index = 1; index < towerCount(project); ++index) {
        if (!used.contains(index)) {
            problems.warning(pointerOfView(index, "/network/own_loss"),
                             "is none, and no loss needs the tower's values: it does not run");
        }
    }
}

} // namespace residua::projects
