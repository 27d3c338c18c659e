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

/// A document with its undo history: shared snapshots, one for each state. One thread; observers are told after every
/// change.
class History {
public:
    static constexpr std::size_t kMostSteps = 500; ///< that can be undone; older ones are forgotten

    explicit History(Document document = {});

    [[nodiscard]] const Document& document() const { return *m_now.document; }
    [[nodiscard]] const Project& project() const { return m_now.document->project; }
    /// The document as it is now, for who reads it later or on another thread.
    [[nodiscard]] std::shared_ptr<const Document> snapshot() const { return m_now.document; }

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

    void markSaved() { m_savedAt = m_now.revision; }
    [[nodiscard]] bool modified() const { return m_savedAt != m_now.revision; }
    /// Identifies the state; undo goes back to the earlier number.
    [[nodiscard]] std::uint64_t revision() const { return m_now.revision; }

    void onChanged(std::function<void()> observer) { m_observers.push_back(std::move(observer)); }

private:
    struct State {
        std::shared_ptr<const Document> document;
        std::uint64_t revision = 0;
    };
    struct Step {
        std::string title;
        State other; ///< where the step leads from here: back in m_undo, forward in m_redo
    };

    /// Moves one step from the end of `from` to that of `to`.
    void move(std::deque<Step>& from, std::deque<Step>& to);
    void announce() const;

    State m_now;
    std::deque<Step> m_undo;
    std::deque<Step> m_redo;
    std::vector<std::function<void()>> m_observers;
    std::uint64_t m_lastRevision = 0;
    std::uint64_t m_savedAt = 0;
};

} // namespace residua::projects
