// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <initializer_list>
#include <string_view>

class QLineEdit;
class QPushButton;
class QSpinBox;
class QString;
class QWidget;

namespace residua::app {

/// A field with buttons behind it as one row of a form: the form's caption leads to the field, and Return in the field
/// presses none of the buttons. Takes over the widgets.
[[nodiscard]] QWidget* fieldRow(QWidget* field, std::initializer_list<QPushButton*> buttons);

/// A field for a whole number within the range of the schema's field at `pointer` (fieldOfSchema). `name`: for people
/// who cannot see the form; `object`: its object name.
[[nodiscard]] QSpinBox* spinBoxOf(const QString& name, const QString& object, std::string_view pointer,
                                  QWidget* parent);

/// Shows the path that a file dialog returned. An empty path means that it was cancelled: the field keeps its text.
void takeChosen(QLineEdit& field, const QString& path);

/// Lets the keys of Undo and Redo reach the window's commands while the field has no typed text that is uncommitted. A
/// field of its own accord keeps them even where it has nothing to undo.
void passUndoOnceCommitted(QLineEdit& field);

} // namespace residua::app
