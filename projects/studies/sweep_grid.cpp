// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/sweep_grid.h"

#include "projects/base/json_tree.h"
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/check/validate.h"
#include "projects/cost/stage_cost.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/edit/edit.h"
#include "projects/file/json.h"
#include "projects/layers/layer_edits.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/schema/fields.h"
#include "projects/transfer/retrofit.h"

#include <algorithm>
#include <ranges>
#include <set>

namespace residua::projects {

namespace {

constexpr const char* kTopology = "/topology";
constexpr const char* kSegments = "/network/stack";
constexpr const char* kLoops = "/network/loops";
constexpr const char* kSchedule = "/schedule";
constexpr const char* kRank = "/network/rank";
constexpr const char* kAllSeeds = "/seeds";
constexpr const char* kShortcutsPreset = "none"; // the preset that a set of shortcuts modifies

/// Suggests a field for a text that is not a pointer: the field with that key, or the one with the nearest pointer.
std::string pointerHint(const Project& project, std::string_view typed)
{
    constexpr HintForm kForm{.quote = ""};
    std::vector<std::string> pointers;
    for (const FieldEntry& entry : fieldsOf(project)) {
        pointers.push_back(wholeOf(entry));
        if (entry.field.key == typed) {
            return didYouMean(pointers.back(), kForm);
        }
    }
    return meantHint(typed, pointers, kForm);
}

/// Selects an alternative of a part by name, with its defaults: "/training/optimiser" accepts the text "sgd". Returns
/// nullopt if `pointer` is not such a part.
std::optional<Result<Project>> withAlternative(const Project& project, const std::string& pointer,
                                               const std::string& name)
{
    std::optional<FieldEntry> choice = findField(project, pointer);
    if (!choice) {
        choice = findField(project, pointer + "/kind");
    }
    if (!choice || wholeOf(*choice) == choice->pointer) {
        return std::nullopt;
    }
    const auto chosen = std::ranges::find(choice->choices, name, &Choice::name);
    if (chosen == choice->choices.end()) {
        const auto names = choice->choices | std::views::transform(&Choice::name);
        return Error{pointer, "is the text \"" + name + "\"; expected one of \"" + joinedText(names, "\", \"") + "\"" +
                                  meantHint(name, names)};
    }
    Project changed = project;
    RESIDUA_TRY(setField(changed, choice->pointer, std::int64_t{chosen - choice->choices.begin()}));
    return changed;
}

/// Returns a rank that is given as a number in the form of files: 8, or 0.25 as a share. Other values stay.
JsonValue rankFrom(JsonValue value)
{
    const auto of = [](const char* kind, const char* key, JsonValue number) {
        return JsonValue{JsonObject{{"kind", JsonValue{std::string(kind)}}, {key, std::move(number)}}};
    };
    if (std::holds_alternative<std::int64_t>(value.data)) {
        return of("number", "rank", std::move(value));
    }
    return std::holds_alternative<double>(value.data) ? of("scale", "scale", std::move(value)) : value;
}

std::string placeOf(const Sweep& sweep, const SweepAxis& axis, const SweepValue& value)
{
    return "sweep " + sweep.name + " · " + labelOf(axis) + " = " + labelOf(value);
}

/// True if a field affects the training. The file's version is not a field of the document.
bool trains(std::string_view field)
{
    return field != "/schema" && decidesAt(field) == Decides::Training;
}

Status checkAxes(const Sweep& sweep)
{
    const std::string place = "sweep " + sweep.name;
    if (sweep.axes.empty() || sweep.axes.size() > kMaxSweepAxes) {
        return Error{place, "varies " + std::to_string(sweep.axes.size()) + " fields; expected 1 to " +
                                std::to_string(kMaxSweepAxes)};
    }
    std::size_t members = 1;
    std::set<std::string> fields;
    for (const SweepAxis& axis : sweep.axes) {
        if (axis.field.empty() || axis.values.empty()) {
            return Error{place + " · " + labelOf(axis), axis.field.empty() ? "has no field; expected a JSON pointer"
                                                                           : "has no values; expected at least one"};
        }
        if (!trains(axis.field)) {
            return Error{place + " · " + labelOf(axis), axis.field + " decides nothing that is trained"};
        }
        if (!fields.insert(axis.field).second) {
            return Error{place + " · " + labelOf(axis), axis.field + " is varied twice; expected each field once"};
        }
        members *= axis.values.size();
        if (members > kMaxSweepMembers) {
            return Error{place, "has more than " + std::to_string(kMaxSweepMembers) + " members"};
        }
    }
    return Done{};
}

/// Every member contains a copy of the document and is validated separately.
Status checkSize(const Project& bare, const Sweep& sweep, std::size_t members)
{
    constexpr double kMostBytes = 256.0 * 1024 * 1024;
    const auto each = static_cast<double>(toJson(bare).size());
    if (each * static_cast<double>(members) <= kMostBytes) {
        return Done{};
    }
    return Error{"sweep " + sweep.name, "has " + std::to_string(members) + " members of a document of " +
                                            bytesText(each) + ", " + bytesText(each * static_cast<double>(members)) +
                                            " in all; expected at most " + bytesText(kMostBytes)};
}

struct FieldToSet {
    std::string field;
    FieldValue value;
    std::string place; ///< prefix of the place of errors; empty for the field's own place
};

/// Returns the value of each axis for member `index`.
std::vector<const SweepValue*> valuesAt(const Sweep& sweep, std::size_t index)
{
    std::vector<const SweepValue*> values(sweep.axes.size());
    for (std::size_t a = sweep.axes.size(); a > 0; --a) {
        const std::vector<SweepValue>& choices = sweep.axes[a - 1].values;
        values[a - 1] = &choices[index % choices.size()];
        index /= choices.size();
    }
    return values;
}

/// Returns the fields that make a member of the study from its values.
std::vector<FieldToSet> fieldsOf(const Sweep& sweep, const std::vector<const SweepValue*>& values)
{
    std::vector<FieldToSet> fields;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
        fields.push_back({sweep.axes[a].field, values[a]->value, placeOf(sweep, sweep.axes[a], *values[a])});
    }
    return fields;
}

/// Sets several fields in the order of settingTurn().
Result<Project> withFields(Project project, const std::vector<FieldToSet>& fields, std::vector<LayerGroup>* groups)
{
    for (int turn = 0; turn < 4; ++turn) {
        for (const auto& [field, value, place] : fields) {
            if (settingTurn(field) != turn) {
                continue;
            }
            Result<Project> next = trains(field) ? withField(project, field, value, groups)
                                                 : Error{field, "decides nothing that is trained"};
            if (!next) {
                return place.empty() ? next.error() : Error{place, next.error().text()};
            }
            project = *std::move(next);
        }
    }
    return project;
}

void assess(SweepMember& member, const Sweep& sweep)
{
    const std::vector<Problem> problems = validate(member.project);
    if (hasErrors(problems)) {
        member.error = Error{"sweep " + sweep.name + " · " + member.label, problems.front().text()};
    }
    if (const Result<CostReport> report = costOf(member.project)) {
        member.cost = report->total;
        member.trainFlops = expectedFlopShare(member.project, *report) * trainingFlops(member.project, member.cost);
    }
}

/// Returns the project wired by the preset, with its blocks adapted to the ports that it feeds.
Result<Project> wiredAs(const Project& project, const TopologyPreset& preset)
{
    Document document{project, {}};
    const Status wired = applyEdit(document, wireAs(project, preset).edit);
    return wired ? Result<Project>(std::move(document.project)) : wired.error();
}

/// True if setting `field` also sets the field at `pointer`.
bool covers(std::string_view field, std::string_view pointer)
{
    return field == pointer || (pointer.starts_with(field) && pointer.substr(field.size()).starts_with('/'));
}

/// Returns `read`, a project in which the field at `pointer` was set, with what follows from the field. `before` is the
/// project without it.
Result<Project> withWhatFollows(Project read, const Project& before, const std::string& pointer,
                                std::vector<LayerGroup>* groups)
{
    if (pointer == "/data/masking/next_sentence") {
        read.network = withNextSentence(std::move(read.network), read.data.masking.nextSentence);
    }
    if (pointer == kFullModelSteps) {
        read.stack().schedule = withFullModelSteps(before.stack().schedule, read.stack().schedule.fullModelSteps);
    }
    if (pointer == kTrainingSteps) {
        read.stack().schedule = stretched(before.stack().schedule, before.training.steps, read.training.steps);
    }
    if (!covers(kSegments, pointer) && !covers(kLoops, pointer)) {
        return read;
    }
    Document document{before, {}};
    document.layout.groups = groups != nullptr ? *groups : std::vector<LayerGroup>();
    const auto edit = restackEdit(document, read.stack(), "");
    if (!edit) {
        return read;
    }
    RESIDUA_TRY(applyEdit(document, *edit));
    if (groups != nullptr) {
        *groups = std::move(document.layout.groups);
    }
    return std::move(document.project);
}

} // namespace

