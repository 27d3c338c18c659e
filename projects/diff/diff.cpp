// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/diff/diff.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/diff/diff_walk.h"
#include "projects/model/topology.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/schema/fields.h"

#include <algorithm>

namespace residua::projects {

namespace {

/// Formats a sweep as "tau 0.1 0.01 × init 1 2".
std::string sweepText(const Sweep& sweep)
{
    std::string text;
    for (const SweepAxis& axis : sweep.axes) {
        text += (text.empty() ? "" : " × ") + labelOf(axis);
        for (const SweepValue& value : axis.values) {
            text += " " + labelOf(value);
        }
    }
    return text.empty() ? "nothing" : text;
}

} // namespace

std::string Change::placeText() const
{
    return joinedText(place, " · ");
}

std::string Change::text() const
{
    switch (kind) {
    case ChangeKind::Added:
        return "+ " + placeText() + (after.empty() ? "" : ": " + after);
    case ChangeKind::Removed:
        return "- " + placeText() + (before.empty() ? "" : ": " + before);
    case ChangeKind::Changed:
        break;
    }
    return "~ " + placeText() + ": " + before + " → " + after;
}

void Differ::changed(const Words& place, std::string before, std::string after)
{
    m_changes.push_back({ChangeKind::Changed, place, std::move(before), std::move(after), m_part});
}

void Differ::added(const Words& place, std::string what)
{
    m_changes.push_back({ChangeKind::Added, place, {}, std::move(what), m_part});
}

void Differ::removed(const Words& place, std::string what)
{
    m_changes.push_back({ChangeKind::Removed, place, std::move(what), {}, m_part});
}

Differ::Words Differ::within(Words place, std::string part)
{
    place.push_back(std::move(part));
    return place;
}

std::string Differ::withUnit(std::string value, std::string_view unit)
{
    return unit.empty() ? value : value + " " + std::string(unit);
}

/// Returns the first line of the value, because a change is shown on one line.
std::string Differ::spokenValue(const std::string& value)
{
    const std::string line = value.substr(0, value.find('\n'));
    return line.empty() ? "none" : line.size() < value.size() ? line + " …" : line;
}

std::string Differ::spokenValue(const ParamValue& value)
{
    return std::visit([](const auto& v) { return spokenValue(v); }, value);
}

std::string Differ::spokenValue(const std::vector<std::int64_t>& values)
{
    return values.empty() ? "none" : joinedText(values, " ", [](std::int64_t value) { return std::to_string(value); });
}

std::string Differ::spokenValue(const std::vector<std::string>& values)
{
    return values.empty() ? "none" : joinedText(values, " ");
}

std::string Differ::spokenValue(const std::vector<Shortcut>& values)
{
    constexpr std::size_t kListed = 8;
    if (values.size() > kListed) {
        return std::to_string(values.size());
    }
    return values.empty() ? "none" : joinedText(values, " ", [](const Shortcut& value) { return textOf(value); });
}

/// Formats parts as "arxiv 9, c4 57".
std::string Differ::spokenValue(const std::vector<MixturePart>& parts)
{
    constexpr std::size_t kListed = 8;
    if (parts.size() > kListed) {
        return std::to_string(parts.size());
    }
    const auto textOf = [](const MixturePart& part) { return spokenValue(part.path) + " " + numberText(part.weight); };
    return parts.empty() ? "none" : joinedText(parts, ", ", textOf);
}

std::string Differ::spokenValue(const ShortcutState& state)
{
    return spoken(state);
}

void Differ::compare(const std::vector<Shortcut>& a, const std::vector<Shortcut>& b, const Words&, std::string_view)
{
    std::vector<Shortcut> gone;
    std::vector<Shortcut> fresh;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(gone));
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(fresh));
    for (const Shortcut& shortcut : gone) {
        removed({"topology", "shortcut " + textOf(shortcut)});
    }
    for (const Shortcut& shortcut : fresh) {
        added({"topology", "shortcut " + textOf(shortcut)});
    }
}

void Differ::compare(const std::map<Shortcut, ShortcutState>& a, const std::map<Shortcut, ShortcutState>& b,
                     const Words&, std::string_view)
{
    const auto place = [](const Shortcut& shortcut) {
        return Words{"topology", "state of shortcut " + textOf(shortcut)};
    };
    for (const auto& [shortcut, state] : a) {
        if (const auto other = b.find(shortcut); other == b.end()) {
            removed(place(shortcut), spokenValue(state));
        } else if (other->second != state) {
            changed(place(shortcut), spokenValue(state), spokenValue(other->second));
        }
    }
    for (const auto& [shortcut, state] : b) {
        if (!a.contains(shortcut)) {
            added(place(shortcut), spokenValue(state));
        }
    }
}

