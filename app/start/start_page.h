// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/document/document_session.h"

#include <QFrame>
#include <QGridLayout>
#include <QStringList>
#include <QWidget>

#include <filesystem>

class QPushButton;
class QVBoxLayout;

namespace residua::app {

class Look;

/// Returns the folders of projects that were opened or saved, newest first. Skips folders that no longer exist.
[[nodiscard]] QStringList recentProjects();
void rememberProject(const QString& folder);

/// A framed button with content: click, Enter or Space chooses it.
class Card : public QFrame {
    Q_OBJECT
public:
    Card(const QString& title, const QString& summary, QWidget* picture, QWidget* parent = nullptr);

signals:
    void chosen();

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
};

/// The first page: examples to run, recent projects, and unsaved work.
class StartPage : public QWidget {
    Q_OBJECT
public:
    StartPage(const Look& look, std::filesystem::path draftsFolder, QWidget* parent = nullptr);

    /// Reloads the recent projects and the drafts.
    void refresh();
    [[nodiscard]] QPushButton& newButton() { return *m_new; }
    [[nodiscard]] QPushButton& openButton() { return *m_open; }

signals:
    void exampleChosen(const QString& name);
    void projectChosen(const QString& folder);
    void draftChosen(const QString& folder);
    void draftDiscarded(const residua::app::Draft& draft);
    void newRequested();
    void openRequested();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeHeader();
    void makeExamples();
    void arrangeExamples();
    void addDrafts();
    void addRecent();
    void noteStandings(const QStringList& folders);

    const Look& m_look;
    std::filesystem::path m_draftsFolder;
    QWidget* m_body = new QWidget;
    QPushButton* m_new;
    QPushButton* m_open;
    QVBoxLayout* m_column;
    QGridLayout* m_examples = new QGridLayout;
    QList<QWidget*> m_cards;
    QWidget* m_lists = nullptr;
    QVBoxLayout* m_listsLayout = nullptr;
    int m_columns = 0;
};

} // namespace residua::app