bool setsField(const Sweep& sweep, std::string_view pointer)
{
    return std::ranges::any_of(sweep.axes, [&](const SweepAxis& axis) {
        if (axis.field != kSeveralFields) {
            return covers(axis.field, pointer);
        }
        return std::ranges::any_of(axis.values, [&](const SweepValue& value) {
            const JsonValue tree = treeOf(value.value);
            const auto* const fields = std::get_if<JsonObject>(&tree.data);
            return fields != nullptr &&
                   std::ranges::any_of(*fields, [&](const JsonMember& field) { return covers(field.key, pointer); });
        });
    });
}

Result<SweepPart> sweepPartFrom(std::string_view text)
{
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::optional<std::size_t> k = numberFrom<std::size_t>(text.substr(0, slash));
    const std::optional<std::size_t> n = numberFrom<std::size_t>(text.substr(std::min(slash + 1, text.size())));
    if (!k || !n || *k < 1 || *k > *n) {
        return Error{"", "got \"" + std::string(text) + "\", expected k/n with k from 1 to n, such as 2/8"};
    }
    return SweepPart{*k, *n};
}

Result<std::size_t> memberFrom(std::string_view text, const std::vector<SweepMember>& members)
{
    if (const auto named = std::ranges::find(members, text, &SweepMember::label); named != members.end()) {
        return static_cast<std::size_t>(named - members.begin());
    }
    const auto isNumber = [](const SweepMember& member) { return numberFrom<std::size_t>(member.label).has_value(); };
    const bool numbered = text.starts_with('#');
    const std::optional<std::size_t> number = numberFrom<std::size_t>(numbered ? text.substr(1) : text);
    const bool isPlace = number && (numbered || std::ranges::none_of(members, isNumber));
    if (isPlace && *number >= 1 && *number <= members.size()) {
        return *number - 1;
    }
    return Error{"", "the sweep has no member \"" + std::string(text) + "\"; expected a label such as \"" +
                         members.front().label + "\", or #1 to #" + std::to_string(members.size()) +
                         meantHint(text, members | std::views::transform(&SweepMember::label))};
}

