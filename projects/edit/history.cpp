// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/history.h"

#include <utility>

namespace residua::projects {

History::History(Document document) : m_now{std::make_shared<const Document>(std::move(document)), 0} {}

Status History::perform(const Edit& edit)
{
    Document changed = document();
    if (const auto inverse = applyEdit(changed, edit); !inverse) {
        return inverse.error();
    }
    replace(std::move(changed), titleOf(edit));
    return Done{};
}

void History::replace(Document changed, const std::string& title)
{
    if (changed == document()) {
        return; // nothing to undo
    }
    m_undo.push_back(
        {title, std::exchange(m_now, {std::make_shared<const Document>(std::move(changed)), m_lastRevision + 1})});
    ++m_lastRevision;
    if (m_undo.size() > kMostSteps) {
        m_undo.pop_front();
    }
    m_redo.clear();
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
    std::swap(step.other, m_now);
    to.push_back(std::move(step));
    announce();
}

void History::reset(Document document)
{
    m_now = {std::make_shared<const Document>(std::move(document)), ++m_lastRevision};
    m_undo.clear();
    m_redo.clear();
    m_savedAt = m_now.revision;
    announce();
}

void History::announce() const
{
    const auto observers = m_observers; // one of them may add another
    for (const auto& observer : observers) {
        observer();
    }
}

} // namespace residua::projects
