// SPDX-License-Identifier: GPL-3.0-or-later
// One's own data at the first try: a folder of pictures, a table of labels, a plain text, until the result is seen.
#include "app/inspector/problems_view.h"
#include "app/runs/samples_panel.h"
#include "app/start/new_project_dialog.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "projects/nodes/example_schema.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/runs/loss_view.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QDropEvent>
#include <QFileInfo>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QSplitter>
#include <QTextBrowser>
#include <QToolTip>
#include <QUrl>

#include <qcustomplot.h>

#include <fstream>

using namespace residua;
using namespace residua::app;

class TestOwnData : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        openWindow({1440, 900});
    }
    void cleanup() { m_window.reset(); }

    /// A folder with a folder for each class, dropped: three outputs, a run, its accuracy and confusion, and a picture
    /// that is none of the data's.
    void picturesInThreeClasses()
    {
        drop(*m_window, pictures());
        auto* dialog = m_window->findChild<NewProjectDialog*>();
        QVERIFY(dialog);
        const auto* create = dialog->findChild<QPushButton*>("newCreate");
        QTRY_VERIFY(dialog->findChild<QComboBox*>("newData")->currentText().startsWith("Pictures"));
        QTRY_VERIFY2(create->isEnabled(), qPrintable(dialog->findChild<QLabel*>("newAmount")->text()));
        set(*dialog, {{"newDepth", 1}, {"newWidth", 16}, {"newSteps", 4}, {"newBatch", 4}});
        press(*dialog);
        QCOMPARE(std::get<projects::PictureData>(project().data.source).classes, std::int64_t{3});
        runToTheEnd();
        // The accuracy is beside the losses, and the confusion has a panel of its own name.
        auto& loss = m_window->workspace().view<visualizers::LossView>();
        QTRY_COMPARE(loss.findChildren<QCustomPlot*>().size(), qsizetype{2});
        QVERIFY(loss.findChildren<QCustomPlot*>().last()->isVisible());
        auto& confusion = m_window->workspace().view<visualizers::ConfusionView>();
        m_window->workspace().showPanelOf(confusion);
        const auto* map = confusion.findChild<QCPColorMap*>();
        QTRY_COMPARE(map->data()->keySize(), 3);
        const auto* dock = m_window->findChild<QDockWidget*>("confusionDock");
        QCOMPARE(dock->windowTitle(), QString("Confusion"));
        // A picture of one's own.
        auto& samples = m_window->workspace().view<SamplesPanel>();
        m_window->workspace().showPanelOf(samples);
        auto* prompt = samples.findChild<QLineEdit*>("samplePrompt");
        QTRY_VERIFY(prompt->isEnabled() && samples.findChild<QPushButton*>("samplePicture")->isVisible());
        const auto* texts = samples.findChild<QTextBrowser*>("sampleTexts");
        const auto pictures = [texts] { return texts->toHtml().count("<img "); };
        QTRY_VERIFY(pictures() > 0); // those of the last checkpoint, which was written out of sight
        const qsizetype heldOut = pictures();
        const QString own = m_folder->filePath("mine.png");
        QVERIFY(picture(Qt::yellow).save(own));
        drop(samples, own);
        QCOMPARE(prompt->text(), own);
        QTRY_COMPARE(pictures(), heldOut + 1);
        QVERIFY2(texts->toPlainText().contains("blue") && texts->toPlainText().contains("green"),
                 qPrintable(texts->toPlainText()));
        prompt->clear(); // the held-out pictures besides; the own one stays
        samples.sample();
        QTRY_COMPARE(pictures(), 2 * heldOut + 1);
        QVERIFY2(texts->toPlainText().contains(QChar(u'✓')) || texts->toPlainText().contains(QChar(u'✗')),
                 qPrintable(texts->toPlainText()));
        drop(samples, m_folder->filePath("labels.csv")); // does not exist
        const auto* state = samples.findChild<QLabel*>("sampleState");
        QTRY_VERIFY2(state->text().contains("labels.csv"), qPrintable(state->text()));
        prompt->clear();
        QVERIFY2(!state->text().contains("labels.csv"), qPrintable(state->text()));
    }

    void aTableWithThreeLabels_data()
    {
        QTest::addColumn<QByteArray>("head");
        QTest::newRow("the usual columns") << QByteArray("text,label");
        QTest::newRow("columns of other names") << QByteArray("review,stars");
    }
    void aTableWithThreeLabels()
    {
        QFETCH(QByteArray, head);
        const QString table = m_folder->filePath("labels.csv");
        {
            std::ofstream out(table.toStdString());
            out << head.toStdString() << "\n";
            for (int i = 0; i < 60; ++i) {
                out << "the text number " << i << "," << (i % 3 == 0 ? "good" : i % 3 == 1 ? "bad" : "fair") << "\n";
            }
        }
        NewProjectDialog* dialog = open();
        choose(*dialog, "Labelled text");
        drop(*dialog->findChild<QLineEdit*>("newPath"), table);
        const QList<QByteArray> columns = head.split(',');
        type(*dialog->findChild<QLineEdit*>("newKey"), columns.front());
        type(*dialog->findChild<QLineEdit*>("newLabel"), columns.back());
        const auto* create = dialog->findChild<QPushButton*>("newCreate");
        QTRY_VERIFY2(create->isEnabled(), qPrintable(dialog->findChild<QLabel*>("newAmount")->text()));
        set(*dialog, {{"newDepth", 1}, {"newWidth", 16}, {"newSteps", 4}, {"newBatch", 4}, {"newSequence", 16}});
        press(*dialog);
        QCOMPARE(std::get<projects::LabelledTextData>(project().data.source).classes, std::int64_t{3});
        runToTheEnd();
        // The held-out texts with their classes, then a text of one's own, and the texts again: all keep what they
        // show.
        auto& samples = m_window->workspace().view<SamplesPanel>();
        m_window->workspace().showPanelOf(samples);
        const auto* texts = samples.findChild<QTextBrowser*>("sampleTexts");
        auto* prompt = samples.findChild<QLineEdit*>("samplePrompt");
        const auto shown = [&] { return texts->toPlainText().count("the text number"); };
        const auto judged = [&] {
            return texts->toPlainText().count(QChar(u'✓')) + texts->toPlainText().count(QChar(u'✗'));
        };
        QTRY_VERIFY(shown() > 0); // of the last checkpoint, which was written out of sight
        const qsizetype one = shown();
        QCOMPARE(judged(), one);
        prompt->setText("a line of mine");
        samples.sample();
        QTRY_VERIFY2(texts->toPlainText().contains("a line of mine → "), qPrintable(texts->toPlainText()));
        QCOMPARE(shown(), one);
        QCOMPARE(judged(), one);
        prompt->clear();
        samples.sample();
        QTRY_COMPARE(shown(), 2 * one);
        QCOMPARE(judged(), 2 * one);
    }

    void aSmallBertOnAText()
    {
        const QString text = m_folder->filePath("verse.txt");
        std::ofstream(text.toStdString())
            << QByteArray("Tell me, Muse, of the man of many ways. ").repeated(80).toStdString();
        NewProjectDialog* dialog = open();
        choose(*dialog, "Text");
        dialog->findChild<QLineEdit*>("newPath")->setText(text);
        auto* recipe = dialog->findChild<QComboBox*>("newRecipe");
        recipe->setCurrentIndex(recipe->findData("small-bert"));
        set(*dialog, {{"newDepth", 2}, {"newWidth", 32}, {"newSteps", 4}, {"newBatch", 4}, {"newSequence", 32}});
        const auto* create = dialog->findChild<QPushButton*>("newCreate");
        QTRY_VERIFY2(create->isEnabled() && dialog->findChild<QLabel*>("newAmount")->text().contains("epochs"),
                     qPrintable(dialog->findChild<QLabel*>("newAmount")->text()));
        press(*dialog);
        QVERIFY2(!QString::fromStdString(project().description).contains("8 layers"), project().description.c_str());
        runToTheEnd();
        // A message about a text disappears with the text.
        auto& samples = m_window->workspace().view<SamplesPanel>();
        m_window->workspace().showPanelOf(samples);
        auto* prompt = samples.findChild<QLineEdit*>("samplePrompt");
        const auto* state = samples.findChild<QLabel*>("sampleState");
        QTRY_VERIFY2(prompt->placeholderText().contains("[MASK]"), qPrintable(prompt->placeholderText()));
        QVERIFY2(state->text().startsWith("of "), qPrintable(state->text())); // there is no text to fill
        prompt->setText("Tell me");
        samples.sample();
        QTRY_VERIFY2(state->text().contains("hides no token"), qPrintable(state->text()));
        prompt->setText("Tell me, [MASK]");
        QVERIFY2(state->text().startsWith("of "), qPrintable(state->text()));
    }

    void nothingIsCreatedWhileARedTextStands_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("path");
        QTest::newRow("a file that does not exist") << "Text"
                                                    << "nowhere.txt";
        QTest::newRow("a folder without pictures") << "Pictures"
                                                   << "no such folder";
        QTest::newRow("a table without the column") << "Labelled text"
                                                    << "table.csv";
    }
    void nothingIsCreatedWhileARedTextStands()
    {
        QFETCH(QString, kind);
        QFETCH(QString, path);
        std::ofstream(m_folder->filePath("table.csv").toStdString()) << "a,b\n1,2\n";
        NewProjectDialog* dialog = open();
        choose(*dialog, kind);
        dialog->findChild<QLineEdit*>("newPath")->setText(m_folder->filePath(path));
        const auto* amount = dialog->findChild<QLabel*>("newAmount");
        QTRY_COMPARE(amount->property("role").toString(), QString("error"));
        QVERIFY(!dialog->findChild<QPushButton*>("newCreate")->isEnabled());
    }

    /// Data are read before a project is made of them, however soon Create is pressed.
    void unreadableDataMakeNoProject()
    {
        const QString text = m_folder->filePath("t.txt");
        std::ofstream(text.toStdString()) << std::string(5000, '\xff');
        NewProjectDialog* dialog = open();
        choose(*dialog, "Text");
        dialog->findChild<QLineEdit*>("newPath")->setText(text);
        auto* create = dialog->findChild<QPushButton*>("newCreate");
        QVERIFY(create->isEnabled());
        QTest::mouseClick(create, Qt::LeftButton);
        const auto* amount = dialog->findChild<QLabel*>("newAmount");
        QTRY_VERIFY2(amount->text().contains("is not valid UTF-8"), qPrintable(amount->text()));
        QVERIFY(!create->isEnabled() && dialog->isVisible() && !m_window->session().isOpen());
    }

    /// A held-out table beside the one that is chosen is taken with it. Texts are counted without their padding.
    void theHeldOutPartBesideIsTaken_data()
    {
        QTest::addColumn<bool>("typed");
        QTest::newRow("dropped") << false;
        QTest::newRow("typed") << true;
    }
    void theHeldOutPartBesideIsTaken()
    {
        QFETCH(bool, typed);
        for (const char* name : {"train.csv", "test.csv"}) {
            std::ofstream out(m_folder->filePath(name).toStdString());
            out << "text,label\n";
            for (int i = 0; i < 10; ++i) {
                out << "ten bytes!," << (i % 2 == 0 ? "good" : "bad") << "\n";
            }
        }
        NewProjectDialog* dialog = open();
        choose(*dialog, "Labelled text");
        auto* path = dialog->findChild<QLineEdit*>("newPath");
        if (typed) {
            path->setText(m_folder->filePath("train.csv"));
        } else {
            drop(*path, m_folder->filePath("train.csv"));
        }
        const auto* amount = dialog->findChild<QLabel*>("newAmount");
        QTRY_VERIFY2(amount->text().contains("Validated on " + m_folder->filePath("test.csv")),
                     qPrintable(amount->text()));
        QTRY_VERIFY2(amount->text().contains("10 texts of 100 tokens to train on, 10 of 100 for validation"),
                     qPrintable(amount->text()));
        press(*dialog);
        QCOMPARE(std::get<projects::LabelledTextData>(project().data.source).validationPath,
                 m_folder->filePath("test.csv").toStdString());
    }

    /// Reasons that would stop the run are among the problems before it.
    void problemsAndRunUseOneCheck()
    {
        projects::Project project = quickLanguage();
        project.data.source = projects::TextData{.path = folder("gone.txt").string(), .tokeniser = {}};
        openWindowOn(project, {1440, 900});
        const auto* none = m_window->findChild<QLabel*>("noProblems");
        const auto* list = m_window->findChild<QListWidget*>("problemsList");
        QTRY_VERIFY(!list->findItems("gone.txt", Qt::MatchContains).isEmpty());
        QVERIFY(none->isHidden());
        m_window->actions().run.run->trigger();
        QTRY_VERIFY2(m_window->bannerText().contains("gone.txt"), qPrintable(m_window->bannerText()));
    }

    /// The path is entered, not a URL.
    void aFileDroppedOnAFieldOfTheDataIsTaken()
    {
        projects::Project project = quickLanguage();
        project.data.source = projects::TextData{.path = folder("gone.txt").string(), .tokeniser = {}};
        openWindowOn(project, {1440, 900});
        m_window->documents().choose(SectionPlace{Section::Data});
        auto* field = visible<QLineEdit>(QStringLiteral("property:/data/source/path"));
        QVERIFY(field);
        const QString own = m_folder->filePath("own text.txt");
        drop(*field, own);
        QTRY_COMPARE(std::get<projects::TextData>(this->project().data.source).path, own.toStdString());
    }

    /// The field says what it expects, and keeps its text; nor does the window open what was meant for the field.
    void aDroppedPathOfAnotherKindIsRefused()
    {
        projects::Project project = quickLanguage();
        project.data.source = projects::TextData{.path = "kept.txt", .tokeniser = {}};
        openWindowOn(project, {1440, 900});
        m_window->documents().choose(SectionPlace{Section::Data});
        auto* field = visible<QLineEdit>(QStringLiteral("property:/data/source/path"));
        QVERIFY(field);
        const QString single = m_folder->filePath("one.png");
        QVERIFY(picture(Qt::red).save(single));
        const std::filesystem::path run = folder("run");
        std::filesystem::create_directories(run);
        std::ofstream(run / "run.json") << "{}";
        for (const auto& [path, kind] : {std::pair{QString::fromStdString(m_project.string()), "a project"},
                                         {QString::fromStdString(run.string()), "a run"},
                                         {single, "a picture"}}) {
            drop(*field, path);
            QCOMPARE(QToolTip::text(), QString("%1 is %2; expected data: a file, or a folder of such or of pictures.")
                                           .arg(QFileInfo(path).fileName(), kind));
        }
        drop(*m_window, single);
        QVERIFY2(m_window->bannerText().contains("Drop it on Samples"), qPrintable(m_window->bannerText()));
        QCOMPARE(field->text(), QString("kept.txt"));
        QCOMPARE(m_window->session().directory(), m_project);
    }

    /// Every kind of data that lies in files has both buttons.
    void filesAndFoldersCanBeChosen()
    {
        NewProjectDialog* dialog = open();
        for (const char* kind : {"Text", "JSON Lines", "Token file", "Labelled text", "Pictures"}) {
            choose(*dialog, kind);
            int buttons = 0;
            for (const QPushButton* button : dialog->findChildren<QPushButton*>()) {
                buttons += button->isVisible() && (button->text() == "File…" || button->text() == "Folder…") ? 1 : 0;
            }
            QVERIFY2(buttons == 2, kind);
        }
    }