int settingTurn(std::string_view field)
{
    const bool whole = field == kTopology || field == kSchedule;
    const bool below = field.starts_with(kTopology) || field.starts_with(kSchedule);
    return whole ? 2 : below ? 3 : covers(kLoops, field) ? 1 : 0;
}

Result<Topology> topologyFrom(std::string_view text, const Network& network)
{
    const std::vector<TopologyPreset> presets = topologyChoices(network);
    if (const auto preset = std::ranges::find(presets, text, &TopologyPreset::name); preset != presets.end()) {
        if (!preset->schedule.empty()) {
            return Error{kTopology, "\"" + preset->name +
                                        "\" is a schedule beside the plain wiring; expected a wiring alone, and " +
                                        kSchedule + " set to \"" + preset->schedule + "\""};
        }
        return Topology{preset->name, preset->wiring};
    }
    const auto none = std::ranges::find(presets, kShortcutsPreset, &TopologyPreset::name);
    Topology topology{none->name, none->wiring};
    auto& mix = std::get<DepthMix>(topology.wiring);
    Result<std::vector<Shortcut>> shortcuts = shortcutsFrom(text, network.stack(), mix);
    if (!shortcuts) {
        return Error{kTopology, shortcuts.error().message + ", or a preset's name" + presetHint(text, presets)};
    }
    mix.sources = ExplicitSources{*std::move(shortcuts)};
    return topology;
}

