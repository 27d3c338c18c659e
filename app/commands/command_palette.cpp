// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/command_palette.h"

#include "app/commands/key_bindings.h"
#include "projects/base/ranges.h"
#include "visualizers/plot/arrange.h"

#include <QAbstractTableModel>
#include <QAction>
#include <QApplication>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <tuple>
#include <utility>

namespace residua::app {

namespace {

enum Column { Name, Note, ColumnCount };
constexpr int kMostRecent = 8;
constexpr int kOnlyAboveRow = 0; ///< QHeaderView: rows outside the view do not affect a column's width
constexpr QStringView kDivider = u" › ";
constexpr int kByKey = 6;    ///< more than the rank of a word that begins anywhere in the text
constexpr int kByHelp = 200; ///< more than the rank of a word inside another
constexpr int kWidth = 620;
constexpr int kHeight = 420;
constexpr int kTop = 60;

void collect(const QList<QAction*>& actions, const QString& path, QList<MenuCommand>& commands)
{
    for (QAction* action : actions) {
        const QString name = path.isEmpty() ? plainText(*action) : path + kDivider.toString() + plainText(*action);
        if (action->menu()) {
            collect(action->menu()->actions(), name, commands);
        } else if (!action->isSeparator()) {
            commands.push_back({name, action});
        }
    }
}

/// Returns the rank of one word within the text, whose last part begins at `last`.
std::optional<int> wordRank(const QString& text, const QString& word, qsizetype last)
{
    std::optional<int> best;
    for (qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive); at >= 0;
         at = text.indexOf(word, at + 1, Qt::CaseInsensitive)) {
        const qsizetype end = at + word.size();
        const bool begins = at == 0 || !text[at - 1].isLetterOrNumber();
        const bool isWhole = end == text.size() || !text[end].isLetterOrNumber();
        const int place = at < last ? 2 : at == last ? 0 : 1;
        const int rank = begins ? 2 * place + (isWhole ? 0 : 1) : kInsideWord;
        best = std::min(rank, best.value_or(rank));
    }
    return best;
}

} // namespace

/// The entries that match the typed text, in order.
class PaletteRows : public QAbstractTableModel {
public:
    using QAbstractTableModel::QAbstractTableModel;

    std::vector<PaletteEntry> entries; ///< at the end, those for a text that nothing matches
    std::size_t searched = 0;          ///< the number of the others

    void setOrder(std::vector<std::size_t> order)
    {
        beginResetModel();
        m_order = std::move(order);
        m_notes.assign(m_order.size(), std::nullopt);
        endResetModel();
    }
    [[nodiscard]] const PaletteEntry& entry(int row) const { return entries[m_order[static_cast<std::size_t>(row)]]; }

    [[nodiscard]] int rowCount(const QModelIndex& parent) const override
    {
        return parent.isValid() ? 0 : static_cast<int>(m_order.size());
    }
    [[nodiscard]] int columnCount(const QModelIndex& /*parent*/) const override { return ColumnCount; }
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override
    {
        const bool isEnabled = index.isValid() && entry(index.row()).isEnabled;
        return isEnabled ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::NoItemFlags;
    }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override
    {
        if (!index.isValid()) {
            return {};
        }
        const PaletteEntry& shown = entry(index.row());
        if (role == Qt::ToolTipRole) {
            return shown.toolTip;
        }
        if (index.column() == Name) {
            return role == Qt::DisplayRole ? QVariant(shown.text) : QVariant();
        }
        if (role == Qt::TextAlignmentRole) {
            return QVariant(Qt::AlignRight | Qt::AlignVCenter);
        }
        if (role != Qt::DisplayRole || !shown.note) {
            return {};
        }
        std::optional<QString>& note = m_notes[static_cast<std::size_t>(index.row())];
        note = note ? note : shown.note();
        return *note;
    }

private:
    std::vector<std::size_t> m_order;
    mutable std::vector<std::optional<QString>> m_notes; ///< filled on demand
};

QList<MenuCommand> commandsOf(const QMenuBar& bar)
{
    QList<MenuCommand> commands;
    collect(bar.actions(), {}, commands);
    return commands;
}

