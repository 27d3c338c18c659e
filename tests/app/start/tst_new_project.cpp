// SPDX-License-Identifier: GPL-3.0-or-later
// The dialog of a new project, and the project that it makes.
#include "app/engine/background.h"
#include "app/start/asked_data.h"
#include "app/start/new_project_dialog.h"
#include "projects/check/validate.h"
#include "projects/commands/new_project.h"
#include "projects/cost/cost.h"
#include "projects/schema/fields.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTextBrowser>
#include <QThreadPool>
#include <QTimer>

#include <limits>
#include <utility>

using namespace residua;
using namespace residua::app;

class TestNewProject : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        openWindow();
    }

    void cleanup() { m_window.reset(); }

    void everyKindOfDataMakesASoundProject()
    {
        const projects::Source sources[] = {projects::SyntheticLanguage{}, projects::LinearRegression{},
                                            projects::LowRankRegression{}, projects::BooleanPolynomial{}};
        for (const projects::Source& source : sources) {
            const auto project = projects::projectFrom(projects::proposalFor(source));
            QVERIFY(project.ok());
            QVERIFY2(!projects::hasErrors(projects::validate(*project)), project->name.c_str());
            QCOMPARE(project->data.source.index(), source.index());
        }
    }

    void sizesAndTopologyAreThoseThatWereAskedFor()
    {
        projects::NewProject wanted;
        wanted.name = "Mine";
        wanted.depth = 5;
        wanted.width = 48; // the preset's heads do not divide it
        wanted.topology = "dca";
        wanted.steps = 20;
        const auto project = projects::projectFrom(wanted);
        QVERIFY(project.ok());
        QVERIFY(!projects::hasErrors(projects::validate(*project)));
        QCOMPARE(project->name, std::string("Mine"));
        QCOMPARE(project->network.depth(), std::int64_t{5});
        QCOMPARE(project->stack().width, std::int64_t{48});
        QCOMPARE(project->stack().topology.preset, std::string("dca"));
        QVERIFY(project->training.learningRate.warmupSteps <= 20);
        wanted.topology = "no such";
        QVERIFY(projects::projectFrom(wanted).error().text().find("no such") != std::string::npos);
        wanted.topology = "plain";
        wanted.depth = 0;
        QCOMPARE(projects::projectFrom(wanted).error().place, std::string("depth"));
    }

    /// A field that the user has not filled in yet is not shown as an error.
    void emptyFieldsAreNotErrors()
    {
        NewProjectDialog* dialog = open();
        const auto* problem = dialog->findChild<QLabel*>("newProblem");
        auto* kind = dialog->findChild<QComboBox*>("newData");
        for (int i = 0; i < kind->count(); ++i) {
            kind->setCurrentIndex(i);
            QVERIFY2(problem->isHidden() || problem->property("role") == "muted", qPrintable(kind->currentText()));
            QCOMPARE(dialog->findChild<QPushButton*>("newCreate")->isEnabled(), problem->isHidden());
        }
    }

    /// A recipe that accepts the chosen data sets the sizes and the topology.
    void recipesAreOfferedForTheirData()
    {
        NewProjectDialog* dialog = open();
        auto* recipe = child<QComboBox>(*dialog, "newRecipe");
        chooseData(*dialog, "Linear regression");
        QVERIFY(!recipe->isVisible());
        chooseData(*dialog, "Pictures");
        QVERIFY(recipe->isVisible());
        QVERIFY(recipe->findData("vit-ti16") > 0 && recipe->findData("vit-b16") > 0);
        recipe->setCurrentIndex(recipe->findData("dca-vit-s16"));
        QCOMPARE(child<QSpinBox>(*dialog, "newWidth")->value(), 384);
        QCOMPARE(child<QComboBox>(*dialog, "newTopology")->currentData().toString(), QString("dca"));
        chooseData(*dialog, "Text");
        QCOMPARE(recipe->currentIndex(), 0);
        QVERIFY(recipe->findData("raptr-bert-base") > 0 && recipe->findData("dca-vit-s16") < 0);
    }

    void picturesAndNumbersArePreviewed()
    {
        NewProjectDialog* dialog = open();
        const auto* preview = child<QTextBrowser>(*dialog, "newPreview");
        chooseData(*dialog, "Drawn pictures");
        QTRY_COMPARE(preview->toHtml().count("<img "), qsizetype{12});
        chooseData(*dialog, "Linear regression");
        QTRY_COMPARE(preview->toHtml().count("<img "), qsizetype{0});
        QTRY_COMPARE(preview->toHtml().count("<tr>"), qsizetype{12});
    }

    void aProjectIsNamedByItsData_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("name");
        QTest::newRow("a folder") << "/data/flowers"
                                  << "flowers";
        QTest::newRow("a folder with a slash") << "/data/flowers/"
                                               << "flowers";
        QTest::newRow("a training part") << "/data/flowers/train"
                                         << "flowers";
        QTest::newRow("a file") << "/data/verse.v2.txt"
                                << "verse.v2";
        QTest::newRow("a compressed file") << "wiki.jsonl.gz"
                                           << "wiki";
        QTest::newRow("a training file alone") << "train.csv"
                                               << "train";
        QTest::newRow("nothing yet") << ""
                                     << "";
    }
    void aProjectIsNamedByItsData()
    {
        QFETCH(QString, path);
        QFETCH(QString, name);
        QCOMPARE(nameOfData(projects::TextData{.path = path.toStdString(), .tokeniser = {}}), name);
        projects::MixtureData mixture;
        mixture.parts.resize(2);
        mixture.parts.front().path = path.toStdString();
        QCOMPARE(nameOfData(mixture), name);
    }

    /// Until the user enters a name, and with a number if a recent project has it.
    void theNameFollowsTheDataUntilItIsTyped()
    {
        QCOMPARE(newName("my flowers", {"corpus", "my-flowers", "my-flowers-2"}), QString("my flowers 3"));
        NewProjectDialog* dialog = open();
        auto* name = child<QLineEdit>(*dialog, "newName");
        chooseData(*dialog, "Linear regression");
        QCOMPARE(name->text(), QString("Linear regression"));
        chooseData(*dialog, "Text");
        child<QLineEdit>(*dialog, "newPath")->setText("/nowhere/verse.txt");
        QCOMPARE(name->text(), QString("verse"));
        name->selectAll();
        QTest::keyClicks(name, "mine");
        child<QLineEdit>(*dialog, "newPath")->setText("/nowhere/prose.txt");
        QCOMPARE(name->text(), QString("mine"));
        name->selectAll();
        QTest::keyClick(name, Qt::Key_Delete);
        child<QLineEdit>(*dialog, "newPath")->setText("/nowhere/verse.txt");
        QCOMPARE(name->text(), QString("verse"));
    }

    /// Each number has exactly the range that the document allows.
    void numbersHaveTheRangesOfTheSchema()
    {
        NewProjectDialog* dialog = open();
        const auto range = [&](const char* name) {
            const auto* box = child<QSpinBox>(*dialog, name);
            return std::pair(box->minimum(), box->maximum());
        };
        QVERIFY(range("newDepth") == std::pair(1, static_cast<int>(projects::kMaxLayers)));
        QVERIFY(range("newVocabulary") == std::pair(2, 10'000'000));
        QVERIFY(range("newBatch") == std::pair(1, 10'000'000));
        QVERIFY(range("newWidth") == std::pair(1, 1'000'000));
        QVERIFY(range("newSteps") == std::pair(1, std::numeric_limits<int>::max()));
    }

    /// The dialog offers every source and tokeniser of the schema, with the fields of the chosen source.
    void everySourceAndTokeniserIsOffered()
    {
        NewProjectDialog* dialog = open();
        const std::pair<const char*, const char*> boxes[] = {{"newData", "/data/source/kind"},
                                                             {"newTokeniser", "/data/source/tokeniser/kind"}};
        for (const auto& [name, pointer] : boxes) {
            const auto field = projects::fieldOfSchema(pointer).value();
            const auto* box = child<QComboBox>(*dialog, name);
            QCOMPARE(box->count(), static_cast<int>(field.choices.size()));
            QCOMPARE(box->currentIndex(), static_cast<int>(std::get<std::int64_t>(field.defaultValue)));
            for (int i = 0; i < box->count(); ++i) {
                const auto title = projects::headline(field.choices[static_cast<std::size_t>(i)].title);
                QVERIFY2(box->itemText(i).startsWith(QString::fromStdString(title)), qPrintable(box->itemText(i)));
            }
        }
        const auto asks = [&](const char* data) {
            chooseData(*dialog, data);
            QStringList shown;
            for (const char* name : {"newPath", "newKey", "mixtureEditor", "newTokeniser", "newVocabulary"}) {
                if (child<QWidget>(*dialog, name)->isVisible()) {
                    shown << QString(name);
                }
            }
            return shown.join(QLatin1Char(' '));
        };
        QCOMPARE(asks("Text"), QString("newPath newTokeniser"));
        QCOMPARE(asks("JSON Lines"), QString("newPath newKey newTokeniser"));
        QCOMPARE(asks("Mixture"), QString("mixtureEditor newTokeniser"));
        QCOMPARE(asks("Token file"), QString("newPath newVocabulary"));
        QCOMPARE(asks("Synthetic"), QString());
        QVERIFY(child<QSpinBox>(*dialog, "newSequence")->isVisible());
        QCOMPARE(asks("Linear regression"), QString());
        QVERIFY(!child<QSpinBox>(*dialog, "newSequence")->isVisible());
        chooseData(*dialog, "Text");
        child<QComboBox>(*dialog, "newTokeniser")->setCurrentIndex(1); // characters, whose number is asked for
        QVERIFY(child<QSpinBox>(*dialog, "newVocabulary")->isVisible());
    }

    /// The user presses Ctrl+N, chooses a text file, types two sizes and presses Return.
    void aTextFileBecomesAProject()
    {
        QFile file(m_folder->filePath("verse.txt"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray("Tell me, Muse, of the man of many ways. ").repeated(80));
        file.close();
        NewProjectDialog* dialog = open();
        chooseData(*dialog, "Text");
        auto* path = child<QLineEdit>(*dialog, "newPath");
        QVERIFY(path->isVisible());
        QTest::keyClicks(path, file.fileName());
        auto* amount = child<QLabel>(*dialog, "newAmount");
        QTRY_VERIFY2(amount->text().contains("vocabulary of 256"), qPrintable(amount->text()));
        QVERIFY(amount->text().contains("epochs"));
        QVERIFY(child<QTextBrowser>(*dialog, "newPreview")->toPlainText().contains("Muse"));
        const QString before = amount->text();
        child<QSpinBox>(*dialog, "newSteps")->setValue(1000);
        QVERIFY(amount->text() != before); // the epochs follow at once
        const QString cost = child<QLabel>(*dialog, "newTotal")->text();
        child<QSpinBox>(*dialog, "newDepth")->setValue(3);
        QVERIFY(child<QLabel>(*dialog, "newTotal")->text() != cost);
        QTest::mouseClick(child<QPushButton>(*dialog, "newCreate"), Qt::LeftButton);
        QTRY_VERIFY(m_window->session().isOpen());
        QCOMPARE(std::get<projects::TextData>(project().data.source).path, file.fileName().toStdString());
        QCOMPARE(project().network.depth(), std::int64_t{3});
        QCOMPARE(project().training.steps, std::int64_t{1000});
        QVERIFY(m_window->session().isDraft());
    }

    /// Compressed, under another key than the usual; the tokens of a file are as many as such files have.
    void everyKindOfFileIsRead()
    {
        QFile lines(m_folder->filePath("d.jsonl"));
        QVERIFY(lines.open(QIODevice::WriteOnly));
        lines.write(QByteArray("{\"body\": \"Tell me, Muse, of the man of many ways.\"}\n").repeated(80));
        lines.close();
        QFile tokens(m_folder->filePath("t.bin"));
        QVERIFY(tokens.open(QIODevice::WriteOnly));
        tokens.write(QByteArray("\x01\x02\x03\x04").repeated(800)); // 513 and 1027
        tokens.close();
        NewProjectDialog* dialog = open();
        auto* amount = child<QLabel>(*dialog, "newAmount");
        auto* key = child<QLineEdit>(*dialog, "newKey");
        chooseData(*dialog, "JSON Lines");
        QVERIFY(key->isVisible());
        child<QLineEdit>(*dialog, "newPath")->setText(lines.fileName());
        QTRY_VERIFY2(amount->text().contains("its fields are: body"), qPrintable(amount->text()));
        QCOMPARE(amount->property("role").toString(), QString("error"));
        key->setFocus();
        key->selectAll();
        QTest::keyClicks(key, "body");
        QTRY_VERIFY2(amount->text().contains("vocabulary of 256"), qPrintable(amount->text()));
        QCOMPARE(amount->property("role").toString(), QString());
        chooseData(*dialog, "Token file");
        QVERIFY(!key->isVisible());
        child<QLineEdit>(*dialog, "newPath")->setText(tokens.fileName());
        QTRY_VERIFY2(amount->text().contains("vocabulary of 50,257"), qPrintable(amount->text()));
        chooseData(*dialog, "JSON Lines");
        child<QLineEdit>(*dialog, "newPath")->setText(lines.fileName());
        QTRY_VERIFY2(amount->text().contains("vocabulary of 256"), qPrintable(amount->text()));
        QTest::mouseClick(child<QPushButton>(*dialog, "newCreate"), Qt::LeftButton);
        QTRY_VERIFY(m_window->session().isOpen());
        QCOMPARE(std::get<projects::JsonLinesData>(project().data.source).field, std::string("body"));
    }

    void missingDataFileIsNamed()
    {
        NewProjectDialog* dialog = open();
        auto* amount = child<QLabel>(*dialog, "newAmount");
        QTRY_VERIFY(amount->text().contains("vocabulary"));
        QSignalSpy due(dialog->findChild<QTimer*>(QStringLiteral("newReading")), &QTimer::timeout);
        chooseData(*dialog, "Text");
        QVERIFY(due.wait(kPatience)); // the dialog has begun to read by now what there is to read
        QVERIFY(backgroundPool().waitForDone(kPatience));
        QCoreApplication::sendPostedEvents();
        QCOMPARE(amount->text(), QString()); // nothing is named yet, so nothing is wrong
        QTest::keyClicks(child<QLineEdit>(*dialog, "newPath"), "/nowhere/at/all.txt");
        QTRY_VERIFY2(amount->text().contains("/nowhere/at/all.txt"), qPrintable(amount->text()));
    }

private:
    static void chooseData(NewProjectDialog& dialog, const char* beginning)
    {
        auto* box = child<QComboBox>(dialog, "newData");
        box->setCurrentIndex(box->findText(QString(beginning), Qt::MatchStartsWith));
    }

    NewProjectDialog* open()
    {
        QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier);
        auto* dialog = m_window->findChild<NewProjectDialog*>();
        return dialog && QTest::qWaitForWindowExposed(dialog) ? dialog : nullptr;
    }

    template <class T>
    static T* child(QWidget& dialog, const char* name)
    {
        return dialog.findChild<T*>(QLatin1String(name));
    }
};

RESIDUA_TEST_IN(QApplication, TestNewProject)
#include "tst_new_project.moc"
