// SPDX-License-Identifier: GPL-3.0-or-later
// A tokeniser that is learned from the window: from the inspector, and for a new project.
#include "app/actions/open_commands.h"
#include "app/properties/place.h"
#include "app/start/new_project_dialog.h"
#include "app/start/tokeniser_dialog.h"
#include "app/views/document_views.h"
#include "engine/runs/results/run_reader.h"
#include "projects/nodes/example_schema.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QSpinBox>

using namespace residua;
using namespace residua::app;

class TestTokeniserDialog : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        projects::Project text = quickLanguage();
        text.data.source = projects::TextData{.path = "verse.txt", .tokeniser = {}};
        const auto path = newProject(text);
        writeVerse(400);
        openWindow();
        m_window->openProject(path);
        QVERIFY(m_window->session().isOpen());
        m_window->documents().choose(SectionPlace{Section::Data});
    }
    void cleanup() { m_window.reset(); }

    /// The dialog is operated by mouse and keyboard. One undo reverts the edit.
    void usingATrainedTokeniserIsOneEdit()
    {
        TokeniserDialog* dialog = open();
        QVERIFY(dialog);
        QVERIFY(place(*dialog)->text().endsWith("project/verse-bpe-8000.model"));
        child<QComboBox>(*dialog, "tokeniserKind")->setFocus();
        QTest::keyClick(child<QComboBox>(*dialog, "tokeniserKind"), Qt::Key_Down);
        typeSize(*dialog, "400");
        QVERIFY(place(*dialog)->text().endsWith("project/verse-unigram-400.model"));
        QVERIFY(!button(*dialog, "tokeniserUse")->isEnabled());
        QTest::mouseClick(button(*dialog, "tokeniserGo"), Qt::LeftButton);
        QVERIFY(!button(*dialog, "tokeniserGo")->isEnabled());
        QVERIFY(child<QProgressBar>(*dialog, "tokeniserProgress")->isVisible());
        QTRY_VERIFY(button(*dialog, "tokeniserUse")->isEnabled());
        QVERIFY(!child<QProgressBar>(*dialog, "tokeniserProgress")->isVisible());
        const QString figures = child<QLabel>(*dialog, "tokeniserFigures")->text();
        QVERIFY2(figures.startsWith("400 pieces. Over the text a token is "), qPrintable(figures));
        QVERIFY(child<QLabel>(*dialog, "tokeniserPieces")->text().startsWith(QStringLiteral("▁")));
        QVERIFY(m_window->session().project() == projectOnDisk()); // until it is taken

        QTest::keyClick(dialog, Qt::Key_Return);
        QTRY_VERIFY(!m_window->findChild<TokeniserDialog*>());
        const projects::Tokeniser wanted{projects::TokeniserKind::SentencePiece, "verse-unigram-400.model", 400};
        QCOMPARE(tokeniser(), wanted);
        QVERIFY(QFile::exists(m_folder->filePath("project/verse-unigram-400.model")));
        m_window->actions().undo->trigger();
        QVERIFY(m_window->session().project() == projectOnDisk());
        QVERIFY(!m_window->session().history().canUndo());
    }

    /// The sizes of the network follow the new vocabulary, and the network trains.
    void theNetworkHasTheNewVocabulary()
    {
        TokeniserDialog* dialog = open();
        QVERIFY(dialog);
        typeSize(*dialog, "420");
        train(*dialog);
        QVERIFY(button(*dialog, "tokeniserUse")->isEnabled());
        QTest::mouseClick(button(*dialog, "tokeniserUse"), Qt::LeftButton);
        QCOMPARE(projects::examplesOf(project().data).input().vocabulary, std::int64_t{420});
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->runs().run();
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(engine::RunReader::open(m_window->runs().runDirectory())->info()->status, engine::RunStatus::Finished);
    }

    void tooManyPiecesAreRefusedWithWhatIsPossible()
    {
        TokeniserDialog* dialog = open();
        QVERIFY(dialog);
        typeSize(*dialog, "50000");
        train(*dialog);
        const QString problem = child<QLabel>(*dialog, "tokeniserReason")->text();
        QVERIFY(child<QLabel>(*dialog, "tokeniserReason")->isVisible());
        const QRegularExpression most("verse.txt\\] is too small for so many pieces: .*at most (\\d+): ask for fewer");
        QVERIFY2(problem.contains(most), qPrintable(problem));
        QVERIFY(!button(*dialog, "tokeniserUse")->isEnabled());
        QCOMPARE(models(), QStringList());
        typeSize(*dialog, most.match(problem).captured(1));
        QVERIFY(!child<QLabel>(*dialog, "tokeniserReason")->isVisible());
        train(*dialog);
        QVERIFY(button(*dialog, "tokeniserUse")->isEnabled());
        QCOMPARE(models().size(), 1);
        typeSize(*dialog, "420"); // another is another's figures
        QVERIFY(!child<QLabel>(*dialog, "tokeniserFigures")->isVisible());
        QVERIFY(!button(*dialog, "tokeniserUse")->isEnabled());
    }

    /// During training Escape cancels the training but keeps the dialog. No file is left beside the text.
    void cancelledTrainingLeavesNoFiles()
    {
        writeVerse(60000);
        TokeniserDialog* dialog = open();
        QVERIFY(dialog);
        typeSize(*dialog, "20000");
        QTest::mouseClick(button(*dialog, "tokeniserGo"), Qt::LeftButton);
        auto* stage = child<QLabel>(*dialog, "tokeniserStage");
        QTRY_VERIFY(stage->text().startsWith("Learning") || !stage->isVisible());
        QVERIFY(stage->isVisible()); // else the text was too short for this
        QTest::keyClick(dialog, Qt::Key_Escape);
        auto* problem = child<QLabel>(*dialog, "tokeniserReason");
        QTRY_VERIFY(problem->isVisible());
        QVERIFY2(problem->text().contains("given up; nothing of it is left"), qPrintable(problem->text()));
        QCOMPARE(QDir(m_folder->filePath("project")).entryList({"verse*"}, QDir::Files), QStringList{"verse.txt"});
        QVERIFY(button(*dialog, "tokeniserGo")->isEnabled());
        QTest::keyClick(dialog, Qt::Key_Escape); // now it closes
        QTRY_VERIFY(!m_window->findChild<TokeniserDialog*>());
        QVERIFY(!m_window->session().history().canUndo());
    }

    void aWindowThatIsClosedEndsTheTraining()
    {
        writeVerse(60000);
        TokeniserDialog* dialog = open();
        QVERIFY(dialog);
        typeSize(*dialog, "20000");
        QTest::mouseClick(button(*dialog, "tokeniserGo"), Qt::LeftButton);
        m_window.reset();
        QCOMPARE(QDir(m_folder->filePath("project")).entryList({"verse*"}, QDir::Files), QStringList{"verse.txt"});
    }

    void aModelThatIsThereIsNotReplacedUnawares()
    {
        QFile model(m_folder->filePath("project/verse-bpe-420.model"));
        QVERIFY(model.open(QIODevice::WriteOnly));
        TokeniserDialog* dialog = open();
        QVERIFY(dialog);
        QVERIFY(!child<QLabel>(*dialog, "tokeniserNote")->isVisible());
        typeSize(*dialog, "420");
        QVERIFY(child<QLabel>(*dialog, "tokeniserNote")->text().contains("is replaced"));
        QVERIFY(child<QLabel>(*dialog, "tokeniserNote")->isVisible());
        place(*dialog)->selectAll();
        QTest::keyClicks(place(*dialog), m_folder->filePath("none/m.model"));
        QVERIFY(!child<QLabel>(*dialog, "tokeniserNote")->isVisible());
        typeSize(*dialog, "440");
        QCOMPARE(place(*dialog)->text(), m_folder->filePath("none/m.model")); // a name of the user's stays
        train(*dialog);
        const QString problem = child<QLabel>(*dialog, "tokeniserReason")->text();
        QVERIFY2(problem.contains("expected a folder"), qPrintable(problem));
    }

    /// Only a project with a text file has the dialog. It closes when another project opens.
    void itBelongsToATextThatIsOpen()
    {
        TokeniserDialog* dialog = open();
        QVERIFY(dialog);
        QTest::mouseClick(offer(), Qt::LeftButton); // there is one already
        QCOMPARE(m_window->findChildren<TokeniserDialog*>().size(), 1);
        QVERIFY(m_window->openCommands().openExample("plain-language").ok());
        QTRY_VERIFY(!m_window->findChild<TokeniserDialog*>());
        m_window->documents().choose(SectionPlace{Section::Data});
        QVERIFY(!offer());
    }

    /// A narrow panel cuts off widgets that are wider than itself.
    void theButtonDoesNotWidenTheInspector()
    {
        const auto* body = visible<QWidget>("inspectorBody");
        QVERIFY(body && offer());
        const int with = body->minimumSizeHint().width();
        offer()->hide();
        QCoreApplication::processEvents();
        QCOMPARE(body->minimumSizeHint().width(), with);
    }

    void aNewProjectHasOneTrained()
    {
        QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier);
        auto* create = m_window->findChild<NewProjectDialog*>();
        QVERIFY(create && QTest::qWaitForWindowExposed(create));
        auto* data = child<QComboBox>(*create, "newData");
        data->setCurrentIndex(data->findText("Text", Qt::MatchStartsWith));
        QVERIFY(!button(*create, "newTrainTokeniser")->isEnabled());
        child<QLineEdit>(*create, "newPath")->setText(m_folder->filePath("project/verse.txt"));
        QTest::mouseClick(button(*create, "newTrainTokeniser"), Qt::LeftButton);
        auto* dialog = create->findChild<TokeniserDialog*>();
        QVERIFY(dialog && QTest::qWaitForWindowExposed(dialog));
        typeSize(*dialog, "420");
        train(*dialog);
        QTest::mouseClick(button(*dialog, "tokeniserUse"), Qt::LeftButton);
        const QString model = m_folder->filePath("project/verse-bpe-420.model");
        QCOMPARE(child<QLineEdit>(*create, "newModel")->text(), model);
        QCOMPARE(child<QSpinBox>(*create, "newVocabulary")->value(), 420);
        auto* amount = child<QLabel>(*create, "newAmount");
        QTRY_VERIFY2(amount->text().contains("vocabulary of 420"), qPrintable(amount->text()));
        QTest::mouseClick(button(*create, "newCreate"), Qt::LeftButton);
        QTRY_VERIFY(m_window->session().isDraft());
        const projects::Tokeniser wanted{projects::TokeniserKind::SentencePiece, model.toStdString(), 420};
        QCOMPARE(tokeniser(), wanted);
    }

