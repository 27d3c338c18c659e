// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/typed_popup.h"
#include "projects/commands/typing.h"

#include <functional>
#include <string_view>

class QLabel;
class QStandardItemModel;

namespace residua::app {

/// Interprets a text while it is being typed.
using TypingMeaning = std::function<projects::Typed(std::string_view text)>;

/// A field on a canvas for typing, with completions below, best first, and a line that describes the effect of Enter.
/// Up and Down select, Enter applies the text, Esc closes the field. Each canvas has one.
class TypingField : public TypedPopup {
    Q_OBJECT
public:
    explicit TypingField(QWidget* host);

    /// Opens the field near `at`, in the host's pixels, with the initial text `text`.
    void open(QPoint at, const QString& text, TypingMeaning meaning);

signals:
    void entered(const residua::projects::DocumentChange& change);

private:
    void complete(const QString& text);
    /// Returns the text for Enter: the selected completion, the first if it begins with the typed text, else that text.
    [[nodiscard]] QString meant() const;
    /// Returns the field's rectangle, as high as its contents, near the place where it was opened and inside the host.
    [[nodiscard]] QRect room() const;
    void rowChosen() override { m_chosen = true; }
    void take() override;

    TypingMeaning m_meaning = [](std::string_view) { return projects::Typed(); }; ///< nothing until opened
    QStandardItemModel* m_completions;
    QLabel* m_message;
    QPoint m_at;           ///< where it was opened
    bool m_chosen = false; ///< true if the user has selected a completion
};

} // namespace residua::app
