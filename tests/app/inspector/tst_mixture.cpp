// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of a mixture in the inspector and in the dialog of a new project.
#include "app/inspector/inspector.h"
#include "app/inspector/mixture_editor.h"
#include "app/start/new_project_dialog.h"
#include "app/views/document_views.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QComboBox>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QTextBrowser>
#include <QTimer>
#include <QToolButton>
#include <QUrl>

using namespace residua;
using namespace residua::app;
using projects::MixtureData;
using projects::MixturePart;

class TestMixture : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        projects::Project project = quickLanguage();
        project.data.source =
            MixtureData{{{"web.txt", "text", 57}, {"code.jsonl", "code", 19}, {"books", "text", 19}}, {}};
        openWindowOn(project);
        m_window->documents().choose(SectionPlace{Section::Data});
    }

    void cleanup() { m_window.reset(); }

    void itShowsEveryPartWithItsShare()
    {
        QCOMPARE(field("0/path")->text(), QString("web.txt"));
        QCOMPARE(field("1/field")->text(), QString("code"));
        QVERIFY(visible<QLineEdit>("property:/data/source/parts/0/field") == nullptr); // a text has none
        QVERIFY(field("2/field") != nullptr);                                          // a folder may hold JSON Lines
        QCOMPARE(share(0), QString("60 %"));
        QCOMPARE(share(1), QString("20 %"));
        QVERIFY(!visible<QLabel>("mixtureShare3"));
        // Nowhere else in the inspector, and nowhere for other data.
        QCOMPARE(m_window->findChildren<QLineEdit*>("property:/data/source/parts/0/path").size(), 1);
        m_window->documents().choose(SectionPlace{Section::Training});
        QTRY_VERIFY(!visible<MixtureEditor>("mixtureEditor"));
        m_window->documents().choose(SectionPlace{Section::Data});
        QTRY_VERIFY(visible<MixtureEditor>("mixtureEditor"));
        visible<QComboBox>("property:/data/source/kind")->setCurrentIndex(0);
        emit visible<QComboBox>("property:/data/source/kind")->activated(0);
        QTRY_VERIFY(!visible<MixtureEditor>("mixtureEditor"));
    }

    void severalDroppedTextsAreAddedAtOnce()
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile("/texts/a.txt"), QUrl::fromLocalFile("/texts/b.jsonl")});
        QDragEnterEvent enter({4, 4}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(visible<MixtureEditor>("mixtureEditor"), &enter);
        QDropEvent drop({4, 4}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(visible<MixtureEditor>("mixtureEditor"), &drop);
        QCOMPARE(parts().size(), std::size_t(5));
        QCOMPARE(parts()[4].path, std::string("/texts/b.jsonl"));
        undo();
        QCOMPARE(parts().size(), std::size_t(3));
    }

    void typingAWeightIsOneEdit()
    {
        QLineEdit* const weight = field("0/weight");
        enter(weight, "114");
        QCOMPARE(parts()[0].weight, 114.0);
        QTRY_COMPARE(share(0), QString("75 %"));
        QVERIFY(field("0/weight") == weight); // the editor stays
        undo();
        QCOMPARE(parts()[0].weight, 57.0);
        QTRY_COMPARE(share(0), QString("60 %"));
        enter(weight, "0"); // refused, and left to be mended
        QCOMPARE(parts()[0].weight, 57.0);
        QVERIFY(weight->property("invalid").toBool());
    }

    void aPartIsAddedAndRemovedInOneEditEach()
    {
        QVERIFY(visible<QPushButton>("addMixtureFiles") && visible<QPushButton>("addMixtureFolder"));
        editor().addParts({"/texts/arxiv.jsonl.gz", "/texts/wiki/"});
        QCOMPARE(parts().size(), std::size_t{5});
        QCOMPARE(parts()[3].path, std::string("/texts/arxiv.jsonl.gz"));
        QCOMPARE(parts()[3].weight, 95.0 / 3);
        QTRY_COMPARE(share(4), QString("20 %"));
        undo();
        QCOMPARE(parts().size(), std::size_t{3});
        QTRY_VERIFY(!visible<QLabel>("mixtureShare4"));
        QTest::mouseClick(visible<QToolButton>("removeMixturePart1"), Qt::LeftButton);
        QCOMPARE(parts().size(), std::size_t{2});
        QCOMPARE(parts()[1].path, std::string("books"));
        QTRY_COMPARE(share(0), QString("75 %"));
        undo();
        QCOMPARE(parts()[1].path, std::string("code.jsonl"));
        editor().addParts({QString()}); // a dialog that was closed
        QCOMPARE(parts().size(), std::size_t{3});
    }

    /// The dialog filters for the same file names as the reader of a folder of texts.
    void theDialogShowsWhatIsRead()
    {
        QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        QStringList filters;
        QTimer::singleShot(0, this, [&] {
            if (auto* const dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget())) {
                filters = dialog->nameFilters();
                dialog->reject();
            }
        });
        visible<QPushButton>("addMixtureFiles")->click();
        QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs, false);
        QCOMPARE(filters.size(), 2);
        for (const char* const pattern : {"Texts (*.txt ", " *.txt.gz ", " *.jsonl ", " *.jsonl.zst ", " *.parquet"}) {
            QVERIFY2(filters[0].contains(pattern), qPrintable(filters[0]));
        }
        QVERIFY(!filters[0].contains(".bin"));
        QCOMPARE(filters[1], QString("Any file (*)"));
        QCOMPARE(parts().size(), std::size_t{3}); // it was closed
    }

    void theLastPartCanGoAndOneComeBack()
    {
        for (int left = 2; left >= 0; --left) {
            visible<QToolButton>("removeMixturePart0")->click(); // it may not have been laid out yet
            QCOMPARE(parts().size(), static_cast<std::size_t>(left));
            QTRY_VERIFY(!visible<QToolButton>(QStringLiteral("removeMixturePart%1").arg(left)));
        }
        QVERIFY(visible<MixtureEditor>("mixtureEditor"));
        editor().addParts({"new.txt"});
        QCOMPARE(parts().front().weight, 1.0);
        QTRY_COMPARE(share(0), QString("100 %"));
    }

    /// The menu over a weight proposes a sweep of it.
    void aWeightCanBeSwept()
    {
        QSignalSpy asked(&m_window->workspace().view<Inspector>(), &Inspector::sweepRequested);
        emit field("1/weight")->customContextMenuRequested({2, 2});
        auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        menu->actions().front()->trigger();
        menu->close();
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked.front().front().value<Property>().pointer, std::string("/data/source/parts/1/weight"));
        field("1/weight")->setFocus();
        QVERIFY(m_window->workspace().view<Inspector>().focusedProperty() != nullptr);
        QTRY_VERIFY(visible<QLabel>("propertyReference"));
        QVERIFY(visible<QLabel>("propertyReference")->text().contains("RaPTr"));
    }

    void theDialogMakesOne()
    {
        for (const char* name : {"a.txt", "b.txt"}) {
            QFile file(m_folder->filePath(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(QByteArray(name).repeated(1000));
        }
        QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier);
        auto* const dialog = m_window->findChild<NewProjectDialog*>();
        QVERIFY(dialog && QTest::qWaitForWindowExposed(dialog));
        dialog->activateWindow(); // as a window manager does
        auto* const kind = dialog->findChild<QComboBox*>("newData");
        kind->setCurrentIndex(kind->findText("Mixture", Qt::MatchStartsWith));
        QVERIFY(!dialog->findChild<QPushButton*>("newCreate")->isEnabled()); // of nothing
        QVERIFY(!dialog->findChild<QLineEdit*>("newPath")->isVisible());
        auto* const editor = dialog->findChild<MixtureEditor*>("mixtureEditor");
        QVERIFY(editor->isVisible());
        editor->addParts({m_folder->filePath("a.txt"), m_folder->filePath("b.txt")});
        auto* const weight = dialog->findChild<QLineEdit*>("property:/data/source/parts/1/weight");
        weight->setFocus();
        QTRY_VERIFY(weight->hasFocus()); // else Return is the canvas's
        weight->selectAll();
        QTest::keyClicks(weight, "3");
        QTest::keyClick(weight, Qt::Key_Return); // enters the weight, and presses no button
        QVERIFY(dialog->isVisible());
        QVERIFY(!m_window->session().isDraft());
        QCOMPARE(dialog->findChild<QLabel*>("mixtureShare1")->text(), QString("75 %"));
        auto* const amount = dialog->findChild<QLabel*>("newAmount");
        QTRY_VERIFY2(amount->text().contains("b.txt: 4,500 tokens"), qPrintable(amount->text()));
        QVERIFY(dialog->findChild<QTextBrowser*>("newPreview")->toPlainText().contains(".txt"));
        QTest::mouseClick(dialog->findChild<QPushButton*>("newCreate"), Qt::LeftButton);
        QTRY_VERIFY(m_window->session().isDraft());
        QCOMPARE(parts().size(), std::size_t{2});
        QCOMPARE(parts()[1].weight, 3.0);
    }

private:
    [[nodiscard]] std::vector<MixturePart> parts() const { return std::get<MixtureData>(project().data.source).parts; }
    [[nodiscard]] QLineEdit* field(const char* below) const
    {
        return visible<QLineEdit>(QStringLiteral("property:/data/source/parts/") + QLatin1String(below));
    }
    [[nodiscard]] QString share(int part) const
    {
        const auto* const label = visible<QLabel>(QStringLiteral("mixtureShare%1").arg(part));
        return label ? label->text() : QString();
    }
    [[nodiscard]] MixtureEditor& editor() const { return *visible<MixtureEditor>(QStringLiteral("mixtureEditor")); }
    static void enter(QLineEdit* field, const char* text)
    {
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, QString::fromLatin1(text));
        QTest::keyClick(field, Qt::Key_Return);
    }
    void undo() { m_window->session().undo(); }
};

RESIDUA_TEST_IN(QApplication, TestMixture)
#include "tst_mixture.moc"
