// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/banner.h"

#include "app/look/theme.h"
#include "visualizers/plot/arrange.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>

#include <algorithm>

namespace residua::app {

namespace {

constexpr int kWidest = 900;
constexpr int kMargin = 14; ///< to the borders of what it is over
constexpr int kLeastArea = 160;
constexpr int kLeastWidth = 560;          ///< of a room that needs no place of its neighbours
constexpr int kNoticeMilliseconds = 4000; ///< until a note is noticed
constexpr int kLetterMilliseconds = 60;   ///< in which a slow reader reads a letter

} // namespace

Banner::Banner(QWidget* over) : QFrame(over)
{
    setObjectName(QStringLiteral("banner"));
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText); // it may contain names that come from other people
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* close = new QToolButton(this);
    close->setIcon(themedIcon(QStringLiteral("close")));
    close->setToolTip(tr("Dismiss"));
    close->setAccessibleName(tr("Dismiss"));
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    visualizers::makeRow(this, {QMargins(14, 6, 8, 6), 10}, {m_icon, {m_text, 1}, m_choices, close});
    over->installEventFilter(this);
    m_read->setSingleShot(true);
    connect(m_read, &QTimer::timeout, this, &QWidget::hide);
    hide();
}

void Banner::keepAbove(QWidget* area)
{
    m_area = area;
    area->installEventFilter(this);
}

/// Returns what the banner is over: its area, or the whole widget.
QRect Banner::room() const
{
    const QRect whole = parentWidget()->rect();
    if (!m_area || !m_area->isVisible() || m_area->height() < kLeastArea) {
        return whole;
    }
    return whole.intersected({m_area->mapTo(parentWidget(), QPoint()), m_area->size()});
}

/// In the middle of the room, above its lower border; wider than the room if its text needs that.
void Banner::place()
{
    const QRect whole = parentWidget()->rect();
    const QRect over = room();
    const int widest = over.width() >= kLeastWidth ? over.width() : whole.width();
    const int width = std::min(kWidest, widest - 2 * kMargin);
    const int height = std::max(layout()->totalHeightForWidth(width), layout()->totalMinimumSize().height());
    const int left = std::clamp(over.center().x() - width / 2, kMargin, whole.width() - width - kMargin);
    setGeometry(left, std::max(over.bottom() + 1 - height - kMargin, 0), width, height);
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
    const QEvent::Type type = event->type();
    const bool moves = type == QEvent::Resize || type == QEvent::Move || type == QEvent::Show || type == QEvent::Hide;
    if (moves && !isHidden()) {
        place();
    }
    return QFrame::eventFilter(watched, event);
}

void Banner::say(BannerKind kind, const QString& text, std::vector<BannerChoice> choices)
{
    m_holds = nullptr;
    m_pausedRead = false;
    const bool error = kind == BannerKind::Error;
    m_read->setInterval(kNoticeMilliseconds + kLetterMilliseconds * static_cast<int>(text.size()));
    error || !choices.empty() ? m_read->stop() : m_read->start();
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

/// A note stays while the pointer is on it.
void Banner::enterEvent(QEnterEvent* event)
{
    m_pausedRead = m_read->isActive();
    m_read->stop();
    QFrame::enterEvent(event);
}

void Banner::leaveEvent(QEvent* event)
{
    if (std::exchange(m_pausedRead, false)) {
        m_read->start();
    }
    QFrame::leaveEvent(event);
}

QString Banner::text() const
{
    return isHidden() ? QString() : m_text->text();
}

} // namespace residua::app