void Differ::compare(const std::vector<Stage>& a, const std::vector<Stage>& b, const Words& place, std::string_view)
{
    // Stages are matched by their first step. Stages with the same step, which are invalid, are matched by order.
    const auto byStart = [](const std::vector<Stage>& stages) {
        std::map<std::pair<std::int64_t, int>, const Stage*> map;
        for (const Stage& stage : stages) {
            int twin = 0;
            while (!map.emplace(std::pair(stage.start, twin), &stage).second) {
                ++twin;
            }
        }
        return map;
    };
    const auto before = byStart(a);
    const auto after = byStart(b);
    const auto at = [&](const auto& key) { return within(place, "from step " + std::to_string(key.first)); };
    for (const auto& [key, stage] : before) {
        if (const auto other = after.find(key); other == after.end()) {
            removed(at(key), summary(*stage));
        } else {
            compareFields(*stage, *other->second, at(key));
        }
    }
    for (const auto& [key, stage] : after) {
        if (!before.contains(key)) {
            added(at(key), summary(*stage));
        }
    }
}

void Differ::compare(const std::vector<Sweep>& a, const std::vector<Sweep>& b, const Words&, std::string_view)
{
    const auto place = [](const Sweep& sweep) { return Words{"sweep " + spokenValue(sweep.name)}; };
    // Names need not be unique: the n-th sweep with a name is compared with the n-th of the same name.
    auto unmatched = mapped(b, [](const Sweep& sweep) { return &sweep; });
    for (const Sweep& sweep : a) {
        const auto partner = std::ranges::find(unmatched, sweep.name, &Sweep::name);
        if (partner == unmatched.end()) {
            removed(place(sweep), sweepText(sweep));
            continue;
        }
        if (!(**partner == sweep)) {
            changed(place(sweep), sweepText(sweep), sweepText(**partner));
        }
        unmatched.erase(partner);
    }
    for (const Sweep* sweep : unmatched) {
        added(place(*sweep), sweepText(*sweep));
    }
}

void Differ::compare(const std::vector<MixturePart>& a, const std::vector<MixturePart>& b, const Words&,
                     std::string_view)
{
    const auto placeOf = [](std::size_t index) { return Words{"data", "part " + std::to_string(index + 1)}; };
    if (a.size() == b.size()) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            compareFields(a[i], b[i], placeOf(i));
        }
        return;
    }
    // If the numbers of parts differ, parts are matched by their text, and the n-th of a text with the n-th of the same
    // text.
    std::vector<bool> met(b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t j = 0;
        while (j < b.size() && (met[j] || b[j].path != a[i].path || b[j].field != a[i].field)) {
            ++j;
        }
        if (j == b.size()) {
            removed(placeOf(i), spokenValue(std::vector{a[i]}));
            continue;
        }
        met[j] = true;
        compareFields(a[i], b[j], placeOf(j));
    }
    for (std::size_t j = 0; j < b.size(); ++j) {
        if (!met[j]) {
            added(placeOf(j), spokenValue(std::vector{b[j]}));
        }
    }
}

/// Groups are known by their order, because the first one that has a parameter counts.
void Differ::compare(const std::vector<ParameterGroup>& a, const std::vector<ParameterGroup>& b, const Words& place,
                     std::string_view)
{
    const auto text = [](const ParameterGroup& group) {
        const std::string rest = details(group, Listed::NotDefault);
        return summary(group.optimiser) + (rest.empty() ? "" : ", " + rest);
    };
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        const Words own = within(place, std::to_string(i + 1));
        if (i >= b.size()) {
            removed(own, text(a[i]));
        } else if (i >= a.size()) {
            added(own, text(b[i]));
        } else {
            compareFields(a[i], b[i], own);
        }
    }
}

