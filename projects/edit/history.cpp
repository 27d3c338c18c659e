// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/history.h"

#include <utility>

namespace residua::projects {

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
    if (Status applied = applyEdit(m_document, edit); !applied) {
        return applied;
    }
    record(titleOf(edit), std::move(before));
    return Done{};
}

void History::replace(Document document, const std::string& title)
{
    DocumentSnapshot before = snapshot();
    m_document = std::move(document);
    record(title, std::move(before));
}

void History::record(const std::string& title, DocumentSnapshot before)
{
    if (m_document == *before) {
        return; // nothing to undo
    }
    m_snapshot.reset();
    m_undo.push_back({title, std::move(before), m_revision});
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
