// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/canvas/typing_field.h"

#include <QHeaderView>
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
    : TypedPopup(host),
      m_canvas(canvas),
      m_completions(new QStandardItemModel(0, ColumnCount, this)),
      m_message(new QLabel(this))
{
    setObjectName(QStringLiteral("typingField"));
    field().setObjectName(QStringLiteral("typingText"));
    field().setPlaceholderText(tr("Type what to add"));
    field().setAccessibleName(tr("What to add to the canvas"));
    list().setAccessibleName(tr("What can be added"));
    list().setModel(m_completions);
    list().header()->setSectionResizeMode(Text, QHeaderView::ResizeToContents);
    m_message->setProperty("role", QStringLiteral("muted"));
    m_message->setWordWrap(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    column->setSpacing(6);
    column->addWidget(&field());
    column->addWidget(&list(), 1);
    column->addWidget(m_message);
    connect(&field(), &QLineEdit::textEdited, this, &TypingField::complete);
}

void TypingField::open(QPoint at, const QString& text)
{
    field().setText(text);
    complete(text);
    const int rows = std::min(kMostRows, m_completions->rowCount());
    list().setVisible(rows > 0);
    const int width = std::min(kWidth, parentWidget()->width() - 2 * kMargin);
    const int wanted = field().sizeHint().height() + (rows > 0 ? rows * kRowHeight + 6 : 0) +
                       m_message->heightForWidth(width - 2 * kMargin) + 2 * kMargin + 12;
    const int height = std::min(wanted, parentWidget()->height() - 2 * kMargin);
    popUp({std::clamp(at.x() - width / 2, kMargin, std::max(kMargin, parentWidget()->width() - width - kMargin)),
           std::clamp(at.y() + kMargin, kMargin, std::max(kMargin, parentWidget()->height() - height - kMargin)), width,
           height},
          parentWidget());
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
    list().setCurrentIndex(m_completions->index(0, Text));
    m_chosen = false;
    m_message->setText(QString::fromStdString(answer.message));
    m_message->setProperty("role", answer.valid || text.isEmpty() ? QStringLiteral("muted") : QStringLiteral("error"));
    m_message->style()->polish(m_message);
}

void TypingField::take()
{
    const QModelIndex current = list().currentIndex();
    const QString text =
        m_chosen && current.isValid() ? current.siblingAtColumn(Text).data().toString() : field().text();
    if (!m_canvas.typing(text.toStdString()).valid) {
        return;
    }
    leave();
    m_canvas.enter(text.toStdString());
    emit entered();
}

} // namespace residua::app
