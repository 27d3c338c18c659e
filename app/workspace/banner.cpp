// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/banner.h"

#include "app/look/theme.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr int kWidest = 900;
constexpr int kMargin = 14; ///< to the borders of what it is over

} // namespace

Banner::Banner(QWidget* over)
    : QFrame(over), m_icon(new QLabel(this)), m_text(new QLabel(this)), m_choices(new QHBoxLayout)
{
    setObjectName(QStringLiteral("banner"));
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* close = new QToolButton(this);
    close->setIcon(themedIcon(QStringLiteral("close")));
    close->setToolTip(tr("Dismiss"));
    close->setAccessibleName(tr("Dismiss"));
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 6, 8, 6);
    layout->setSpacing(10);
    layout->addWidget(m_icon);
    layout->addWidget(m_text, 1);
    layout->addLayout(m_choices);
    layout->addWidget(close);
    over->installEventFilter(this);
    hide();
}

/// In the middle, above the lower border.
void Banner::place()
{
    const QSize room = parentWidget()->size();
    const int width = std::min(kWidest, room.width() - 2 * kMargin);
    const int height = std::max(layout()->totalHeightForWidth(width), layout()->totalMinimumSize().height());
    setGeometry((room.width() - width) / 2, room.height() - height - kMargin, width, height);
    raise();
}

bool Banner::event(QEvent* event)
{
    const bool done = QFrame::event(event);
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Show) {
        place();
    }
    return done;
}

bool Banner::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize && !isHidden()) {
        place();
    }
    return QFrame::eventFilter(watched, event);
}

void Banner::say(BannerKind kind, const QString& text, std::vector<BannerChoice> choices)
{
    m_holds = nullptr;
    const bool error = kind == BannerKind::Error;
    setProperty("severity", error ? QStringLiteral("error") : QStringLiteral("note"));
    style()->unpolish(this);
    style()->polish(this);
    m_icon->setPixmap(themedIcon(error ? QStringLiteral("error") : QStringLiteral("warning"))
                          .pixmap(QSize(16, 16), devicePixelRatioF()));
    m_text->setText(text);
    setAccessibleName(text);
    while (QLayoutItem* item = m_choices->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (BannerChoice& choice : choices) {
        auto* button = new QPushButton(choice.text, this);
        button->setAutoDefault(true); // Enter chooses it
        connect(button, &QPushButton::clicked, this, [this, act = std::move(choice.act)] {
            hide();
            act();
        });
        m_choices->addWidget(button);
        button->show(); // otherwise it could not get the focus at once if the banner was visible before
    }
    show();
}

void Banner::refuse(const QString& reason)
{
    say(BannerKind::Error, reason);
    whileTrue([this, then = m_actions] { return m_actions == then; });
}

void Banner::ask(const QString& question, std::vector<BannerChoice> choices)
{
    QWidget* back = QApplication::focusWidget();
    say(BannerKind::Note, question, std::move(choices));
    m_choices->itemAt(0)->widget()->setFocus(Qt::OtherFocusReason);
    m_back = back;
}

void Banner::recheck()
{
    if (m_holds && !m_holds()) {
        m_holds = nullptr;
        hide();
    }
}

void Banner::noticeAction()
{
    ++m_actions;
    recheck();
}

void Banner::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) {
        hide();
        return;
    }
    QFrame::keyPressEvent(event);
}

void Banner::hideEvent(QHideEvent* event)
{
    if (QWidget* back = std::exchange(m_back, nullptr)) {
        back->setFocus(Qt::OtherFocusReason);
    }
    QFrame::hideEvent(event);
}

QString Banner::text() const
{
    return isHidden() ? QString() : m_text->text();
}

} // namespace residua::app
