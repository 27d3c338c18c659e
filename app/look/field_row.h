// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <initializer_list>

class QPushButton;
class QWidget;

namespace residua::app {

/// A field with buttons behind it as one row of a form: the form's caption leads to the field, and Return in the field
/// presses none of the buttons. Takes over the widgets.
[[nodiscard]] QWidget* fieldRow(QWidget* field, std::initializer_list<QPushButton*> buttons);

} // namespace residua::app
