// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QTreeWidget>

#include <string>

class QTreeWidgetItem;

namespace residua::app {

class HelpPage;
class Look;

/// The explanations of methods: the pages of resources/help with a searchable list on the left. Not modal, so that it
/// can be read during work. GUI thread.
class HelpWindow : public QDialog {
    Q_OBJECT
public:
    explicit HelpWindow(const Look& look, QWidget* parent = nullptr);

    /// Shows the page for `word`, the name or an alias of a topic, or the index for any other word.
    void explain(const std::string& word);
    /// Lists the pages that have the text, and shows the best.
    void find(const QString& text);
    [[nodiscard]] HelpPage& page() const { return *m_page; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fillTopics();
    void search(const QString& text);
    void showCurrent();
    void markShown();
    [[nodiscard]] QTreeWidgetItem* firstShown() const;

    QLineEdit* m_search = new QLineEdit(this);
    QTreeWidget* m_topics = new QTreeWidget(this);
    HelpPage* m_page;
};

} // namespace residua::app
