// SPDX-License-Identifier: GPL-3.0-or-later
// The toolbar's choice of topology: by paper, searched, with its price.
#include "app/commands/topology_popup.h"
#include "projects/library/schedule_presets.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QTreeView>

using namespace residua;
using namespace residua::app;

class TestTopologyPopup : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        openWindowOn(quickLanguage());
        m_window->findChild<QComboBox*>(QStringLiteral("topologyChooser"))->showPopup();
        m_popup = m_window->findChild<TopologyPopup*>();
        QVERIFY(m_popup->isVisible());
        m_list = m_popup->findChild<QTreeView*>();
    }

    void cleanup() { m_window.reset(); }

    void topologiesAreGroupedAndPriced()
    {
        int headings = 0;
        for (int row = 0; row < m_list->model()->rowCount(); ++row) {
            headings += m_list->model()->index(row, 0).flags().testFlag(Qt::ItemIsEnabled) ? 0 : 1;
        }
        QVERIFY(headings > 3);
        QCOMPARE(m_list->model()->rowCount() - headings,
                 static_cast<int>(projects::topologyChoices(project().network).size()));
        QTRY_VERIFY(!priceOf("DeepCrossAttention").isEmpty());
        QVERIFY(priceOf("DeepCrossAttention").startsWith(QLatin1Char('+')));
        QVERIFY(m_list->currentIndex().data().toString() == "Plain residual"); // what the project has
    }

    void typingFindsATopologyAndReturnChoosesIt()
    {
        auto* search = m_popup->findChild<QLineEdit*>();
        QVERIFY(search->hasFocus());
        QTest::keyClicks(search, QStringLiteral("crossattention"));
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(project().stack().topology.preset, std::string("dca"));
        QVERIFY(!m_popup->isVisible());
        QTRY_VERIFY(m_window->workspace().canvas().surface()->hasFocus());
    }

    void escapeChangesNothing()
    {
        const projects::Project before = project();
        QTest::keyClicks(m_popup->findChild<QLineEdit*>(), QStringLiteral("dca"));
        QTest::keyClick(m_popup->findChild<QLineEdit*>(), Qt::Key_Escape);
        QVERIFY(!m_popup->isVisible());
        QVERIFY(project() == before);
    }

private:
    QString priceOf(const QString& title) const
    {
        const QModelIndexList found =
            m_list->model()->match(m_list->model()->index(0, 0), Qt::DisplayRole, title, 1, Qt::MatchExactly);
        return found.isEmpty() ? QString() : found.front().siblingAtColumn(1).data().toString();
    }

    TopologyPopup* m_popup = nullptr;
    QTreeView* m_list = nullptr;
};

RESIDUA_TEST_IN(QApplication, TestTopologyPopup)
#include "tst_topology_popup.moc"
