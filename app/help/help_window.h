// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <string>

class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace residua::app {

class HelpPage;
class Look;

/// What each method computes: the pages of resources/help, a searchable list of them on the left. Not modal, so that
/// one reads beside the work. GUI thread.
class HelpWindow : public QDialog {
    Q_OBJECT
public:
    explicit HelpWindow(const Look& look, QWidget* parent = nullptr);

    /// Shows what is known of `word`: a topic's name or another word for it; the index for any other word.
    void explain(const std::string& word);
    [[nodiscard]] HelpPage& page() const { return *m_page; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fillTopics();
    void search(const QString& text);
    void showCurrent();
    void markShown();
    [[nodiscard]] QTreeWidgetItem* firstShown() const;

    QLineEdit* m_search;
    QTreeWidget* m_topics;
    HelpPage* m_page;
};

} // namespace residua::app
