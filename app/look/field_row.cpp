// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/field_row.h"

#include <QDir>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>

namespace residua::app {

namespace {

constexpr int kFieldSpacing = 6; ///< pixels

} // namespace

QWidget* fieldRow(QWidget* field, std::initializer_list<QPushButton*> buttons)
{
    auto* row = new QWidget(field->parentWidget());
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kFieldSpacing);
    layout->addWidget(field, 1);
    for (QPushButton* button : buttons) {
        button->setAutoDefault(false);
        layout->addWidget(button);
    }
    row->setFocusProxy(field);
    return row;
}

void takeChosen(QLineEdit& field, const QString& path)
{
    if (!path.isEmpty()) {
        field.setText(QDir::toNativeSeparators(path));
    }
}

} // namespace residua::app
