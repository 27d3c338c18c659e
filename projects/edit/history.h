// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace residua::projects {

/// A state of a document, or the project of one: shared by all that show it, changed by none.
using DocumentSnapshot = std::shared_ptr<const Document>;
using ProjectSnapshot = std::shared_ptr<const Project>;

/// A document with its undo history: a shared snapshot of each earlier and later state. One thread; observers are told
/// after every change.
class History {
public:
    static constexpr std::size_t kMostSteps = 500; ///< that can be undone; older ones are forgotten

    explicit History(Document document = {});

    /// The document as it is, one object for the life of the history.
    [[nodiscard]] const Document& document() const { return m_document; }
    [[nodiscard]] const Project& project() const { return m_document.project; }
    /// The document as it is now, for who reads it later or on another thread; one copy for all who ask.
    [[nodiscard]] DocumentSnapshot snapshot() const;
    /// The project of snapshot(), not a copy of it.
    [[nodiscard]] ProjectSnapshot projectSnapshot() const;

    /// Applies, records and announces. On error nothing changes.
    Status perform(const Edit& edit);

    [[nodiscard]] bool canUndo() const { return !m_undo.empty(); }
    [[nodiscard]] bool canRedo() const { return !m_redo.empty(); }
    [[nodiscard]] std::string undoTitle() const;
    [[nodiscard]] std::string redoTitle() const;
    void undo();
    void redo();
    /// Replaces everything in one step that can be undone.
    void replace(Document document, const std::string& title);

    /// Replaces everything and forgets the history.
    void reset(Document document);

    void markSaved() { m_savedAt = m_revision; }
    [[nodiscard]] bool modified() const { return m_savedAt != m_revision; }
    /// Identifies the state; undo goes back to the earlier number.
    [[nodiscard]] std::uint64_t revision() const { return m_revision; }

    void onChanged(std::function<void()> observer) { m_observers.push_back(std::move(observer)); }

private:
    struct Step {
        std::string title;
        DocumentSnapshot document;  ///< where the step leads from here: back in m_undo, forward in m_redo
        std::uint64_t revision = 0; ///< of that state
    };

    /// After m_document has changed.
    void record(const std::string& title, DocumentSnapshot before);
    /// Moves one step from the end of `from` to that of `to`.
    void move(std::deque<Step>& from, std::deque<Step>& to);
    void announce() const;

    Document m_document;
    mutable DocumentSnapshot m_snapshot; ///< of m_document; null until somebody asks
    std::deque<Step> m_undo;
    std::deque<Step> m_redo;
    std::vector<std::function<void()>> m_observers;
    std::uint64_t m_revision = 0;
    std::uint64_t m_lastRevision = 0;
    std::uint64_t m_savedAt = 0;
};

} // namespace residua::projects
