// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/key_bindings.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

using namespace residua::app;

class TestKeyBindings : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_actions = std::make_unique<QObject>();
        m_save = make("save", QKeySequence("Ctrl+S"));
        m_fit = make("fit", QKeySequence("F"));
        m_freeze = make("freeze", QKeySequence("F"));
        m_fit->setProperty(KeyBindings::kYields, true);
    }

    void theModelIsSound()
    {
        KeyBindings keys(all());
        const QAbstractItemModelTester tester(&keys, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(keys.setData(keys.index(0, KeyBindings::Keys), QKeySequence("Ctrl+Shift+S")));
        QCOMPARE(m_save->shortcut(), QKeySequence("Ctrl+Shift+S"));
        QVERIFY(!keys.setData(keys.index(0, KeyBindings::Command), QKeySequence("Ctrl+S")));
    }

    void theTooltipSaysTheKey()
    {
        KeyBindings keys(all());
        QCOMPARE(m_save->toolTip(), QString("tip of save (Ctrl+S)"));
        keys.setKeys(0, {});
        QCOMPARE(m_save->toolTip(), QString("tip of save"));
        keys.reset(0);
        QCOMPARE(m_save->toolTip(), QString("tip of save (Ctrl+S)"));
    }

    void aClashIsToldOnBothSides()
    {
        KeyBindings keys(all());
        QVERIFY(keys.clashesOf(1).isEmpty()); // fit yields to freeze
        keys.setKeys(2, {QKeySequence("Ctrl+S")});
        QCOMPARE(keys.clashesOf(0), QList<QAction*>{m_freeze});
        QCOMPARE(keys.clashesOf(2), QList<QAction*>{m_save});
        QVERIFY(keys.index(0, KeyBindings::Clash).data().toString().contains("freeze"));
        keys.resetAll();
        QVERIFY(keys.clashesOf(0).isEmpty());
    }

    void keysAreRemembered()
    {
        const QTemporaryDir folder;
        QSettings settings(folder.filePath("settings.ini"), QSettings::IniFormat);
        KeyBindings keys(all());
        keys.setKeys(0, {QKeySequence("Ctrl+Shift+S")});
        keys.setKeys(1, {});
        keys.store(settings);
        keys.resetAll();
        keys.load(settings);
        QCOMPARE(m_save->shortcuts(), QList<QKeySequence>{QKeySequence("Ctrl+Shift+S")});
        QVERIFY(m_fit->shortcuts().isEmpty());
        QVERIFY(keys.isDefault(2));
        keys.resetAll();
        keys.store(settings);
        QVERIFY(settings.allKeys().isEmpty());
    }

private:
    QAction* make(const char* name, const QKeySequence& key)
    {
        auto* action = new QAction(QStringLiteral("&") + name, m_actions.get());
        action->setObjectName(name);
        action->setShortcut(key);
        action->setStatusTip(QStringLiteral("tip of ") + name);
        return action;
    }
    QList<QAction*> all() const { return {m_save, m_fit, m_freeze}; }

    std::unique_ptr<QObject> m_actions;
    QAction* m_save = nullptr;
    QAction* m_fit = nullptr;
    QAction* m_freeze = nullptr;
};

RESIDUA_TEST_IN(QApplication, TestKeyBindings)
#include "tst_key_bindings.moc"
