// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/history.h"

#include <numeric>
#include <utility>

namespace residua::projects {
namespace {

/// Returns the layers that the edit removes, if it says so.
std::vector<std::int64_t> removedLayers(const Edit& edit)
{
    if (const auto* const stack = std::get_if<SetStack>(&edit)) {
        return stack->removed;
    }
    const auto* const group = std::get_if<EditGroup>(&edit);
    if (group != nullptr && group->tower == 0) { // layers of other towers are not counted
        for (const Edit& each : group->edits) {
            if (auto removed = removedLayers(each); !removed.empty()) {
                return removed;
            }
        }
    }
    return {};
}

} // namespace

History::History(Document document) : m_document(std::move(document)) {}

DocumentSnapshot History::snapshot() const
{
    if (!m_snapshot) {
        m_snapshot = std::make_shared<const Document>(m_document);
    }
    return m_snapshot;
}

ProjectSnapshot History::projectSnapshot() const
{
    const DocumentSnapshot document = snapshot();
    return {document, &document->project};
}

Status History::perform(const Edit& edit)
{
    DocumentSnapshot before = snapshot();
    RESIDUA_TRY(applyEdit(m_document, edit));
    record(titleOf(edit), std::move(before), removedLayers(edit));
    return Done{};
}

void History::replace(Document document, const std::string& title)
{
    DocumentSnapshot before = snapshot();
    m_document = std::move(document);
    record(title, std::move(before));
}

std::optional<std::vector<std::int64_t>> History::layersSince(const std::function<bool(const Project&)>& is) const
{
    const Stack* stack = &project().stack();
    std::vector<std::int64_t> layers(static_cast<std::size_t>(stack->depth()));
    std::iota(layers.begin(), layers.end(), 1);
    if (is(project())) {
        return layers;
    }
    for (auto step = m_undo.rbegin(); step != m_undo.rend(); ++step) {
        const Project& before = step->document->project;
        const bool sameLoops = !step->removed.empty() || before.stack().loops == stack->loops;
        if (!sameLoops || before.network.depth() != stack->depth() + std::ssize(step->removed)) {
            return std::nullopt;
        }
        for (std::int64_t& layer : layers) {
            for (const std::int64_t removed : step->removed) { // ascending
                layer += removed <= layer ? 1 : 0;
            }
        }
        if (is(before)) {
            return layers;
        }
        stack = &before.stack();
    }
    return std::nullopt;
}

void History::record(const std::string& title, DocumentSnapshot before, std::vector<std::int64_t> removed)
{
    if (m_document == *before) {
        return; // nothing to undo
    }
    m_snapshot.reset();
    m_undo.push_back({title, std::move(before), m_revision, std::move(removed)});
    if (m_undo.size() > kMostSteps) {
        m_undo.pop_front();
    }
    m_redo.clear();
    m_revision = ++m_lastRevision;
    announce();
}

std::string History::undoTitle() const
{
    return canUndo() ? m_undo.back().title : std::string{};
}

std::string History::redoTitle() const
{
    return canRedo() ? m_redo.back().title : std::string{};
}

void History::undo()
{
    move(m_undo, m_redo);
}

void History::redo()
{
    move(m_redo, m_undo);
}

void History::move(std::deque<Step>& from, std::deque<Step>& to)
{
    if (from.empty()) {
        return;
    }
    Step step = std::move(from.back());
    from.pop_back();
    DocumentSnapshot now = snapshot();
    m_document = *step.document;
    m_snapshot = std::exchange(step.document, std::move(now));
    std::swap(step.revision, m_revision);
    to.push_back(std::move(step));
    announce();
}

void History::reset(Document document)
{
    m_document = std::move(document);
    m_snapshot.reset();
    m_undo.clear();
    m_redo.clear();
    m_revision = ++m_lastRevision;
    m_savedAt = m_revision;
    announce();
}

void History::announce() const
{
    const auto observers = m_observers; // a copy, because an observer may add another
    for (const auto& observer : observers) {
        observer();
    }
}

} // namespace residua::projects
