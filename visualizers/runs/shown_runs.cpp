// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/shown_runs.h"

#include <algorithm>
#include <utility>

namespace residua::visualizers {

const ShownRuns::Run* ShownRuns::find(const std::string& key) const
{
    const auto found = std::ranges::find(m_runs, key, &Run::key);
    return found == m_runs.end() ? nullptr : &*found;
}

ShownRuns::Run* ShownRuns::known(const std::string& key)
{
    return const_cast<Run*>(std::as_const(*this).find(key)); // this object owns the runs
}

ShownRuns::Run& ShownRuns::make(const std::string& key)
{
    Run* run = known(key);
    return run ? *run : m_runs.emplace_back(Run{.key = key, .facts = {}, .stages = {}});
}

/// A run that is neither overlaid nor in front is not shown.
void ShownRuns::forget(const std::string& key)
{
    std::erase_if(m_runs, [&](const Run& run) { return run.key == key && !run.overlaid && key != m_front; });
}

std::size_t ShownRuns::freeColour() const
{
    std::size_t colour = 0;
    while (std::ranges::any_of(m_runs, [&](const Run& run) { return run.overlaid && run.colour == colour; })) {
        ++colour;
    }
    return colour;
}

bool ShownRuns::isOverlaid(const std::string& key) const
{
    const Run* run = find(key);
    return run && run->overlaid;
}

void ShownRuns::overlay(const std::string& key)
{
    if (isOverlaid(key)) {
        return;
    }
    const std::size_t colour = freeColour();
    Run& run = make(key);
    run.colour = colour;
    recolour(run);
    run.overlaid = true;
    emit overlaid(key);
}

void ShownRuns::removeOverlay(const std::string& key)
{
    if (!isOverlaid(key)) {
        return;
    }
    known(key)->overlaid = false;
    forget(key);
    emit overlayRemoved(key);
    if (m_compared == key) {
        compare({});
    }
}

void ShownRuns::bringToFront(const std::string& key)
{
    if (key == m_front) {
        return;
    }
    const std::string before = std::exchange(m_front, key);
    forget(before);
    if (!key.empty()) {
        make(key);
    }
    if (m_compared == key) {
        compare({}); // not with itself
    }
    emit frontChanged();
}

void ShownRuns::clear()
{
    for (const Run& run : std::vector(m_runs)) {
        removeOverlay(run.key);
    }
    bringToFront({});
    choose({});
    leaveOut({});
    setBaseline({});
}

void ShownRuns::recolour(Run& run) const
{
    if (const Look* look = lookOf(run.key)) {
        run.colour = look->colour;
    }
}

void ShownRuns::setLooks(std::map<std::string, Look> looks)
{
    if (looks == m_looks) {
        return;
    }
    m_looks = std::move(looks);
    for (Run& run : m_runs) {
        recolour(run);
    }
    emit looksChanged();
}

const ShownRuns::Look* ShownRuns::lookOf(const std::string& key) const
{
    const auto found = m_looks.find(key);
    return found == m_looks.end() ? nullptr : &found->second;
}

std::string ShownRuns::groupOf(const std::string& key) const
{
    const Look* look = lookOf(key);
    return look ? look->group : std::string();
}

void ShownRuns::setBaseline(const std::string& key)
{
    if (m_baseline != key) {
        m_baseline = key;
        emit baselineChanged();
    }
}

bool ShownRuns::isOfBaseline(const std::string& key) const
{
    return !m_baseline.empty() && (key == m_baseline || groupOf(key) == m_baseline);
}

QString ShownRuns::baselineLabel() const
{
    for (const auto& [key, look] : m_looks) {
        if (key == m_baseline || look.group == m_baseline) {
            return key == m_baseline ? look.label : look.groupLabel;
        }
    }
    return {};
}

void ShownRuns::choose(const std::string& key)
{
    if (m_chosen != key) {
        m_chosen = key;
        emit chosenChanged();
    }
}

void ShownRuns::compare(const std::string& key)
{
    if (m_compared != key) {
        m_compared = key;
        emit comparedChanged();
    }
}

QString ShownRuns::labelOf(const std::string& key) const
{
    const Run* run = find(key);
    if (!run) {
        return {};
    }
    if (const Look* look = lookOf(key)) {
        return look->label;
    }
    const bool shared = std::ranges::any_of(
        m_runs, [&](const Run& other) { return other.key != key && other.facts.name == run->facts.name; });
    return shared && !run->facts.started.isEmpty() ? tr("%1, %2").arg(run->facts.name, run->facts.started)
                                                   : run->facts.name;
}

void ShownRuns::rename(const std::string& key, const QString& name)
{
    if (Run* run = known(key)) {
        run->facts.name = name;
        emit labelsChanged();
    }
}

void ShownRuns::leaveOut(std::set<std::string> keys)
{
    if (keys != m_leftOut) {
        m_leftOut = std::move(keys);
        emit leftOutChanged();
    }
}

void ShownRuns::setGrowing(std::set<std::string> keys)
{
    if (keys != m_growing) {
        m_growing = std::move(keys);
        emit growingChanged();
    }
}

void ShownRuns::paint(const std::string& key, std::size_t colour)
{
    if (Run* run = known(key)) {
        run->colour = colour;
    }
}

void ShownRuns::begin(const std::string& key, const Facts& facts)
{
    Run* run = known(key);
    if (!run) {
        return;
    }
    run->facts = facts;
    run->stages.clear();
    if (run->overlaid && key != m_front) {
        compare(key);
    }
    emit begun(key);
    emit labelsChanged();
}

void ShownRuns::add(const std::string& key, const engine::Progress& numbers)
{
    Run* run = known(key);
    if (!run) {
        return;
    }
    for (const engine::StageRecord& stage : numbers.stages) { // a resumed run begins some stages again
        std::erase_if(run->stages, [&](const engine::StageRecord& known) { return known.step >= stage.step; });
        run->stages.push_back(stage);
    }
    emit added(key, numbers);
    if (!numbers.stages.empty()) {
        emit stagesChanged(key);
    }
}

} // namespace residua::visualizers