Result<Project> withField(const Project& project, const std::string& pointer, const FieldValue& value,
                          std::vector<LayerGroup>* groups)
{
    if (const ViewedField field = viewedField(project, pointer); field.tower > 0) {
        const Result<Project> changed = withField(viewOf(project, field.tower), field.pointer, value);
        return changed ? Result<Project>(viewOf(*changed, field.tower)) : changed.error();
    }
    JsonValue fresh = treeOf(value);
    if (const auto* text = std::get_if<std::string>(&fresh.data); text != nullptr && pointer == kTopology) {
        const std::vector<TopologyPreset> presets = topologyChoices(project.network);
        const auto preset = std::ranges::find(presets, *text, &TopologyPreset::name);
        if (preset != presets.end()) {
            return wiredAs(project, *preset);
        }
        Topology topology = RESIDUA_TRY(topologyFrom(*text, project.network));
        // The blocks get the ports that it feeds. If one cannot have them, validation reports the reason.
        if (Result<Project> wired = rewired(project, topology)) {
            return wired;
        }
        Project changed = project;
        changed.stack().topology = std::move(topology);
        return changed;
    }
    if (const auto* text = std::get_if<std::string>(&fresh.data); text != nullptr && pointer == kSchedule) {
        StageSchedule schedule = RESIDUA_TRY(scheduleFrom(*text, project.network.depth(), project.training.steps));
        Project changed = project;
        changed.stack().schedule = std::move(schedule);
        return changed;
    }
    if (const auto* number = std::get_if<std::int64_t>(&fresh.data); number != nullptr && pointer == kAllSeeds) {
        Project changed = project;
        changed.seeds.init = changed.seeds.order = changed.seeds.stages = *number;
        return changed;
    }
    if (pointer == kRank) {
        fresh = rankFrom(std::move(fresh));
    }
    if (const auto* name = std::get_if<std::string>(&fresh.data)) {
        if (auto changed = withAlternative(project, pointer, *name)) {
            return *std::move(changed);
        }
    }
    if (const auto* fields = std::get_if<JsonObject>(&fresh.data); fields != nullptr && pointer == kSeveralFields) {
        const auto all = mapped(*fields, [](const JsonMember& field) {
            return FieldToSet{field.key, FieldValue{lineOf(field.value)}, ""};
        });
        return withFields(project, all, groups);
    }
    if (!pointer.starts_with('/') || pointer.size() < 2) {
        return Error{pointer, "is no field; expected a JSON pointer such as /training/learning_rate/peak" +
                                  pointerHint(project, pointer)};
    }
    JsonValue tree = treeOf(project);
    RESIDUA_TRY(setValueAt(tree, pointer, std::move(fresh)));
    Project read = RESIDUA_TRY(projectFromTree(std::move(tree)));
    return withWhatFollows(std::move(read), project, pointer, groups);
}

std::optional<FieldValue> fieldAt(const Project& project, std::string_view pointer)
{
    if (!pointer.starts_with('/')) { // the pointer is empty: the whole document
        return std::nullopt;
    }
    const ViewedField field = viewedField(project, pointer);
    const Project view = viewOf(project, field.tower);
    JsonValue tree = treeOf(view);
    if (const Result<JsonValue*> held = valueAt(tree, field.pointer)) {
        return FieldValue{lineOf(**held)};
    }
    const std::optional<FieldEntry> entry = findField(view, field.pointer); // files leave out some defaults
    const auto edit = entry ? fieldEdit(view, entry->pointer, entry->value) : Result<Edit>(Error{});
    const auto* const set = edit ? std::get_if<SetField>(&*edit) : nullptr;
    return set != nullptr ? std::optional(set->value) : std::nullopt;
}

Result<std::vector<SweepMember>> expand(const Project& project, const Sweep& sweep)
{
    RESIDUA_TRY(checkAxes(sweep));
    std::size_t count = 1;
    for (const SweepAxis& axis : sweep.axes) {
        count *= axis.values.size();
    }
    Project bare = project;
    bare.sweeps.clear();
    RESIDUA_TRY(checkSize(bare, sweep, count));
    std::vector<SweepMember> members(count);
    std::set<std::string> labels;
    for (std::size_t i = 0; i < count; ++i) {
        SweepMember& member = members[i];
        const std::vector<const SweepValue*> values = valuesAt(sweep, i);
        member.membership = {project.name, sweep.name, {}};
        for (std::size_t axis = 0; axis < values.size(); ++axis) {
            member.values.push_back(labelOf(*values[axis]));
            member.membership.point.push_back(
                {sweep.axes[axis].field, labelOf(sweep.axes[axis]), member.values.back()});
        }
        member.label = member.membership.label();
        if (!labels.insert(member.label).second) {
            return Error{"sweep " + sweep.name,
                         "two members are called \"" + member.label + "\"; expected labels that tell the values apart"};
        }
        Result<Project> made = withFields(bare, fieldsOf(sweep, values), nullptr);
        member.project = made ? *std::move(made) : bare;
        if (!made) {
            member.error = made.error();
        } else {
            member.project.name = nameOf(member.membership);
            assess(member, sweep);
        }
    }
    return members;
}

double trainingFlops(const Project& project, const Cost& perUnit)
{
    const TrainingPlan& plan = project.training;
    return perUnit.trainFlops * static_cast<double>(plan.steps) * static_cast<double>(plan.accumulate) *
           unitsPerBatch(project.data, plan);
}

} // namespace residua::projects
