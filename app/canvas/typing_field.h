// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/typed_popup.h"
#include "projects/commands/typing.h"

#include <functional>
#include <string_view>

class QLabel;
class QStandardItemModel;

namespace residua::app {

/// What a text means while it is being typed.
using TypingMeaning = std::function<projects::Typed(std::string_view text)>;

/// A field on a canvas to type into: completions below, best first, and a line that says what Enter does. Up and Down
/// choose, Enter asks for what the text means, Esc closes it. Each canvas has one.
class TypingField : public TypedPopup {
    Q_OBJECT
public:
    explicit TypingField(QWidget* host);

    /// Opens the field near `at`, in the host's pixels, with `text` to begin with.
    void open(QPoint at, const QString& text, TypingMeaning meaning);

signals:
    void entered(const residua::projects::DocumentChange& change);

private:
    void complete(const QString& text);
    /// The text that Enter takes: the completion that was chosen, or was offered first for the beginning of its name;
    /// else what stands in the field.
    [[nodiscard]] QString meant() const;
    /// The field's rectangle: as high as what it offers needs, near the place it was opened at and inside the host.
    [[nodiscard]] QRect room() const;
    void rowChosen() override { m_chosen = true; }
    void take() override;

    TypingMeaning m_meaning = [](std::string_view) { return projects::Typed(); }; ///< nothing, until it is opened
    QStandardItemModel* m_completions;
    QLabel* m_message;
    QPoint m_at;           ///< where it was opened
    bool m_chosen = false; ///< a completion was chosen, not only offered
};

} // namespace residua::app
