// SPDX-License-Identifier: GPL-3.0-or-later
// The first batch of training is shown before a run begins.
#include "app/start/fed_dialog.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QAction>
#include <QApplication>
#include <QImage>
#include <QRegularExpression>
#include <QTextBrowser>
#include <QTextDocument>

using namespace residua;
using namespace residua::app;

class TestFedDialog : public WindowHarness {
    Q_OBJECT

private slots:
    void cleanup() { m_window.reset(); }

    void picturesAreShownWithTheirClasses()
    {
        projects::Project project = projects::findExample("small-vit")->project;
        project.data.source = projects::DrawnPictures{.size = 32, .samples = 20};
        project.data.augmentation.mixup = 0.4;
        project.training.batch = 5;
        const FedDialog* const dialog = opened(project);
        QVERIFY(dialog);
        const auto* const examples = dialog->findChild<QTextBrowser*>();
        QTRY_COMPARE(examples->toHtml().count("<img "), qsizetype{5});
        QVERIFY(examples->toPlainText().contains(" + ")); // of two classes, by their shares
        QStringList sources;                              // each picture of the batch has a name of its own
        const QString html = examples->toHtml();
        for (const QRegularExpressionMatch& match : QRegularExpression("<img src=\"([^\"]+)\"").globalMatch(html)) {
            sources += match.captured(1);
        }
        QCOMPARE(sources.removeDuplicates(), qsizetype{0});
        for (const QString& source : sources) {
            const auto image = examples->document()->resource(QTextDocument::ImageResource, QUrl(source));
            QCOMPARE(image.value<QImage>().size(), QSize(32, 32) * 6); // magnified to a third of the width
        }
    }

    void textIsShownAsItIsHidden()
    {
        projects::Project project = quickLanguage();
        project.network.objective = projects::Objective::MaskedToken;
        project.data.masking.token = 0;
        const FedDialog* const dialog = opened(project);
        QVERIFY(dialog);
        const auto* const examples = dialog->findChild<QTextBrowser*>();
        QTRY_VERIFY(examples->toPlainText().contains(QString::fromUtf8("→")));
        QCOMPARE(examples->toHtml().count("<tr>"), qsizetype{2}); // a batch of two
    }

private:
    FedDialog* opened(const projects::Project& project)
    {
        openWindowOn(project);
        auto* const action = m_window->findChild<QAction*>(QStringLiteral("fed"));
        if (action == nullptr || !action->isEnabled()) {
            return nullptr;
        }
        action->trigger();
        return m_window->findChild<FedDialog*>();
    }
};

RESIDUA_TEST_IN(QApplication, TestFedDialog)
#include "tst_fed_dialog.moc"
