// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/format.h"
#include "tests/support/test_program.h"

using namespace residua::app;

class TestEnglishPlurals : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QVERIFY(QCoreApplication::installTranslator(&m_plurals)); }

    void oneThingIsOne_data()
    {
        QTest::addColumn<QString>("one");
        QTest::newRow("%n runs") << "1 run";
        QTest::newRow("Queue %n runs") << "Queue 1 run";
        QTest::newRow("No stages: %n layers at every step") << "No stages: 1 layer at every step";
        QTest::newRow("%n runs were waiting in the queue.") << "1 run was waiting in the queue.";
        QTest::newRow("… and %n more") << "… and 1 more";
        QTest::newRow(" seeds") << " seed";
    }

    void oneThingIsOne()
    {
        QFETCH(QString, one);
        const char* text = QTest::currentDataTag();
        QCOMPARE(tr(text, nullptr, 1), one);
        QCOMPARE(tr(text, nullptr, 2), QString::fromUtf8(text).replace(QStringLiteral("%n"), QStringLiteral("2")));
    }

    void textsWithoutACountStay() { QCOMPARE(tr("It has its runs"), QString("It has its runs")); }

private:
    EnglishPlurals m_plurals;
};

RESIDUA_TEST_IN(QCoreApplication, TestEnglishPlurals)
#include "tst_english_plurals.moc"
