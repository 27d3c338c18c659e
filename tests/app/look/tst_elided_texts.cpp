// SPDX-License-Identifier: GPL-3.0-or-later
// Texts that do not fit are not only cut: an ellipsis says that there is more, and the tooltip has all of it.
#include "app/look/theme.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QComboBox>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLineEdit>
#include <QTest>
#include <QToolTip>
#include <QTreeWidget>

using namespace residua;
using namespace residua::app;

class TestElidedTexts : public QObject {
    Q_OBJECT

private slots:
    void aBoxOfChoices()
    {
        const QString text = QStringLiteral("Custom, from ANCRe, ingoing and outgoing");
        QComboBox box;
        box.addItem(text);
        box.setToolTip(QStringLiteral("Help."));
        box.setFixedWidth(120);
        box.show();
        QVERIFY(QTest::qWaitForWindowExposed(&box));
        QHelpEvent help(QEvent::ToolTip, {4, 4}, box.mapToGlobal(QPoint(4, 4)));
        QCoreApplication::sendEvent(&box, &help);
        QCOMPARE(QToolTip::text(), text + QStringLiteral("\nHelp."));
        QToolTip::hideText();
        // A text that fits has only its help as a tooltip.
        box.setFixedWidth(600);
        QCoreApplication::sendEvent(&box, &help);
        QVERIFY(!QToolTip::text().contains(text));
    }

    void aPlaceholder()
    {
        const QString text = QStringLiteral("a field, such as /training/learning_rate/peak");
        QLineEdit field;
        field.setPlaceholderText(text);
        field.setToolTip(QStringLiteral("Help."));
        field.setFixedWidth(120);
        field.show();
        QVERIFY(QTest::qWaitForWindowExposed(&field));
        QHelpEvent help(QEvent::ToolTip, {4, 4}, field.mapToGlobal(QPoint(4, 4)));
        QCoreApplication::sendEvent(&field, &help);
        QCOMPARE(QToolTip::text(), text + QStringLiteral("\nHelp."));
        QToolTip::hideText();
        // A hint that fits or is hidden: only the help.
        field.setFixedWidth(600);
        QCoreApplication::sendEvent(&field, &help);
        QVERIFY(!QToolTip::text().contains(text));
        field.setFixedWidth(120);
        field.setText(QStringLiteral("/seeds/init"));
        QCoreApplication::sendEvent(&field, &help);
        QVERIFY(!QToolTip::text().contains(text));
    }

    void theHeadsOfATable()
    {
        QTreeWidget tree;
        tree.setHeaderLabels({QStringLiteral("What the project has now"), QStringLiteral("b")});
        tree.show();
        QVERIFY(QTest::qWaitForWindowExposed(&tree));
        QCOMPARE(tree.header()->textElideMode(), Qt::ElideRight);
    }

private:
    const Look m_look{ThemeKind::Light};
};

RESIDUA_TEST_IN(QApplication, TestElidedTexts)
#include "tst_elided_texts.moc"
