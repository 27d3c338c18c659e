// SPDX-License-Identifier: GPL-3.0-or-later
// The window for a screen reader and the keyboard: names, roles, and models that keep their promises.
#include "app/outline/outline_view.h"
#include "app/views/document_views.h"
#include "projects/shipped/examples.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSet>
#include <QTabWidget>
#include <QTableView>
#include <QToolTip>

using namespace residua;
using namespace residua::app;

class TestAccessibility : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        projects::Project project = projects::findExample("ancre-language")->project;
        openWindowOn(project, {1400, 900});
    }

    void cleanup()
    {
        m_window.reset();
        m_nameless.clear();
    }

    /// Checks every tab with every kind of selection.
    void focusableWidgetsHaveANameAndARole()
    {
        using projects::Shortcut;
        const Place places[] = {SectionPlace{Section::Data}, SectionPlace{Section::Topology},
                                SectionPlace{Section::Training}, LayersPlace{{1}}, ShortcutsPlace{{Shortcut{0, 1}}}};
        std::vector<std::pair<WorkspaceView, const Panel*>> tabs{{WorkspaceView::Depth, nullptr},
                                                                 {WorkspaceView::Matrix, nullptr},
                                                                 {WorkspaceView::Block, nullptr},
                                                                 {WorkspaceView::Schedule, nullptr}};
        for (const Panel& panel : panels()) {
            tabs.emplace_back(WorkspaceView::Depth, &panel);
        }
        for (const auto& [view, panel] : tabs) {
            m_window->workspace().arrange({.view = view, .front = panel}, m_window->size());
            for (const Place& place : places) {
                m_window->documents().choose(Place(place));
                QCoreApplication::processEvents();
                QVERIFY(findNameless() > 10);
            }
        }
        QCOMPARE(m_nameless.values().join('\n'), QString());
    }

    void theStartPageHasNamesToo()
    {
        m_window->showStartPage();
        m_window->actions().methods->trigger(); // explanations are there without a project too
        QVERIFY(findNameless() > 2);
        QCOMPARE(m_nameless.values().join('\n'), QString());
    }

    /// A name that looks like markup is shown literally, also in tooltips.
    void textIsNotReadAsMarkup()
    {
        const QString name = "<b>bold</b>";
        QVERIFY(m_window->session().perform(projects::SetField{"/name", {name.toStdString()}}).ok());
        m_window->showStartPage();
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        int seen = 0;
        for (const QLabel* label : m_window->findChildren<QLabel*>()) {
            if (label->isVisible()) {
                QVERIFY2(label->textFormat() == Qt::PlainText, qPrintable(label->text()));
                ++seen;
            }
        }
        QVERIFY(seen > 5);
        QToolTip::showText(m_window->mapToGlobal(QPoint(100, 100)), name, m_window.get());
        const QLabel* tip = nullptr;
        for (const QWidget* widget : QApplication::topLevelWidgets()) {
            tip = widget->inherits("QTipLabel") ? qobject_cast<const QLabel*>(widget) : tip;
        }
        QVERIFY(tip);
        QCOMPARE(tip->text(), name);
        QCOMPARE(tip->textFormat(), Qt::PlainText);
        QToolTip::hideText();
    }

    /// The arrow keys move in a table. A Tab for each of its cells would keep the user in it.
    void tabLeavesEveryTable()
    {
        m_window->actions().keys->trigger();
        const auto tables = m_window->findChildren<QTableView*>();
        QVERIFY(tables.size() > 3);
        for (QTableView* const table : tables) {
            table->ensurePolished();
            QVERIFY2(!table->tabKeyNavigation(), qPrintable(table->accessibleName()));
        }
    }

    /// The models are tested during edits, undo, filters and palettes. The first violation ends the test.
    void modelsKeepTheirPromises()
    {
        m_window->workspace().showCanvas(WorkspaceView::Depth);
        m_window->actions().keys->trigger(); // its table is one of them
        m_window->actions().methods->trigger();
        std::vector<std::unique_ptr<QAbstractItemModelTester>> testers;
        for (const QAbstractItemView* view : m_window->findChildren<QAbstractItemView*>()) {
            if (view->model()) {
                testers.push_back(std::make_unique<QAbstractItemModelTester>(
                    view->model(), QAbstractItemModelTester::FailureReportingMode::QtTest));
            }
        }
        QVERIFY(testers.size() > 10);

        for (const projects::TopologyPreset& preset : projects::topologyPresets(project().network.depth())) {
            const auto edit = projects::SetTopology{{preset.name, preset.wiring}};
            QVERIFY2(m_window->session().perform(edit).ok(), preset.name.c_str());
            QCoreApplication::processEvents();
        }
        projects::Network network = project().network;
        network.stack().segments.front().repeat += 2;
        QVERIFY(m_window->session().perform(projects::SetStack{network.stack().segments}).ok());
        while (m_window->session().history().canUndo()) {
            m_window->session().undo();
        }
        for (const char* field : {"paletteSearch", "commandSearch", "typingText", "helpSearch"}) {
            for (auto* search : m_window->findChildren<QLineEdit*>(QString::fromLatin1(field))) {
                for (const char* text : {"d", "dc", "nothing is named so", "1:3", ""}) {
                    search->setText(QString::fromLatin1(text));
                    emit search->textEdited(search->text());
                }
            }
        }
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        QTest::keyClicks(visible<QLineEdit>(QStringLiteral("commandSearch")), "theme");
        QTest::keyClick(visible<QLineEdit>(QStringLiteral("commandSearch")), Qt::Key_Escape);
    }

private:
    /// Returns how many widgets it has looked at.
    int findNameless()
    {
        int looked = 0;
        for (QWidget* widget : m_window->findChildren<QWidget*>()) {
            const QWidget* const parent = widget->parentWidget(); // whose name is that of its field and list
            const bool within = qobject_cast<const QComboBox*>(parent) || qobject_cast<const QAbstractSpinBox*>(parent);
            if (!widget->isVisible() || !(widget->focusPolicy() & Qt::TabFocus) || within) {
                continue;
            }
            ++looked;
            QAccessibleInterface* told = QAccessible::queryAccessibleInterface(widget);
            if (!told || told->text(QAccessible::Name).isEmpty() || told->role() == QAccessible::NoRole) {
                m_nameless << QString::fromLatin1(widget->metaObject()->className()) + ' ' + widget->objectName() +
                                  " in " + (widget->parent() ? widget->parent()->objectName() : QString());
            }
        }
        return looked;
    }

    QSet<QString> m_nameless;
};

RESIDUA_TEST_IN(QApplication, TestAccessibility)
#include "tst_accessibility.moc"
