// SPDX-License-Identifier: GPL-3.0-or-later
// Commands, topologies and fields found by typing, and the keys of Undo in a field.
#include "app/actions/window_actions.h"
#include "app/inspector/inspector.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "projects/schema/fields.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QLineEdit>
#include <QTreeView>

#include <map>

using namespace residua;
using namespace residua::app;

class TestFinding : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        projects::Project project = quickExample();
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        mix.sources = projects::ExplicitSources{{{0, 1}, {1, 2}, {2, 3}}}; // no preset's
        m_project = newProject(project);
        QVERIFY(!m_project.empty());
        openWindow();
    }

    void cleanup() { m_window.reset(); }

    void anyCommandIsFoundByItsName()
    {
        m_window->openProject(m_project);
        m_window->documents().choose(SectionPlace{Section::Topology});
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        auto* search = m_window->findChild<QLineEdit*>(QStringLiteral("commandSearch"));
        QVERIFY(search->isVisible() && search->hasFocus());
        QTest::keyClicks(search, "preset back"); // in any order
        QTest::keyClick(search, Qt::Key_Return);
        QVERIFY(!search->isVisible());
        QVERIFY(!m_window->actions().backToPreset->isEnabled());
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        QTest::keyClick(search, Qt::Key_Escape);
        QVERIFY(!search->isVisible());
    }

    void topologiesAndFieldsAreFoundToo()
    {
        m_window->openProject(m_project);
        auto* search = m_window->findChild<QLineEdit*>(QStringLiteral("commandSearch"));
        auto* rows = m_window->findChild<QWidget*>(QStringLiteral("commandPalette"))->findChild<QTreeView*>();
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        QTest::keyClicks(search, "topology denseformer");
        QVERIFY2(noteOf(*rows).startsWith("parameters +"), qPrintable(noteOf(*rows)));
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(QString::fromStdString(project().stack().topology.preset), QString("denseformer"));
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        QTest::keyClicks(search, "training batch");
        QVERIFY(noteOf(*rows).startsWith(QString::number(project().training.batch)));
        QTest::keyClick(search, Qt::Key_Return);
        QVERIFY(field("property:/training/batch")->hasFocus());
    }

    /// By title or by key: those of the schedule, of nodes and of layers too. Enter moves the cursor into the field.
    void everyFieldIsFound_data()
    {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QString>("field");
        QTest::newRow("by its key") << "training.learning_rate.peak"
                                    << "property:/training/learning_rate/peak";
        QTest::newRow("by its pointer") << "/seeds/order"
                                        << "property:/seeds/order";
        QTest::newRow("of the project") << "project description"
                                        << "property:/description";
        QTest::newRow("of the schedule") << "full_model_steps"
                                         << "property:/schedule/full_model_steps";
        QTest::newRow("of a node") << "linear weight name"
                                   << "property:name";
        QTest::newRow("of a layer") << "layer 2 block"
                                    << "property:block";
    }

    void everyFieldIsFound()
    {
        QFETCH(QString, typed);
        QFETCH(QString, field);
        m_window->openProject(m_project);
        auto* search = m_window->findChild<QLineEdit*>(QStringLiteral("commandSearch"));
        QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
        search->setText(typed);
        QTest::keyClick(search, Qt::Key_Return);
        const auto* const focus = m_window->focusWidget();
        QVERIFY2(focus && focus->objectName() == field, qPrintable(focus ? focus->objectName() : "nothing"));
    }

    /// Fields that the inspector shows can be chosen; the others are disabled and say why.
    void theFieldsOfEverySectionAreListed()
    {
        m_window->openProject(m_project);
        std::map<QString, bool> listed;
        for (const PaletteEntry& entry :
             documentEntries(m_window->session(), m_window->documents(), m_window->workspace())) {
            listed.emplace(entry.key, entry.isEnabled);
        }
        for (const projects::FieldEntry& field : projects::fieldsOf(project())) {
            const QString pointer = QString::fromStdString(field.pointer);
            const bool byPreset = pointer == "/topology/preset" || pointer == "/topology/wiring/kind"; // "/topology"
            if (isSettable(field) && !pointer.startsWith("/sweeps") && !byPreset) {
                QVERIFY2(listed.contains(pointer), qPrintable(pointer));
                const bool isIdle = field.isIdle || needsTowers(project(), field.pointer);
                QCOMPARE(listed.at(pointer), !isIdle || field.value != field.defaultValue);
            }
        }
        QVERIFY(listed.contains("/topology"));
    }

    /// A field keeps the keys of Undo only for text that is being typed.
    void undoReachesTheDocumentFromACommittedField()
    {
        m_window->openProject(m_project);
        m_window->documents().choose(SectionPlace{Section::Training});
        const std::int64_t before = project().training.steps;
        QLineEdit* steps = field("property:/training/steps");
        steps->setFocus();
        steps->selectAll();
        QTest::keyClicks(steps, "77");
        QTest::keyClick(steps, Qt::Key_Z, Qt::ControlModifier); // of the text alone
        QCOMPARE(project().training.steps, before);
        steps->selectAll();
        QTest::keyClicks(steps, "77");
        QTest::keyClick(steps, Qt::Key_Return);
        QCOMPARE(project().training.steps, std::int64_t(77));
        QTest::keyClick(steps, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(project().training.steps, before);
        QTest::keyClick(steps, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(project().training.steps, std::int64_t(77));
    }

private:
    /// Returns the text at the end of the palette's chosen row.
    static QString noteOf(const QTreeView& rows) { return rows.currentIndex().siblingAtColumn(1).data().toString(); }

    QLineEdit* field(const QString& name) const { return visible<QLineEdit>(name); }
};

RESIDUA_TEST_IN(QApplication, TestFinding)
#include "tst_finding.moc"
