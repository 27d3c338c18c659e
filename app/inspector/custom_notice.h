// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/customisation.h"

#include <QFrame>

#include <optional>

class QLabel;
class QPushButton;

namespace residua::app {

/// Shows "Custom, from DCA", the differences, and a button to go back. Hidden if nothing is customised.
class CustomNotice : public QFrame {
    Q_OBJECT
public:
    explicit CustomNotice(QWidget* parent = nullptr);

    void setCustomisation(std::optional<Customisation> customisation);

signals:
    void backRequested(const residua::projects::Edit& edit);

private:
    projects::Edit m_back = projects::EditGroup{};
    QLabel* m_title;
    QLabel* m_changes;
    QPushButton* m_button;
};

} // namespace residua::app
