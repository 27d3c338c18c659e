// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/engine/engine_bridge.h"
#include "app/start/import_dialog.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDir>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

using namespace residua;
using namespace residua::app;

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
};

RESIDUA_TEST_IN(QApplication, TestImportDialog)
#include "tst_import_dialog.moc"
