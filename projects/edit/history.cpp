// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/history.h"

#include <algorithm>
#include <utility>

namespace residua::projects {

namespace {

bool sameTarget(const SetParam& a, const SetParam& b)
{
    return a.graph == b.graph && a.node == b.node && a.param == b.param;
}
bool sameTarget(const MoveNode& a, const MoveNode& b)
{
    return a.graph == b.graph && a.node == b.node;
}
bool sameTarget(const RenameNode& a, const RenameNode& b)
{
    return a.graph == b.graph && a.node == b.node;
}
bool sameTarget(const SetShortcutState& a, const SetShortcutState& b)
{
    return a.shortcut == b.shortcut;
}
/// Edits that set one whole thing of the document.
template <class E>
requires(std::is_same_v<E, SetName> || std::is_same_v<E, SetDescription> || std::is_same_v<E, SetData> ||
         std::is_same_v<E, SetInitialisation> || std::is_same_v<E, SetTraining> || std::is_same_v<E, SetStages> ||
         std::is_same_v<E, SetSeeds> || std::is_same_v<E, SetTopology> || std::is_same_v<E, SetWidth> ||
         std::is_same_v<E, SetObjective> || std::is_same_v<E, SetTieHead> ||
         std::is_same_v<E, SetStack>) bool sameTarget(const E&, const E&)
{
    return true;
}
bool setsTheSame(const Edit& a, const Edit& b);
bool sameTarget(const EditGroup& a, const EditGroup& b)
{
    return std::equal(a.edits.begin(), a.edits.end(), b.edits.begin(), b.edits.end(), setsTheSame);
}

/// Whether both set the same thing, so that applying the one alone has the effect of the other and then it.
bool setsTheSame(const Edit& a, const Edit& b)
{
    return std::visit(
        []<class A, class B>(const A& first, const B& second) {
            if constexpr (requires { sameTarget(first, second); }) {
                return sameTarget(first, second);
            } else {
                return false;
            }
        },
        a, b);
}

} // namespace

History::History(Document document) : m_document(std::move(document)) {}

Status History::perform(const Edit& edit)
{
    return record(edit, {});
}

Status History::performMerging(const Edit& edit, const std::string& mergeKey)
{
    return record(edit, mergeKey);
}

Status History::record(const Edit& edit, const std::string& mergeKey)
{
    const Document before = m_document;
    auto inverse = applyEdit(m_document, edit);
    if (!inverse) {
        return inverse.error();
    }
    if (m_document == before) {
        return Done{}; // nothing to undo
    }
    // A saved state stays reachable: the step that led to it is closed.
    const bool merges = !mergeKey.empty() && m_redo.empty() && !m_undo.empty() && m_undo.back().mergeKey == mergeKey &&
                        m_revision != m_savedAt;
    if (!merges) {
        m_undo.push_back({titleOf(edit), mergeKey, *std::move(inverse), m_revision});
    } else if (Edit& first = std::get<Edit>(m_undo.back().back); !setsTheSame(*inverse, first)) {
        first = EditGroup{{}, {*std::move(inverse), std::move(first)}};
    }
    recorded();
    return Done{};
}

void History::replace(Document document, const std::string& title)
{
    if (document == m_document) {
        return; // nothing to undo
    }
    m_undo.push_back({title, {}, std::exchange(m_document, std::move(document)), m_revision});
    recorded();
}

void History::recorded()
{
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
    step(m_undo, m_redo);
}

void History::redo()
{
    step(m_redo, m_undo);
}

void History::step(std::vector<Step>& from, std::vector<Step>& to)
{
    if (from.empty()) {
        return;
    }
    Step taken = std::move(from.back());
    from.pop_back();
    if (auto* edit = std::get_if<Edit>(&taken.back)) {
        taken.back = applyEdit(m_document, *edit).value(); // fits the state it was made in
    } else {
        std::swap(m_document, std::get<Document>(taken.back));
    }
    std::swap(taken.revisionBefore, m_revision);
    taken.mergeKey.clear(); // what comes after an undo is a step of its own
    to.push_back(std::move(taken));
    announce();
}

void History::reset(Document document)
{
    m_document = std::move(document);
    m_undo.clear();
    m_redo.clear();
    m_revision = ++m_lastRevision;
    m_savedAt = m_revision;
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
