// SPDX-License-Identifier: GPL-3.0-or-later
// Edits of the window copied as commands, which the terminal carries out on the saved project.
#include "app/actions/window_actions.h"
#include "app/inspector/inspector.h"
#include "app/views/document_views.h"
#include "app/workspace/banner.h"
#include "projects/commands/commands.h"
#include "projects/studies/settings_between.h"
#include "projects/studies/sweep_grid.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QMenu>
#include <QProcess>

using namespace residua;
using namespace residua::app;

class TestCopyCommands : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        projects::Project project = quickExample();
        project.name = "it's $(one)";
        openWindowOn(project);
        QApplication::clipboard()->clear();
    }
    void cleanup() { m_window.reset(); }

    /// A field, a shortcut, layers, the topology: the terminal makes the same document of the saved one.
    void theLastChangeIsRepeatedByTheTerminal()
    {
        const auto setBatch = projects::fieldEdit(project(), "/training/batch", std::int64_t{5});
        QVERIFY(setBatch.ok());
        change(*setBatch);
        QVERIFY2(command().endsWith("/training/batch=5"), qPrintable(command()));
        change(projects::SetShortcutState{{0, 2}, projects::ShortcutState::Pruned});
        change(projects::RemoveShortcut{{0, 2}});
        projects::Selection layers;
        layers.layers = {2};
        for (const auto& made : {duplicateSelection(m_window->session().document(), layers, {}),
                                 deleteSelection(m_window->session().document(), layers, {})}) {
            QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
            change(made->edit);
        }
        const auto wired = projects::topologyFrom("grn-v1", project().network);
        QVERIFY(wired.ok());
        change(projects::SetTopology{*wired});
        QVERIFY2(command().endsWith(" /topology=grn-v1"), qPrintable(command()));
    }

    void unsavedChangesAreOneCommand()
    {
        QVERIFY(m_window->documents().applyEdit(projects::SetField{"/training/batch", {"6"}}) ==
                DocumentViews::Applied::Yes);
        QVERIFY(m_window->documents().applyEdit(projects::SetField{"/seeds/init", {"9"}}) ==
                DocumentViews::Applied::Yes);
        m_window->actions().copyUnsaved->trigger();
        QVERIFY2(command().endsWith(" /training/batch=6 /seeds/init=9"), qPrintable(command()));
        runsToTheDocument();
    }

    /// The menu of a field copies its value.
    void aFieldIsCopiedFromItsMenu()
    {
        m_window->documents().choose(SectionPlace{Section::Training});
        auto* field = visible<QLineEdit>(QStringLiteral("property:/training/learning_rate/peak"));
        QVERIFY(field);
        emit field->customContextMenuRequested({2, 2});
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        for (QAction* action : menu->actions()) {
            if (action->text() == QStringLiteral("Copy as a terminal command")) {
                action->trigger();
            }
        }
        menu->close();
        QVERIFY2(command().contains("/training/learning_rate/peak="), qPrintable(command()));
        runsToTheDocument();
    }

    /// A draft has no folder that a command could name.
    void aDraftIsNotCopied()
    {
        QVERIFY(m_window->session().start({quickExample(), {}}).ok());
        QVERIFY(m_window->documents().applyEdit(projects::SetField{"/training/batch", {"6"}}) ==
                DocumentViews::Applied::Yes);
        m_window->actions().copyChange->trigger();
        QVERIFY(command().isEmpty());
        QVERIFY(m_window->findChild<Banner*>()->text().contains("Save the project first"));
    }

private:
    [[nodiscard]] static QString command() { return QApplication::clipboard()->text(); }

    /// Applies the edit, runs the command that is copied for it, compares the documents, and saves.
    void change(const projects::Edit& edit)
    {
        QVERIFY(m_window->documents().applyEdit(edit) == DocumentViews::Applied::Yes);
        m_window->actions().copyChange->trigger();
        runsToTheDocument();
        QVERIFY(m_window->session().save().ok());
    }

    void runsToTheDocument()
    {
        QVERIFY(command().startsWith("residua-cli set "));
        QProcess shell;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PATH", QStringLiteral(RESIDUA_CLI_FOLDER ":") + environment.value("PATH"));
        shell.setProcessEnvironment(environment);
        shell.start("sh", {"-c", command()});
        QVERIFY(shell.waitForFinished(tests::kPatience));
        QVERIFY2(shell.exitCode() == 0, shell.readAllStandardError().constData());
        const auto written = projects::loadProject(m_project);
        QVERIFY2(written.ok(), written ? "" : written.error().text().c_str());
        QVERIFY2(written->project == project(), qPrintable(command()));
    }
};

RESIDUA_TEST_IN(QApplication, TestCopyCommands)
#include "tst_copy_commands.moc"
