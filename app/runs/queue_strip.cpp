// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/queue_strip.h"

#include "app/training/run_controller.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace residua::app {

namespace {

constexpr std::size_t kNamed = 20; ///< waiting runs listed in the tooltip

} // namespace

QueueStrip::QueueStrip(QWidget* parent) : QWidget(parent), m_text(new QLabel(this))
{
    setObjectName(QStringLiteral("queueStrip"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 2, 4, 2);
    row->setSpacing(4);
    m_text->setMinimumWidth(40);
    row->addWidget(m_text, 1);
    hide();
}

void QueueStrip::follow(const RunController& controller, QAction* goOn, QAction* skip, QAction* clear)
{
    for (QAction* action : {goOn, skip, clear}) {
        auto* button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
        layout()->addWidget(button);
    }
    connect(&controller, &RunController::queueChanged, this, [this, &controller] { refresh(controller); });
    refresh(controller);
}

void QueueStrip::refresh(const RunController& controller)
{
    const auto names = controller.queuedNames();
    const int count = static_cast<int>(names.size());
    m_text->setText(controller.queueHeld() ? tr("Queue stopped, %n waiting", nullptr, count)
                                           : tr("Queued: %n", nullptr, count));
    QStringList lines;
    for (std::size_t i = 0; i < names.size() && i < kNamed; ++i) {
        lines << QString::fromStdString(names[i]);
    }
    if (names.size() > kNamed) {
        lines << tr("… and %n more", nullptr, count - static_cast<int>(kNamed));
    }
    m_text->setToolTip(lines.join(QLatin1Char('\n')));
    setVisible(count > 0);
}

} // namespace residua::app
