// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/tower_edits.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/check/validate.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace residua::projects {
namespace {

std::string freeTowerName(const Project& project, const std::string& base)
{
    return freeName(base, [&](const std::string& name) { return towerNamed(project, name) < towerCount(project); });
}

TowerLayout layoutOf(const Layout& layout, std::size_t tower)
{
    return tower == 0                      ? TowerLayout{layout.positions, layout.groups}
           : tower <= layout.towers.size() ? layout.towers[tower - 1]
                                           : TowerLayout{};
}

/// Names of the values of a tower, which is renamed.
struct Renaming {
    const Network& network;
    std::string after;

    /// Sets a value's name. Returns true if it was one of the tower.
    bool rename(std::string& value) const
    {
        std::optional<ValueName> name = valueNameFrom(value);
        if (!name || name->tower != network.name) {
            return false;
        }
        name->tower = after;
        value = name->text();
        return true;
    }

    void renamePorts(Graph& graph) const
    {
        for (Node& node : graph.nodes) {
            std::string port = roleOf(node) == NodeRole::GraphInput ? graphPortOf(node) : std::string();
            if (rename(port)) {
                node.params[kPortParam] = port;
            }
        }
    }

    /// Adds the edits of a graph that reads values at its ports.
    void addPorts(const GraphRef& ref, const Graph& graph, std::vector<Edit>& edits) const
    {
        for (const Node& node : graph.nodes) {
            std::string port = roleOf(node) == NodeRole::GraphInput ? graphPortOf(node) : std::string();
            if (rename(port)) {
                edits.emplace_back(SetParam{ref, node.id, kPortParam, port});
            }
        }
    }

    /// Returns the edits of a tower that reads the values.
    [[nodiscard]] std::vector<Edit> editsOf(const Network& reader) const
    {
        std::vector<Edit> edits;
        if (reader.weights == network.name) {
            edits.emplace_back(SetField{"/network/weights", {lineOf(JsonValue{after})}});
        }
        if (std::string input = reader.input; rename(input)) {
            edits.emplace_back(SetField{"/network/input", {lineOf(JsonValue{input})}});
        }
        addPorts(GraphRef::stem(), reader.stem, edits);
        addPorts(GraphRef::head(), reader.head, edits);
        for (const Block& block : reader.blocks) {
            addPorts(GraphRef::block(block.name), block.graph, edits);
        }
        return edits;
    }
};

/// Returns an error if the two documents' inputs mean different things.
Status checkInputs(const Project& student, const Project& teacher)
{
    const ExampleField mine = examplesOf(student.data).input();
    const ExampleField other = examplesOf(teacher.data).input();
    if (mine.shape != other.shape || mine.vocabulary != other.vocabulary) {
        const auto text = [](const ExampleField& field) {
            return field.shape.text() + (field.isTokens() ? " below " + std::to_string(field.vocabulary) : "");
        };
        return Error{"teacher", "reads " + text(other) + ", the student " + text(mine) +
                                    "; expected a teacher that was trained on the same kind of examples"};
    }
    const Tokeniser* const own = tokeniserOf(student.data.source);
    const Tokeniser* const its = tokeniserOf(teacher.data.source);
    if (own != nullptr && its != nullptr && own->kind != its->kind) {
        return Error{"teacher", "reads text by another kind of tokeniser; expected the student's"};
    }
    return Done{};
}

} // namespace

Network renamed(Network network, const std::string& name)
{
    const Renaming renaming{network, name};
    Network made = network;
    made.name = name;
    renaming.renamePorts(made.head);
    for (Block& block : made.blocks) {
        renaming.renamePorts(block.graph);
    }
    return made;
}

Edit renameTower(const Project& view, const std::string& name)
{
    const Renaming renaming{view.network, name};
    EditGroup group{"Rename tower to " + name, {SetField{"/network/name", {lineOf(JsonValue{name})}}}};
    for (std::size_t index = 0; index < towerCount(view); ++index) {
        if (std::vector<Edit> edits = renaming.editsOf(towerAt(view, index)); !edits.empty()) {
            group.edits.emplace_back(EditGroup{group.title, std::move(edits), index});
        }
    }
    std::vector<Loss> losses = view.losses;
    for (Loss& loss : losses) {
        renaming.rename(loss.output);
        renaming.rename(loss.target);
        std::ranges::replace(loss.trains, view.network.name, name);
    }
    if (losses != view.losses) {
        group.edits.emplace_back(SetLosses{std::move(losses)});
    }
    if (view.training.judgedBy == view.network.name) {
        group.edits.emplace_back(SetField{"/training/judged_by", {lineOf(JsonValue{name})}});
    }
    return group;
}

TowerChange copyTower(const Document& document, std::size_t shown, CopiedLoss loss)
{
    const Project& project = document.project;
    Tower copy{renamed(towerAt(project, shown), freeTowerName(project, towerAt(project, shown).name))};
    if (loss == CopiedLoss::None) {
        copy.network.ownLoss = OwnLoss::None;
    }
    return {AddTower{std::move(copy), layoutOf(document.layout, shown)}, towerCount(project)};
}

