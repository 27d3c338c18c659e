// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/engine/engine_bridge.h"
#include "app/start/import_dialog.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <type_traits>

using namespace residua;
using namespace residua::app;

namespace {

constexpr int kImportPatience = 60000; ///< milliseconds

} // namespace

class TestImportDialog : public QObject {
    Q_OBJECT

private slots:
    /// The folder's, until the user has one; without a folder none, and not that of where the program was started.
    void aNameIsProposedOnceThereIsAFolder()
    {
        QTemporaryDir folder;
        EngineBridge bridge;
        ImportDialog dialog(bridge, folder.path().toStdString());
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        const auto* const name = dialog.findChild<QLineEdit*>("importName");
        const auto* const begin = dialog.findChild<QPushButton*>("importBegin");
        QVERIFY(name != nullptr && begin != nullptr);
        QCOMPARE(name->text(), QString());
        QVERIFY(!begin->isEnabled());
        dialog.setFolder(folder.filePath("llama"));
        QCOMPARE(name->text(), QString("llama"));
        QVERIFY(begin->isEnabled());
        dialog.setFolder({});
        QCOMPARE(name->text(), QString());
    }

    void whatItTakesAsDataIsSaid()
    {
        QTemporaryDir folder;
        EngineBridge bridge;
        ImportDialog dialog(bridge, folder.path().toStdString());
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        const QString hint = dialog.findChild<QLineEdit*>("importData")->placeholderText();
        for (const char* kind : {".jsonl", ".gz", ".zst", ".bin", "folder"}) {
            QVERIFY2(hint.contains(kind), kind);
        }
    }

    /// Of an import that is given up, what the engine has answered.
    void isToldWhenTheEngineHasAnswered()
    {
        QTemporaryDir folder;
        EngineBridge bridge;
        ImportDialog dialog(bridge, folder.path().toStdString());
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.setFolder(folder.path()); // no model
        auto* const problem = dialog.findChild<QLabel*>(QStringLiteral("importProblem"));
        auto* const begin = dialog.findChild<QPushButton*>(QStringLiteral("importBegin"));
        QSignalSpy failed(&bridge, &EngineBridge::queryFailed);
        begin->click();
        dialog.reject();
        QVERIFY(problem->isHidden() && !begin->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(!problem->isHidden(), kImportPatience);
        QVERIFY2(problem->text().contains("nothing of it is left"), qPrintable(problem->text()));

        // The next one is complete before the engine hears that it is given up.
        const auto last = failed.first().first().value<engine::QueryFailed>().tag;
        using Number = std::underlying_type_t<engine::QueryTag>;
        QSignalSpy imported(&dialog, &ImportDialog::imported);
        begin->click();
        dialog.reject();
        engine::ImportReady ready;
        ready.tag = engine::QueryTag{static_cast<Number>(static_cast<Number>(last) + 1)};
        ready.projectDirectory = "/somewhere/made";
        emit bridge.importReady(ready);
        QVERIFY(!problem->isHidden());
        QVERIFY2(problem->text().contains("/somewhere/made"), qPrintable(problem->text()));
        QCOMPARE(imported.count(), 0);
        QVERIFY(begin->isEnabled());
    }
};

RESIDUA_TEST_IN(QApplication, TestImportDialog)
#include "tst_import_dialog.moc"
