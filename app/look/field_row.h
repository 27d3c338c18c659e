// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

class QDropEvent;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QString;
class QWidget;

namespace residua::app {

/// Returns a field followed by buttons as one row of a form. The form's label refers to the field, and Return in the
/// field presses no button. Takes ownership of the widgets.
[[nodiscard]] QWidget* fieldRow(QWidget* field, std::initializer_list<QPushButton*> buttons);

/// Returns a field for an integer in the range of the schema's field at `pointer` (fieldOfSchema). `name` is the
/// accessible name, `object` the object name.
[[nodiscard]] QSpinBox* spinBoxOf(const QString& name, const QString& object, std::string_view pointer,
                                  QWidget* parent);

/// Shows the path from a file dialog. An empty path means that it was cancelled, and the field keeps its text.
void takeChosen(QLineEdit& field, const QString& path);

/// Returns the absolute path of one that was typed, without "..".
[[nodiscard]] std::string absolutePath(const QString& typed);

/// Returns the files and folders that are dragged; empty if anything else is among them.
[[nodiscard]] QStringList pathsIn(const QDropEvent& drop);

/// Receives files and folders that are dropped on a field for paths.
struct PathTarget {
    /// Returns why a path cannot be used; empty if it can (path_kind.h).
    std::function<QString(const QString& path)> problem;
    std::function<void(const QStringList& paths)> take;
    bool takesSeveral = false;
    /// While this returns false, they are left to the widgets around it.
    std::function<bool()> wants = {};
};
/// Gives `target` the files and folders that are dropped on the widget or on a field in it, instead of the field's own
/// treatment, which would insert a URL. If one cannot be used, or if there are too many, none is used, and the reason
/// is shown at the pointer, as soon as they are dragged over it. Called when the fields exist; a later call for a field
/// in it has precedence there.
void acceptPaths(QWidget& over, PathTarget target);
/// Shows such a path in the field, as takeChosen() does.
void acceptPaths(QLineEdit& field, std::function<QString(const QString& path)> problem);
/// Does so for a field with the path of something new. In a folder that is dropped, it keeps its name.
void acceptNewPath(QLineEdit& field, std::function<QString(const QString& path)> problem);

/// Prepares a field, which may be that of a combo box, for showValue(). While it has uncommitted text
/// (QLineEdit::isModified()), Esc restores the document's value. Otherwise, the keys of Undo and Redo go to the
/// window's commands, because a field handles them by default even if it has nothing to undo.
void showsCommitted(QLineEdit& field);

/// Shows the value of the document in such a field. While the user is typing in it, only Esc shows this value.
void showValue(QLineEdit& field, const QString& text);

} // namespace residua::app
