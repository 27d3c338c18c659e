// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace residua::projects {

/// A document with its undo history. One thread; observers are told after every change.
class History {
public:
    explicit History(Document document = {});

    [[nodiscard]] const Document& document() const { return m_document; }
    [[nodiscard]] const Project& project() const { return m_document.project; }

    /// Applies, records and announces. On error nothing changes.
    Status perform(const Edit& edit);
    /// As perform, but joins the previous step when that was also performed with `mergeKey`
    /// (a slider's drag, typing): one undo takes both back.
    Status performMerging(const Edit& edit, const std::string& mergeKey);

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
        std::string mergeKey;
        std::variant<Edit, Document> back; ///< what takes the step back
        std::uint64_t revisionBefore = 0;
    };

    Status record(const Edit& edit, const std::string& mergeKey);
    void step(std::vector<Step>& from, std::vector<Step>& to);
    void recorded();
    void announce() const;

    Document m_document;
    std::vector<Step> m_undo;
    std::vector<Step> m_redo;
    std::vector<std::function<void()>> m_observers;
    std::uint64_t m_revision = 0;
    std::uint64_t m_lastRevision = 0;
    std::uint64_t m_savedAt = 0;
};

} // namespace residua::projects