std::optional<int> matchRank(const SearchedTexts& texts, const QStringList& words)
{
    const qsizetype divider = texts.text.lastIndexOf(kDivider);
    const qsizetype last = divider < 0 ? 0 : divider + kDivider.size();
    int rank = 0;
    for (const QString& word : words) {
        std::optional<int> one = wordRank(texts.text, word, last);
        const QString token = QString(word).replace(QLatin1Char('.'), QLatin1Char('/'));
        if (const auto byKey = wordRank(texts.key, token, texts.key.lastIndexOf(QLatin1Char('/')) + 1)) {
            one = std::min(*byKey + kByKey, one.value_or(*byKey + kByKey));
        }
        if (const auto byHelp = one ? std::nullopt : wordRank(texts.help, word, 0); byHelp && *byHelp < kInsideWord) {
            one = kByHelp;
        }
        if (!one) {
            return std::nullopt;
        }
        rank += *one;
    }
    return rank;
}

CommandPalette::CommandPalette(QWidget* window) : TypedPopup(window), m_rows(new PaletteRows(this))
{
    setObjectName(QStringLiteral("commandPalette"));
    setAccessibleName(tr("Commands"));
    field().setObjectName(QStringLiteral("commandSearch"));
    field().setPlaceholderText(tr("Type a command, a topology or a field"));
    field().setAccessibleName(tr("Search commands, topologies and fields"));
    list().setAccessibleName(tr("What matches"));
    list().setModel(m_rows);
    list().header()->setStretchLastSection(false);
    list().header()->setSectionResizeMode(Name, QHeaderView::Stretch);
    list().header()->setSectionResizeMode(Note, QHeaderView::ResizeToContents);
    list().header()->setResizeContentsPrecision(kOnlyAboveRow);
    visualizers::makeColumn(this, {QMargins(8, 8, 8, 8), -1}, {&field(), {&list(), 1}});
    connect(&field(), &QLineEdit::textChanged, this, &CommandPalette::search);
}

void CommandPalette::open(std::vector<PaletteEntry> entries)
{
    m_rows->setOrder({});
    m_rows->searched = entries.size();
    m_rows->entries = std::move(entries);
    QWidget* window = parentWidget();
    const int width = std::min(kWidth, window->width() - 40);
    field().clear();
    search({});
    popUp({(window->width() - width) / 2, kTop, width, std::min(kHeight, window->height() - 2 * kTop)},
          QApplication::focusWidget());
}

void CommandPalette::search(const QString& text)
{
    const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    // Whether a word was found only inside another or in the help, the time since its last use, the rank, the index.
    std::vector<std::tuple<bool, qsizetype, int, std::size_t>> found;
    for (std::size_t i = 0; i < m_rows->searched; ++i) {
        const PaletteEntry& entry = m_rows->entries[i];
        if (const std::optional<int> rank = matchRank({entry.text, entry.key, entry.toolTip}, words)) {
            const qsizetype recent = m_recent.indexOf(entry.id);
            found.emplace_back(*rank >= kInsideWord, recent < 0 ? kMostRecent : recent, *rank, i);
        }
    }
    std::ranges::sort(found);
    auto order = mapped<std::vector<std::size_t>>(found, [](const auto& each) { return std::get<std::size_t>(each); });
    m_rows->setOrder({}); // the model shows no entry that is removed
    m_rows->entries.resize(m_rows->searched);
    if (order.empty()) {
        const QString asked = words.join(QLatin1Char(' '));
        m_rows->entries.push_back({.text = tr("No command, topology or field has “%1”").arg(asked),
                                   .id = {},
                                   .toolTip = {},
                                   .isEnabled = false,
                                   .note = {},
                                   .take = [] {}});
        m_rows->entries.push_back({.text = tr("Search the help for “%1”").arg(asked),
                                   .id = {},
                                   .toolTip = {},
                                   .note = {},
                                   .take = [this, asked] { emit helpWanted(asked); }});
        order = {m_rows->searched, m_rows->searched + 1};
    }
    m_rows->setOrder(std::move(order));
    for (int row = 0; row < m_rows->rowCount({}); ++row) {
        if (m_rows->entry(row).isEnabled) {
            list().setCurrentIndex(m_rows->index(row, Name));
            return;
        }
    }
}

void CommandPalette::take()
{
    const QModelIndex current = list().currentIndex();
    if (!current.isValid() || !m_rows->entry(current.row()).isEnabled) {
        return;
    }
    const PaletteEntry entry = m_rows->entry(current.row());
    if (!entry.id.isEmpty()) {
        m_recent.removeAll(entry.id);
        m_recent.prepend(entry.id);
        m_recent = m_recent.mid(0, kMostRecent);
        emit recentChanged();
    }
    leave();
    entry.take();
}

} // namespace residua::app
