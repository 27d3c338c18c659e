// SPDX-License-Identifier: GPL-3.0-or-later
// A model that is imported from the window, and dialogs in which a text appears.
#include "app/engine/engine_bridge.h"
#include "app/runs/weights_dialog.h"
#include "app/start/import_dialog.h"
#include "tests/app/window_harness.h"
#include "tests/engine/compute/queries/model_folder.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDir>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTreeWidget>

using namespace residua;
using namespace residua::app;

class TestImportDialog : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        tests::ModelFolder(tests::modelCases()["llama"].toObject()).write(folder("tiny-llama"));
        openWindow();
        m_window->actions().import->trigger();
        m_dialog = m_window->findChild<ImportDialog*>();
        QVERIFY(m_dialog && QTest::qWaitForWindowExposed(m_dialog));
    }
    void cleanup() { m_window.reset(); }

    /// The project is named after the folder, whose field has the focus. Its name is empty until a folder is chosen.
    void theFolderNamesTheProject()
    {
        QCOMPARE(m_dialog->focusWidget(), line("importFolder"));
        QCOMPARE(line("importName")->text(), QString());
        QVERIFY(!button("importGo")->isEnabled());
        QTest::keyClicks(line("importFolder"), m_folder->filePath("tiny-llama"));
        QCOMPARE(line("importName")->text(), QString("tiny-llama"));
        QVERIFY(button("importGo")->isEnabled());
        line("importName")->selectAll();
        QTest::keyClicks(line("importName"), "mine");
        line("importFolder")->clear();
        QCOMPARE(line("importName")->text(), QString("mine"));
    }

    /// The dialog reports the cancellation once the engine has confirmed it. The import can then start again.
    void cancelledImportLeavesNoFiles()
    {
        line("importFolder")->setText(m_folder->filePath("tiny-llama"));
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        QVERIFY(!button("importGo")->isEnabled());
        QTest::keyClick(m_dialog, Qt::Key_Escape);
        auto* problem = m_dialog->findChild<QLabel*>(QStringLiteral("importReason"));
        QVERIFY(!problem->isVisible()); // the engine has not answered
        QTRY_VERIFY(problem->isVisible());
        if (problem->text().contains("tiny-llama")) {
            QSKIP("the import was complete before the key was pressed");
        }
        QVERIFY2(problem->text().contains("nothing of it is left"), qPrintable(problem->text()));
        QCOMPARE(QDir(m_folder->filePath("Residua")).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
                 QStringList());
        QVERIFY(m_dialog->isVisible());
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        QTRY_VERIFY(m_window->session().isOpen());
        QCOMPARE(m_window->session().directory(), folder("Residua") / "tiny-llama");
        QVERIFY(m_window->bannerText().contains("resume, fork or retrofit"));
    }

    /// A single file is for the open project, in the dialog that shows what of it fits.
    void aFileGoesOntoTheOpenProject()
    {
        line("importFolder")->setText(m_folder->filePath("tiny-llama"));
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        QTRY_VERIFY(m_window->session().isOpen() && !m_dialog);

        m_window->actions().import->trigger();
        m_dialog = m_window->findChild<ImportDialog*>();
        QVERIFY(m_dialog && QTest::qWaitForWindowExposed(m_dialog));
        line("importFolder")->setText(m_folder->filePath("tiny-llama/model.safetensors"));
        QVERIFY(button("importGo")->isEnabled() && !line("importName")->isEnabled());
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        QTRY_VERIFY(!m_dialog);
        QPointer<WeightsDialog> onto = m_window->findChild<WeightsDialog*>();
        QVERIFY(onto && QTest::qWaitForWindowExposed(onto));
        auto* table = onto->findChild<QTreeWidget*>(QStringLiteral("weightsTable"));
        auto* go = onto->findChild<QPushButton*>(QStringLiteral("weightsGo"));
        QTest::mouseClick(go, Qt::LeftButton);
        QTRY_VERIFY(table->isVisible());
        QVERIFY(table->topLevelItemCount() > 10);
        for (int i = 0; i < table->topLevelItemCount(); ++i) {
            QCOMPARE(table->topLevelItem(i)->text(2), QString("fits"));
        }
        const QDir runs(m_folder->filePath("Residua/tiny-llama/runs"));
        QCOMPARE(runs.entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), 1);
        QTest::mouseClick(go, Qt::LeftButton);
        QTRY_VERIFY(!onto);
        QCOMPARE(runs.entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), 2);
        QVERIFY2(m_window->bannerText().contains("resume, fork or retrofit"), qPrintable(m_window->bannerText()));
    }

    /// The list has a row for each mismatch. The message shows only the first few.
    void allThatDoesNotFitIsListed()
    {
        QFile config(m_folder->filePath("tiny-llama/config.json"));
        QVERIFY(config.open(QIODevice::ReadWrite));
        QJsonObject said = QJsonDocument::fromJson(config.readAll()).object();
        said["num_hidden_layers"] = said["num_hidden_layers"].toInt() + 1;
        QVERIFY(config.resize(0) && config.seek(0));
        config.write(QJsonDocument(said).toJson());
        config.close();
        line("importFolder")->setText(m_folder->filePath("tiny-llama"));
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        auto* table = m_dialog->findChild<QTreeWidget*>(QStringLiteral("importTable"));
        QTRY_VERIFY(table->isVisible());
        int missing = 0;
        for (int i = 0; i < table->topLevelItemCount(); ++i) { // notes go first
            missing += table->topLevelItem(i)->text(0).startsWith("tensor is missing: ") ? 1 : 0;
        }
        QCOMPARE(missing, 9); // of a layer
        QVERIFY(table->topLevelItem(table->topLevelItemCount() - 1)->text(0).startsWith("tensor is missing: "));
    }

    /// Data may be a large folder, so they are not read on the GUI thread.
    void dataAreLookedAtInTheBackground()
    {
        line("importFolder")->setText(m_folder->filePath("tiny-llama"));
        QVERIFY(QDir(m_folder->path()).mkdir("empty"));
        line("importData")->setText(m_folder->filePath("no/../empty"));
        auto* problem = m_dialog->findChild<QLabel*>(QStringLiteral("importReason"));
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        QVERIFY(!problem->isVisible() && !button("importGo")->isEnabled());
        QTRY_VERIFY(problem->isVisible());
        QVERIFY2(problem->text().contains(m_folder->filePath("empty")), qPrintable(problem->text()));
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        QTest::keyClick(m_dialog, Qt::Key_Escape);
        QVERIFY(m_dialog->isVisible() && !problem->isVisible());
        QTRY_VERIFY(problem->isVisible());
        QVERIFY2(problem->text().contains("nothing of it is left"), qPrintable(problem->text()));
        QFile tokens(m_folder->filePath("tokens.bin"));
        QVERIFY(tokens.open(QIODevice::WriteOnly));
        tokens.write(QByteArray("\1\0\2\0", 4).repeated(1000));
        tokens.close();
        line("importData")->setText(tokens.fileName());
        QVERIFY(!problem->isVisible()); // it was about other data
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        QTRY_VERIFY2(m_window->session().isOpen(), qPrintable(problem->text()));
    }

    void dataFieldListsTheSupportedFormats()
    {
        const QString hint = line("importData")->toolTip();
        for (const char* kind : {"JSON Lines", "compressed", "Parquet", ".bin", "folder"}) {
            QVERIFY2(hint.contains(kind), kind);
        }
    }

    /// An import that is complete before the engine handles its cancellation.
    void importCompletedDespiteCancellingIsNamed()
    {
        EngineBridge bridge;
        ImportDialog dialog(bridge, folder("made"));
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.setFolder(m_folder->path()); // no model
        auto* problem = dialog.findChild<QLabel*>(QStringLiteral("importReason"));
        auto* begin = dialog.findChild<QPushButton*>(QStringLiteral("importGo"));
        begin->click();
        QTRY_VERIFY(!problem->text().isEmpty());
        QSignalSpy imported(&dialog, &ImportDialog::imported);
        begin->click();
        dialog.reject();
        engine::ImportReady ready;
        ready.tag = engine::QueryTag{2};
        ready.projectDirectory = "/somewhere/made";
        bridge.dispatch(ready);
        QVERIFY2(problem->text().contains("/somewhere/made"), qPrintable(problem->text()));
        QCOMPARE(imported.count(), 0);
        QVERIFY(begin->isEnabled());
        const QString said = problem->text();
        ready.projectDirectory = "/somewhere/else";
        bridge.dispatch(ready); // the query has been answered
        QCOMPARE(problem->text(), said);
    }

    void aWindowThatIsClosedEndsTheImport()
    {
        line("importFolder")->setText(m_folder->filePath("tiny-llama"));
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        m_window.reset();
        QVERIFY(!m_dialog);
    }

    /// A wrapped message does not shrink the widgets above it.
    void aReasonHasRoom()
    {
        line("importFolder")->setText(m_folder->path()); // no model
        const int before = line("importName")->height();
        QTest::mouseClick(button("importGo"), Qt::LeftButton);
        auto* problem = m_dialog->findChild<QLabel*>(QStringLiteral("importReason"));
        QTRY_VERIFY(problem->isVisible());
        problem->setText(QString("it cannot be imported. ").repeated(30));
        QTRY_VERIFY(problem->height() >= problem->heightForWidth(problem->width()));
        QCOMPARE(line("importName")->height(), before);
    }

private:
    [[nodiscard]] QLineEdit* line(const char* name) const
    {
        return m_dialog->findChild<QLineEdit*>(QLatin1String(name));
    }
    [[nodiscard]] QPushButton* button(const char* name) const
    {
        return m_dialog->findChild<QPushButton*>(QLatin1String(name));
    }

    QPointer<ImportDialog> m_dialog;
};

RESIDUA_TEST_IN(QApplication, TestImportDialog)
#include "tst_import_dialog.moc"
