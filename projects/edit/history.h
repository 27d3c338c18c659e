// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::projects {

/// An immutable state of a document, or of its project, that its users share.
using DocumentSnapshot = std::shared_ptr<const Document>;
using ProjectSnapshot = std::shared_ptr<const Project>;

/// A document with its undo history: a shared snapshot of each earlier and later state. One thread. Observers are
/// called after every change.
class History {
public:
    static constexpr std::size_t kMostSteps = 500; ///< number of steps that can be undone; older ones are dropped

    explicit History(Document document = {});

    /// Returns the current document, the same object during the life of the history.
    [[nodiscard]] const Document& document() const { return m_document; }
    [[nodiscard]] const Project& project() const { return m_document.project; }
    /// Returns a snapshot of the document for later use or another thread. Calls without a change between them share
    /// one copy.
    [[nodiscard]] DocumentSnapshot snapshot() const;
    /// Returns the project of snapshot() without a copy.
    [[nodiscard]] ProjectSnapshot projectSnapshot() const;

    /// Applies and records the edit and calls the observers. On an error nothing changes.
    Status perform(const Edit& edit);

    [[nodiscard]] bool canUndo() const { return !m_undo.empty(); }
    [[nodiscard]] bool canRedo() const { return !m_redo.empty(); }
    [[nodiscard]] std::string undoTitle() const;
    [[nodiscard]] std::string redoTitle() const;
    void undo();
    void redo();
    /// Replaces the document in one step that can be undone.
    void replace(Document document, const std::string& title);

    /// Replaces the document and clears the history.
    void reset(Document document);

    void markSaved() { m_savedAt = m_revision; }
    [[nodiscard]] bool modified() const { return m_savedAt != m_revision; }
    /// Identifies the state. Undo restores the earlier number.
    [[nodiscard]] std::uint64_t revision() const { return m_revision; }

    /// Returns the number, from 1, that each layer had in the newest state, this one included, that `is` accepts.
    /// Returns nullopt if there is no such state that can be undone to, or if a step since then has changed the number
    /// of layers other than by removing some (SetStack::removed).
    [[nodiscard]] std::optional<std::vector<std::int64_t>>
    layersSince(const std::function<bool(const Project&)>& is) const;

    void onChanged(std::function<void()> observer) { m_observers.push_back(std::move(observer)); }

private:
    struct Step {
        std::string title;
        DocumentSnapshot document;  ///< the state after the step: an earlier one in m_undo, a later one in m_redo
        std::uint64_t revision = 0; ///< the revision of that state
        std::vector<std::int64_t> removed = {}; ///< layers of the earlier state that the later one lacks, if it says so
    };

    /// Must be called after m_document has changed.
    void record(const std::string& title, DocumentSnapshot before, std::vector<std::int64_t> removed = {});
    /// Moves one step from the end of `from` to the end of `to`.
    void move(std::deque<Step>& from, std::deque<Step>& to);
    void announce() const;

    Document m_document;
    mutable DocumentSnapshot m_snapshot; ///< of m_document; null until requested
    std::deque<Step> m_undo;
    std::deque<Step> m_redo;
    std::vector<std::function<void()>> m_observers;
    std::uint64_t m_revision = 0;
    std::uint64_t m_lastRevision = 0;
    std::uint64_t m_savedAt = 0;
};

} // namespace residua::projects