Result<TowerChange> removeTower(const Project& project, std::size_t shown)
{
    const Network& network = towerAt(project, shown);
    if (shown == 0) {
        return Error{"tower " + network.name,
                     "is the first one, whose output the run has; only the others can be removed"};
    }
    std::vector<std::string> users;
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        const bool reads = index != shown && (weightsOwner(project, index) == shown ||
                                              std::ranges::any_of(readValues(project, index), [&](const auto& value) {
                                                  return towerOfValue(project, value) == shown;
                                              }));
        if (reads) {
            users.push_back("the tower " + towerAt(project, index).name);
        }
    }
    for (const Loss& loss : project.losses) {
        if (towerOfValue(project, loss.output) == shown || towerOfValue(project, loss.target) == shown ||
            std::ranges::find(loss.trains, network.name) != loss.trains.end()) {
            users.push_back("the loss " + loss.name);
        }
    }
    if (project.training.judgedBy == network.name) {
        users.emplace_back("training.judged_by");
    }
    if (!users.empty()) {
        return Error{"tower " + network.name,
                     "is named by " + joinedText(users) + "; let them name another tower, or remove them first"};
    }
    return TowerChange{EditGroup{"Remove tower " + network.name, {RemoveTower{shown - 1}}}, 0};
}

TowerChange joinStack(const Document& document, std::size_t shown)
{
    const Project& project = document.project;
    const Network& upper = towerAt(project, shown);
    Tower lower{renamed(upper, freeTowerName(project, "lower"))};
    lower.network.ownLoss = OwnLoss::None;
    lower.network.tieHead = false;
    lower.network.head = GraphBuilder::fromInput().toOutput();
    const Graph joint =
        GraphBuilder::fromInput().then("joint", "linear", {{"out", std::string("d")}, {"bias", false}}).toOutput();
    TowerLayout layout = layoutOf(document.layout, shown);
    layout.positions.erase(GraphRef::head());
    EditGroup above{"Read " + lower.network.name, {SetGraph{GraphRef::stem(), joint}}, shown};
    for (const Node& node : joint.nodes) { // those of the former stem have the same ids
        above.edits.emplace_back(MoveNode{GraphRef::stem(), node.id, std::nullopt});
    }
    const Renaming renaming{upper, lower.network.name}; // the values of the former stem are those of the lower tower
    renaming.addPorts(GraphRef::head(), upper.head, above.edits);
    for (const Block& block : upper.blocks) {
        renaming.addPorts(GraphRef::block(block.name), block.graph, above.edits);
    }
    above.edits.emplace_back(SetField{"/network/input", {"\"" + outputOf(lower.network) + "\""}});
    if (upper.tieHead) { // the embedding is in the lower tower now
        above.edits.emplace_back(SetField{"/network/tie_head", {"false"}});
    }
    return {EditGroup{"Join a further stack", {AddTower{std::move(lower), std::move(layout)}, std::move(above)}},
            shown};
}

Edit addLoss(const Project& project, std::size_t shown)
{
    const std::map<std::string, Shape> values = valuesOf(project);
    Loss loss;
    loss.output = outputOf(towerAt(project, shown));
    const bool ofTokens = examplesOf(project).target().isTokens();
    loss.kind = ofTokens ? LossKind::SoftTargets : LossKind::SquaredError;
    loss.name = freeName(ofTokens ? "soft" : "squared", [&](const std::string& name) {
        return std::ranges::find(project.losses, name, &Loss::name) != project.losses.end();
    });
    const auto output = values.find(loss.output);
    for (const auto& [name, shape] : values) {
        if (output != values.end() && towerOfValue(project, name) != shown && shape.dims == output->second.dims) {
            loss.target = name;
            break;
        }
    }
    if (loss.target.empty() && ofTokens) {
        loss.kind = LossKind::CrossEntropy;
    }
    std::vector<Loss> losses = project.losses;
    losses.push_back(loss);
    return EditGroup{"Add loss " + loss.name, {SetLosses{std::move(losses)}}};
}

Result<Edit> removeLoss(const Project& project, std::size_t index)
{
    if (index >= project.losses.size()) {
        return Error{"losses", "there is no loss " + std::to_string(index + 1)};
    }
    std::vector<Loss> losses = project.losses;
    const std::string name = losses[index].name;
    losses.erase(losses.begin() + static_cast<std::ptrdiff_t>(index));
    return Edit{EditGroup{"Remove loss " + name, {SetLosses{std::move(losses)}}}};
}

std::vector<std::string> readableValues(const Project& project)
{
    std::vector<std::string> names;
    for (const auto& [name, shape] : conditionsOf(project)) {
        const std::size_t tower = towerOfValue(project, name);
        if (tower > 0 && tower < towerCount(project)) {
            names.push_back(name);
        }
    }
    return names;
}

Result<Project> withTeacher(Project student, const Project& teacher, const Teaching& teaching)
{
    RESIDUA_TRY(checkOneTower(teacher, "a teacher"));
    RESIDUA_TRY(checkInputs(student, teacher));
    if (towerNamed(student, teaching.name) < towerCount(student)) {
        return Error{"teacher", "there is a tower " + teaching.name + " already; expected another name"};
    }
    Tower tower{renamed(teacher.network, teaching.name)};
    tower.network.frozen = true;
    tower.network.ownLoss = OwnLoss::None;
    Loss loss;
    loss.name = teaching.name;
    loss.kind = LossKind::SoftTargets;
    loss.output = outputOf(student.network);
    loss.target = outputOf(tower.network);
    loss.weight = teaching.weight;
    loss.temperature = teaching.temperature;
    student.towers.push_back(std::move(tower));
    student.losses.push_back(std::move(loss));
    const std::vector<Problem> problems = validate(student);
    const auto error = std::ranges::find(problems, Severity::Error, &Problem::severity);
    if (error != problems.end()) {
        return Error{error->place, error->message};
    }
    return student;
}

} // namespace residua::projects