private:
    static QImage picture(const QColor& colour)
    {
        QImage image(20, 20, QImage::Format_RGB32);
        image.fill(colour);
        return image;
    }

    /// A folder with the folders blue, green and red, of nine pictures each.
    QString pictures()
    {
        const QDir root(m_folder->filePath("pictures"));
        for (const auto& [name, colour] : {std::pair{"blue", Qt::blue}, {"green", Qt::green}, {"red", Qt::red}}) {
            root.mkpath(name);
            for (int i = 0; i < 9; ++i) {
                picture(QColor(colour).darker(100 + 5 * i)).save(root.filePath(QString("%1/%2.png").arg(name).arg(i)));
            }
        }
        return root.path();
    }

    static void drop(QWidget& target, const QString& path)
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({4, 4}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&target, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event({4, 4}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&target, &event);
    }

    static void type(QLineEdit& field, const QByteArray& text)
    {
        QVERIFY(field.isVisible());
        field.setFocus();
        field.selectAll();
        QTest::keyClicks(&field, QString::fromLatin1(text));
    }

    static void choose(NewProjectDialog& dialog, const QString& beginning)
    {
        auto* box = dialog.findChild<QComboBox*>("newData");
        box->setCurrentIndex(box->findText(beginning, Qt::MatchStartsWith));
    }

    static void set(NewProjectDialog& dialog, std::initializer_list<std::pair<const char*, int>> numbers)
    {
        for (const auto& [name, number] : numbers) {
            dialog.findChild<QSpinBox*>(name)->setValue(number);
        }
    }

    void press(NewProjectDialog& dialog)
    {
        auto* button = dialog.findChild<QPushButton*>("newCreate");
        QTRY_VERIFY(button->isEnabled());
        QTest::mouseClick(button, Qt::LeftButton);
        QTRY_VERIFY(m_window->session().isOpen());
    }

    /// No problem is told, and the run does not fail.
    void runToTheEnd()
    {
        const auto* none = m_window->findChild<QLabel*>("noProblems");
        QTRY_VERIFY2(none->text() == "None: this project trains." && none->isVisible(), qPrintable(none->text()));
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QVERIFY2(ended.front().front().value<engine::RunEnded>().status == engine::RunStatus::Finished,
                 qPrintable(m_window->bannerText()));
    }

    NewProjectDialog* open()
    {
        QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier);
        auto* dialog = m_window->findChild<NewProjectDialog*>();
        return dialog && QTest::qWaitForWindowExposed(dialog) ? dialog : nullptr;
    }
};

RESIDUA_TEST_IN(QApplication, TestOwnData)
#include "tst_own_data.moc"
