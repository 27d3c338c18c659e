// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help/help_window.h"

#include "app/help/help_page.h"
#include "app/look/theme.h"
#include "resources/help.h"
#include "visualizers/plot/arrange.h"

#include <QKeyEvent>
#include <QSplitter>
#include <QTreeWidgetItemIterator>
#include <QVBoxLayout>

namespace residua::app {

namespace {

constexpr QSize kSize(1000, 720);
constexpr int kListWidth = 280;
constexpr int kRowHeight = 24;
constexpr int kNameRole = Qt::UserRole;
constexpr int kWordsRole = Qt::UserRole + 1; ///< title, name and aliases
constexpr int kTextRole = Qt::UserRole + 2;

QString toQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QTreeWidgetItem* itemOf(const resources::HelpTopic& topic)
{
    auto* item = new QTreeWidgetItem({QString::fromStdString(topic.title)});
    item->setSizeHint(0, {0, kRowHeight});
    QStringList words{QString::fromStdString(topic.title), QString::fromStdString(topic.name)};
    for (const std::string& alias : topic.aliases) {
        words << QString::fromStdString(alias);
    }
    item->setData(0, kNameRole, QString::fromStdString(topic.name));
    item->setData(0, kWordsRole, words.join(QLatin1Char('\n')));
    item->setData(0, kTextRole, toQString(topic.text));
    item->setToolTip(0, QString::fromStdString(topic.summary));
    return item;
}

} // namespace

HelpWindow::HelpWindow(const Look& look, QWidget* parent) : QDialog(parent), m_page(new HelpPage(look, this))
{
    setObjectName(QStringLiteral("helpWindow"));
    setWindowTitle(tr("What it computes"));
    resizeWithinScreen(*this, kSize);
    visualizers::setNames(*m_search, "helpSearch", tr("Search the explanations"));
    m_search->setPlaceholderText(tr("Search methods and their pages"));
    m_search->setClearButtonEnabled(true);
    m_search->installEventFilter(this);
    visualizers::setNames(*m_topics, "helpTopics", tr("Methods"));
    m_topics->setHeaderHidden(true);
    m_topics->setIndentation(12);
    fillTopics();

    auto* side = new QWidget(this);
    auto* top = visualizers::makeColumn(nullptr, {QMargins(8, 8, 8, 6), -1}, {m_search});
    visualizers::makeColumn(side, visualizers::kNoRoom, {top, {m_topics, 1}});
    auto* split = new QSplitter(this);
    split->addWidget(side);
    split->addWidget(m_page);
    split->setStretchFactor(1, 1);
    split->setSizes({kListWidth, kSize.width() - kListWidth});
    split->setChildrenCollapsible(false);
    visualizers::makeColumn(this, visualizers::kNoMargins, {split});
    connect(m_search, &QLineEdit::textChanged, this, &HelpWindow::search);
    connect(m_topics, &QTreeWidget::currentItemChanged, this, &HelpWindow::showCurrent);
    connect(m_page, &HelpPage::topicShown, this, &HelpWindow::markShown);
}

void HelpWindow::fillTopics()
{
    QTreeWidgetItem* group = nullptr;
    for (const resources::HelpTopic& topic : resources::helpTopics()) {
        const QString title = QString::fromStdString(topic.group);
        if (title.isEmpty()) {
            m_topics->addTopLevelItem(itemOf(topic));
            continue;
        }
        if (!group || group->text(0) != title) {
            group = new QTreeWidgetItem({title});
            group->setFlags(Qt::ItemIsEnabled);
            group->setSizeHint(0, {0, kRowHeight});
            QFont font = m_topics->font();
            font.setWeight(QFont::DemiBold);
            group->setFont(0, font);
            m_topics->addTopLevelItem(group);
        }
        group->addChild(itemOf(topic));
    }
    m_topics->expandAll();
}

void HelpWindow::explain(const std::string& word)
{
    const resources::HelpTopic* const topic = resources::findTopic(word);
    m_search->clear();
    m_page->showTopic(topic ? topic->name : std::string(resources::kHelpIndex), word);
    const bool asked = topic && topic->name != resources::kHelpIndex;
    (asked ? static_cast<QWidget*>(m_page) : m_search)->setFocus(Qt::OtherFocusReason); // the page or the search
}

void HelpWindow::find(const QString& text)
{
    m_page->showTopic(std::string(resources::kHelpIndex));
    m_search->setText(text);
    m_search->setFocus(Qt::OtherFocusReason);
}

/// Pages with matching names come before pages with matching text.
void HelpWindow::search(const QString& text)
{
    QTreeWidgetItem* called = nullptr;
    for (QTreeWidgetItemIterator at(m_topics); *at; ++at) {
        QTreeWidgetItem* const item = *at;
        const bool isCalled = item->data(0, kWordsRole).toString().contains(text, Qt::CaseInsensitive);
        const bool found = isCalled || item->data(0, kTextRole).toString().contains(text, Qt::CaseInsensitive);
        item->setHidden(!found);
        if (QTreeWidgetItem* const group = item->parent(); group && found) {
            group->setHidden(false);
        }
        if (isCalled && !called && item->data(0, kNameRole).isValid()) {
            called = item;
        }
    }
    if (text.isEmpty()) {
        markShown();
        return;
    }
    if (QTreeWidgetItem* const best = called ? called : firstShown()) {
        m_topics->setCurrentItem(best);
    }
}

QTreeWidgetItem* HelpWindow::firstShown() const
{
    for (QTreeWidgetItemIterator at(m_topics, QTreeWidgetItemIterator::NotHidden | QTreeWidgetItemIterator::Selectable);
         *at; ++at) {
        return *at;
    }
    return nullptr;
}

void HelpWindow::showCurrent()
{
    const QTreeWidgetItem* const item = m_topics->currentItem();
    const std::string name = item ? item->data(0, kNameRole).toString().toStdString() : std::string();
    if (!name.empty() && name != m_page->topic()) {
        m_page->showTopic(name);
    }
}

/// Selects the shown page in the list, also after a link was followed.
void HelpWindow::markShown()
{
    const QString name = QString::fromStdString(m_page->topic());
    for (QTreeWidgetItemIterator at(m_topics); *at; ++at) {
        if ((*at)->data(0, kNameRole).toString() == name && !name.isEmpty()) {
            m_topics->setCurrentItem(*at);
            m_topics->scrollToItem(*at);
            return;
        }
    }
}

bool HelpWindow::eventFilter(QObject* watched, QEvent* event)
{
    const auto* key = event->type() == QEvent::KeyPress ? static_cast<QKeyEvent*>(event) : nullptr;
    if (watched == m_search && key) {
        if (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up) {
            m_topics->setFocus(Qt::OtherFocusReason);
            return true;
        }
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            m_page->setFocus(Qt::OtherFocusReason);
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace residua::app
