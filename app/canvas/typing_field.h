// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/typed_popup.h"
#include "editor/canvas/canvas.h"

class QLabel;
class QStandardItemModel;

namespace residua::app {

/// What a canvas asks to have typed: a field on it with the canvas's own completions below, best first, and a line that
/// says what Enter does. Up and Down choose, Enter hands it over, Esc gives up. One canvas, one field.
class TypingField : public TypedPopup {
    Q_OBJECT
public:
    TypingField(editor::Canvas& canvas, QWidget* host);

    /// Near `at`, in the host's pixels, with `text` to begin with.
    void open(QPoint at, const QString& text);

signals:
    /// The canvas was told; it has requests now.
    void entered();

private:
    void complete(const QString& text);
    /// What Enter hands over: the completion that was chosen, or was offered first for the beginning of its name; else
    /// what stands in the field.
    [[nodiscard]] QString meant() const;
    /// As high as what it offers, near the place it was opened at and inside the host.
    [[nodiscard]] QRect room() const;
    void rowChosen() override { m_chosen = true; }
    void take() override;

    editor::Canvas& m_canvas;
    QStandardItemModel* m_completions;
    QLabel* m_message;
    QPoint m_at;           ///< where it was opened
    bool m_chosen = false; ///< a completion was chosen, not only offered
};

} // namespace residua::app
