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
#include <utility>

namespace residua::app {

namespace {

enum Column { Text, Detail, ColumnCount };
constexpr int kWidth = 460;
constexpr int kMargin = 8;
constexpr int kSpacing = 6;
constexpr int kRowHeight = 24;
constexpr int kMostRows = 10;

} // namespace

TypingField::TypingField(QWidget* host)
    : TypedPopup(host), m_completions(new QStandardItemModel(0, ColumnCount, this)), m_message(new QLabel(this))
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
    column->setSpacing(kSpacing);
    column->addWidget(&field());
    column->addWidget(&list(), 1);
    column->addWidget(m_message);
    connect(&field(), &QLineEdit::textEdited, this, &TypingField::complete);
}

void TypingField::open(QPoint at, const QString& text, TypingMeaning meaning)
{
    m_at = at;
    m_meaning = std::move(meaning);
    field().setText(text);
    complete(text);
    popUp(room(), parentWidget());
}

QRect TypingField::room() const
{
    const int rows = std::min(kMostRows, m_completions->rowCount());
    const QSize host = parentWidget()->size();
    const int width = std::min(kWidth, host.width() - 2 * kMargin);
    const int wanted = field().sizeHint().height() + (rows > 0 ? rows * kRowHeight + kSpacing : 0) +
                       m_message->heightForWidth(width - 2 * kMargin) + 2 * kMargin + 2 * kSpacing;
    const int height = std::min(wanted, host.height() - 2 * kMargin);
    return {std::clamp(m_at.x() - width / 2, kMargin, std::max(kMargin, host.width() - width - kMargin)),
            std::clamp(m_at.y() + kMargin, kMargin, std::max(kMargin, host.height() - height - kMargin)), width,
            height};
}

void TypingField::complete(const QString& text)
{
    const projects::TypedAnswer answer = m_meaning(text.toStdString()).answer;
    m_completions->setRowCount(0);
    for (const auto& completion : answer.completions) {
        auto* name = new QStandardItem(QString::fromStdString(completion.text));
        auto* detail = new QStandardItem(QString::fromStdString(completion.detail));
        detail->setForeground(palette().placeholderText());
        m_completions->appendRow({name, detail});
    }
    list().setVisible(m_completions->rowCount() > 0);
    list().setCurrentIndex(m_completions->index(0, Text));
    m_chosen = false;
    const projects::TypedAnswer meaning = answer.valid ? answer : m_meaning(meant().toStdString()).answer;
    m_message->setText(QString::fromStdString(meaning.message));
    m_message->setProperty("role", meaning.valid || text.isEmpty() ? QStringLiteral("muted") : QStringLiteral("error"));
    m_message->style()->polish(m_message);
    if (isVisible()) {
        setGeometry(room());
    }
}

QString TypingField::meant() const
{
    const QString typed = field().text();
    const QString offered = list().currentIndex().siblingAtColumn(Text).data().toString();
    if (m_chosen && !offered.isEmpty()) {
        return offered;
    }
    const bool begun = !typed.isEmpty() && offered.startsWith(typed, Qt::CaseInsensitive);
    return begun && !m_meaning(typed.toStdString()).answer.valid ? offered : typed;
}

void TypingField::take()
{
    const projects::Typed typed = m_meaning(meant().toStdString());
    if (typed.change) {
        leave();
        emit entered(*typed.change);
    }
}

} // namespace residua::app
