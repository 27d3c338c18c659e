// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/canvas/typing_field.h"

#include <QCoreApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QStandardItemModel>
#include <QStyle>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

namespace residua::app {

namespace {

enum Column { Text, Detail, ColumnCount };
constexpr int kWidth = 460;
constexpr int kMargin = 8;
constexpr int kRowHeight = 24;
constexpr int kMostRows = 10;

} // namespace

TypingField::TypingField(editor::Canvas& canvas, QWidget* host)
    : QFrame(host),
      m_canvas(canvas),
      m_field(new QLineEdit(this)),
      m_completions(new QStandardItemModel(0, ColumnCount, this)),
      m_list(new QTreeView(this)),
      m_message(new QLabel(this))
{
    setObjectName(QStringLiteral("typingField"));
    m_field->setObjectName(QStringLiteral("typingText"));
    m_field->setPlaceholderText(tr("Type what to add"));
    m_field->setAccessibleName(tr("What to add to the canvas"));
    m_field->installEventFilter(this);
    m_list->setAccessibleName(tr("What can be added"));
    m_list->setModel(m_completions);
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setHeaderHidden(true);
    m_list->setFocusPolicy(Qt::NoFocus); // the arrows move it from the field
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->header()->setSectionResizeMode(Text, QHeaderView::ResizeToContents);
    m_message->setProperty("role", QStringLiteral("muted"));
    m_message->setWordWrap(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    column->setSpacing(6);
    column->addWidget(m_field);
    column->addWidget(m_list, 1);
    column->addWidget(m_message);
    connect(m_field, &QLineEdit::textEdited, this, &TypingField::complete);
    connect(m_list, &QTreeView::clicked, this, [this] {
        m_chosen = true;
        enter();
    });
    hide();
}

void TypingField::open(QPoint at, const QString& text)
{
    m_field->setText(text);
    complete(text);
    const int rows = std::min(kMostRows, m_completions->rowCount());
    m_list->setVisible(rows > 0);
    const int width = std::min(kWidth, parentWidget()->width() - 2 * kMargin);
    const int wanted = m_field->sizeHint().height() + (rows > 0 ? rows * kRowHeight + 6 : 0) +
                       m_message->heightForWidth(width - 2 * kMargin) + 2 * kMargin + 12;
    const int height = std::min(wanted, parentWidget()->height() - 2 * kMargin);
    setGeometry(std::clamp(at.x() - width / 2, kMargin, std::max(kMargin, parentWidget()->width() - width - kMargin)),
                std::clamp(at.y() + kMargin, kMargin, std::max(kMargin, parentWidget()->height() - height - kMargin)),
                width, height);
    show();
    raise();
    m_field->setFocus(Qt::PopupFocusReason);
}

void TypingField::complete(const QString& text)
{
    const editor::TypedAnswer answer = m_canvas.typing(text.toStdString());
    m_completions->setRowCount(0);
    for (const auto& completion : answer.completions) {
        auto* name = new QStandardItem(QString::fromStdString(completion.text));
        auto* detail = new QStandardItem(QString::fromStdString(completion.detail));
        detail->setForeground(palette().placeholderText());
        m_completions->appendRow({name, detail});
    }
    m_list->setCurrentIndex(m_completions->index(0, Text));
    m_chosen = false;
    m_message->setText(QString::fromStdString(answer.message));
    m_message->setProperty("role", answer.valid || text.isEmpty() ? QStringLiteral("muted") : QStringLiteral("error"));
    m_message->style()->polish(m_message);
}

void TypingField::enter()
{
    const QModelIndex current = m_list->currentIndex();
    const QString text =
        m_chosen && current.isValid() ? current.siblingAtColumn(Text).data().toString() : m_field->text();
    if (!m_canvas.typing(text.toStdString()).valid) {
        return;
    }
    leave();
    m_canvas.enter(text.toStdString());
    emit entered();
}

void TypingField::leave()
{
    hide();
    parentWidget()->setFocus(Qt::PopupFocusReason);
}

bool TypingField::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::FocusOut && isVisible()) {
        hide();
    }
    if (event->type() == QEvent::ShortcutOverride) {
        event->accept(); // no key means a command while something is being typed
        return true;
    }
    if (event->type() != QEvent::KeyPress) {
        return QFrame::eventFilter(watched, event);
    }
    auto* key = static_cast<QKeyEvent*>(event);
    switch (key->key()) {
    case Qt::Key_Escape:
        leave();
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        enter();
        return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
        m_chosen = true;
        [[fallthrough]];
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        QCoreApplication::sendEvent(m_list, key);
        return true;
    default:
        return QFrame::eventFilter(watched, event);
    }
}

} // namespace residua::app