namespace {

/// Pairs the entries of two lists by their names, which need not be unique: the n-th with a name in `a` with the n-th
/// of that name in `b`. An entry without partner is paired with null.
template <class T>
std::vector<std::pair<const T*, const T*>> pairedByName(const std::vector<T>& a, const std::vector<T>& b,
                                                        const std::string& (*nameOf)(const T&))
{
    std::vector<std::pair<const T*, const T*>> pairs;
    auto unmatched = mapped(b, [](const T& entry) { return &entry; });
    for (const T& entry : a) {
        const auto partner =
            std::ranges::find_if(unmatched, [&](const T* other) { return nameOf(*other) == nameOf(entry); });
        pairs.emplace_back(&entry, partner == unmatched.end() ? nullptr : *partner);
        if (partner != unmatched.end()) {
            unmatched.erase(partner);
        }
    }
    for (const T* const entry : unmatched) {
        pairs.emplace_back(nullptr, entry);
    }
    return pairs;
}

const std::string& nameOfTower(const Tower& tower)
{
    return tower.network.name;
}
const std::string& nameOfLoss(const Loss& loss)
{
    return loss.name;
}

} // namespace

void Differ::compare(const std::vector<Tower>& a, const std::vector<Tower>& b, const Words&, std::string_view)
{
    for (const auto& [before, after] : pairedByName(a, b, &nameOfTower)) {
        const std::string place = "tower " + spokenValue(nameOfTower(before != nullptr ? *before : *after));
        if (after == nullptr) {
            removed({place});
        } else if (before == nullptr) {
            added({place});
        } else {
            Differ inside;
            inside.compareFields(*before, *after, {});
            for (Change& change : inside.m_changes) {
                change.place.insert(change.place.begin(), place);
                m_changes.push_back(std::move(change));
            }
        }
    }
}

void Differ::compare(const std::vector<Loss>& a, const std::vector<Loss>& b, const Words&, std::string_view)
{
    for (const auto& [before, after] : pairedByName(a, b, &nameOfLoss)) {
        const Words place{"loss " + spokenValue(nameOfLoss(before != nullptr ? *before : *after))};
        if (after == nullptr) {
            removed(place, details(*before, Listed::NotDefault));
        } else if (before == nullptr) {
            added(place, details(*after, Listed::NotDefault));
        } else {
            compareFields(*before, *after, place);
        }
    }
}

std::vector<Change> diff(const Project& a, const Project& b)
{
    Differ differ;
    differ.compareFields(a, b, {});
    return std::move(differ).take();
}

std::vector<Change> diff(const Topology& a, const Topology& b)
{
    Differ differ;
    differ.compareFields(a, b, {"topology"});
    return std::move(differ).take();
}

/// Omits a unit that equals the field's name.
std::string briefText(const Change& change)
{
    const std::string& field = change.place.back();
    if (change.kind == ChangeKind::Removed) {
        return "no " + field;
    }
    return change.after.ends_with(" " + field) ? change.after
           : change.after.empty()              ? field
                                               : field + " " + change.after;
}

namespace {

/// Returns the stages in which two documents differ: "stages 3-4-5-6" or "no stages". Empty if they agree.
std::string stagesWord(const Project& a, const Project& b)
{
    const std::string after = stageLengthsText(b.stack().schedule);
    return stageLengthsText(a.stack().schedule) == after ? "" : after.empty() ? "no stages" : "stages " + after;
}

} // namespace

std::vector<std::string> differingWords(const Project& a, const Project& b)
{
    std::vector<std::string> words;
    std::vector<std::string> fields;
    const auto addOnce = [&words](std::string word) {
        if (std::ranges::find(words, word) == words.end()) {
            words.push_back(std::move(word));
        }
    };
    const std::vector<Change> changes = diff(a, b);
    const auto isOfWiring = [](const Change& change) {
        return change.part == ChangedPart::Preset || change.part == ChangedPart::Topology;
    };
    if (std::ranges::any_of(changes, isOfWiring)) {
        addOnce(wiringName(b.stack().topology, b.network));
    }
    const std::string stages = stagesWord(a, b);
    if (!stages.empty()) {
        addOnce(stages);
    }
    for (const Change& change : changes) {
        const bool isTold = !stages.empty() && change.place.front() == "schedule";
        if (isOfWiring(change) || change.part == ChangedPart::Remark || isTold) {
            continue;
        }
        if (change.part == ChangedPart::Block || change.kind != ChangeKind::Changed) {
            addOnce(change.place.front());
        } else {
            fields.push_back(briefText(change));
        }
    }
    words.insert(words.end(), fields.begin(), fields.end());
    return words;
}

} // namespace residua::projects
