// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <initializer_list>

class QLineEdit;
class QPushButton;
class QString;
class QWidget;

namespace residua::app {

/// A field with buttons behind it as one row of a form: the form's caption leads to the field, and Return in the field
/// presses none of the buttons. Takes over the widgets.
[[nodiscard]] QWidget* fieldRow(QWidget* field, std::initializer_list<QPushButton*> buttons);

/// Shows the path that a file dialog came back with; empty, because it was given up: the field stays as it is.
void takeChosen(QLineEdit& field, const QString& path);

} // namespace residua::app