private:
    void writeVerse(int lines)
    {
        QFile file(m_folder->filePath("project/verse.txt"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        std::uint32_t state = 1;
        for (int i = 0; i < lines; ++i) {
            QByteArray line = "tell me, Muse, of the man of many ways";
            for (int word = 0; word < 4; ++word) {
                state = state * 1664525U + 1013904223U;
                line += ' ' + QByteArray::number(state >> 8, 26).replace('0', 'q');
            }
            file.write(line + '\n');
        }
    }

    [[nodiscard]] QPushButton* offer() const
    {
        return visible<QPushButton>("property:/data/source/tokeniser/kind:offer");
    }

    TokeniserDialog* open()
    {
        QPushButton* const asks = offer();
        if (!asks) {
            return nullptr;
        }
        QTest::mouseClick(asks, Qt::LeftButton);
        auto* dialog = m_window->findChild<TokeniserDialog*>();
        return dialog && QTest::qWaitForWindowExposed(dialog) ? dialog : nullptr;
    }

    /// Until there is a model or the reason why there is none.
    static void train(TokeniserDialog& dialog)
    {
        QTest::mouseClick(button(dialog, "tokeniserGo"), Qt::LeftButton);
        QTRY_VERIFY(button(dialog, "tokeniserGo")->isEnabled());
    }

    static void typeSize(TokeniserDialog& dialog, const QString& size)
    {
        auto* box = child<QSpinBox>(dialog, "tokeniserSize");
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, size);
    }

    [[nodiscard]] const projects::Tokeniser& tokeniser() const
    {
        return std::get<projects::TextData>(project().data.source).tokeniser;
    }
    [[nodiscard]] projects::Project projectOnDisk() const { return projects::loadProject(folder("project"))->project; }
    [[nodiscard]] QStringList models() const
    {
        return QDir(m_folder->filePath("project")).entryList({"*.model"}, QDir::Files);
    }

    template <class T>
    static T* child(QWidget& dialog, const char* name)
    {
        return dialog.findChild<T*>(QLatin1String(name));
    }
    static QPushButton* button(QWidget& dialog, const char* name) { return child<QPushButton>(dialog, name); }
    static QLineEdit* place(QWidget& dialog) { return child<QLineEdit>(dialog, "tokeniserOutput"); }
};

RESIDUA_TEST_IN(QApplication, TestTokeniserDialog)
#include "tst_tokeniser_dialog.moc"
