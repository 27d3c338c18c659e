// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas.h"

#include <QFrame>

class QLabel;
class QLineEdit;
class QStandardItemModel;
class QTreeView;

namespace residua::app {

/// What a canvas asks to have typed: a field on it with the canvas's own completions below, best first, and a line that
/// says what Enter does. Up and Down choose, Enter hands it over, Esc gives up. One canvas, one field.
class TypingField : public QFrame {
    Q_OBJECT
public:
    TypingField(editor::Canvas& canvas, QWidget* host);

    /// Near `at`, in the host's pixels, with `text` to begin with.
    void open(QPoint at, const QString& text);

signals:
    /// The canvas was told; it has requests now.
    void entered();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void complete(const QString& text);
    void enter();
    void leave();

    editor::Canvas& m_canvas;
    QLineEdit* m_field;
    QStandardItemModel* m_completions;
    QTreeView* m_list;
    QLabel* m_message;
    bool m_chosen = false; ///< a completion was chosen, not only offered
};

} // namespace residua::app
