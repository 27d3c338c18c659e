// SPDX-License-Identifier: GPL-3.0-or-later
// Questions with choices, which a language model answers by likelihood.
#include "engine/compute/queries/measures/choices.h"
#include "projects/nodes/example_schema.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr const char* kQuestions = "{\"prompt\":\"ab\",\"choices\":[\"ca\",\"b\",\"da\"],\"answer\":2}\n"
                                   "\n"
                                   "{\"prompt\":\"dd \",\"choices\":[\"a\",\"bad\"],\"answer\":\"a\"}\n"
                                   "{\"prompt\":\"c\",\"choices\":[\"a\",\"bc\",\"d\"],\"answer\":0}\n"
                                   "{\"prompt\":\"cab\",\"choices\":[\"b \",\"cc\"],\"answer\":1}\n";

/// The sum of ln p over a choice's tokens, and their number, computed for this row alone.
std::pair<double, double> likelihoodOf(TrainerParts& parts, const std::string& prompt, const std::string& choice)
{
    const at::NoGradGuard noGrad;
    const std::vector<std::int64_t> tokens = parts.dataset->encode(prompt + choice).value();
    const auto given = static_cast<std::int64_t>(parts.dataset->encode(prompt).value().size());
    const at::Tensor all = at::tensor(tokens, at::kLong).unsqueeze(0);
    DeviceBatch batch{all.narrow(1, 0, all.size(1) - 1), {}};
    if (projects::traitsOf(parts.project.network.objective).denoises) {
        batch.conditions.emplace(projects::kPrefix, at::tensor(std::vector<std::int64_t>{given}, at::kLong));
    }
    const at::Tensor logs = at::log_softmax(parts.network->forward(batch, passAfter(0)), -1);
    double sum = 0;
    for (std::int64_t i = given; i < all.size(1); ++i) {
        sum += logs[0][i - 1][tokens[static_cast<std::size_t>(i)]].item<double>();
    }
    return {sum, static_cast<double>(all.size(1) - given)};
}

} // namespace

class TestChoices : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void questionsAreLines()
    {
        const auto questions = questionsIn(kQuestions, 3);
        QVERIFY2(questions.ok(), questions ? "" : questions.error().text().c_str());
        QCOMPARE(questions->size(), std::size_t{4});
        QCOMPARE((*questions)[1].line, std::size_t{3});
        QCOMPARE((*questions)[1].answer, std::size_t{0});
        QCOMPARE((*questions)[0].answer, std::size_t{2});
        QCOMPARE((*questions)[0].choices, (std::vector<std::string>{"ca", "b", "da"}));
        QVERIFY(tests::isRefusedAt(questionsIn(kQuestions, 4), "choices", "expected more than the 4"));
        QVERIFY(tests::isRefusedAt(questionsIn(kQuestions, -1), "shots", "got -1"));
    }

    void badLinesAreNamed_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("message");
        QTest::newRow("no JSON") << "{\"prompt\":"
                                 << "";
        QTest::newRow("no object") << "[1]"
                                   << "no JSON object";
        QTest::newRow("no prompt") << "{\"choices\":[\"a\",\"b\"],\"answer\":0}"
                                   << "no text \"prompt\"";
        QTest::newRow("no choices") << "{\"prompt\":\"a\",\"answer\":0}"
                                    << "no list \"choices\"";
        QTest::newRow("one choice") << "{\"prompt\":\"a\",\"choices\":[\"b\"],\"answer\":0}"
                                    << "of 2 to 64";
        QTest::newRow("empty choice") << "{\"prompt\":\"a\",\"choices\":[\"b\",\"\"],\"answer\":0}"
                                      << "none of them empty";
        QTest::newRow("no answer") << "{\"prompt\":\"a\",\"choices\":[\"b\",\"c\"]}"
                                   << "has no \"answer\"";
        QTest::newRow("other answer") << "{\"prompt\":\"a\",\"choices\":[\"b\",\"c\"],\"answer\":\"d\"}"
                                      << "has the answer the text \"d\"";
        QTest::newRow("answer beyond") << "{\"prompt\":\"a\",\"choices\":[\"b\",\"c\"],\"answer\":2}"
                                       << "from 0 to 1";
        QTest::newRow("negative answer") << "{\"prompt\":\"a\",\"choices\":[\"b\",\"c\"],\"answer\":-1}"
                                         << "from 0 to 1";
    }
    void badLinesAreNamed()
    {
        QFETCH(QString, line);
        QFETCH(QString, message);
        const std::string text = std::string(kQuestions) + line.toStdString();
        QVERIFY(tests::isRefusedAt(questionsIn(text, 0), "choices · line 6", message.toStdString()));
    }

    void likelihoodsAreThoseOfEachRow_data()
    {
        QTest::addColumn<bool>("denoises");
        QTest::addColumn<int>("shots");
        QTest::addColumn<int>("batch");
        for (const bool denoises : {false, true}) {
            for (const int shots : {0, 1}) {
                QTest::addRow("%s, %d shots", denoises ? "denoising" : "next token", shots) << denoises << shots << 8;
            }
        }
        QTest::addRow("fewer rows at once than choices") << false << 0 << 2;
    }
    void likelihoodsAreThoseOfEachRow()
    {
        QFETCH(bool, denoises);
        QFETCH(int, shots);
        QFETCH(int, batch);
        TrainerParts parts = partsOf(denoises);
        parts.project.training.batch = batch;
        std::vector<Question> questions = questionsIn(kQuestions, shots).value();
        ChoiceEvaluation evaluation(parts, passAfter(0), questions, shots);
        while (!evaluation.atEnd()) {
            const Status asked = evaluation.advance();
            QVERIFY2(asked.ok(), asked ? "" : asked.error().text().c_str());
        }
        const std::string before = shots == 1 ? "abda\n" : "";
        double right = 0;
        double byToken = 0;
        double nats = 0;
        double tokens = 0;
        for (std::size_t i = static_cast<std::size_t>(shots); i < questions.size(); ++i) {
            std::vector<double> sums;
            std::vector<double> means;
            for (const std::string& choice : questions[i].choices) {
                const auto [sum, count] = likelihoodOf(parts, before + questions[i].prompt, choice);
                sums.push_back(sum);
                means.push_back(sum / count);
                const bool isAnswer = sums.size() - 1 == questions[i].answer;
                nats -= isAnswer ? sum : 0;
                tokens += isAnswer ? count : 0;
            }
            const auto best = [&](const std::vector<double>& scores) {
                return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
            };
            right += best(sums) == questions[i].answer ? 1 : 0;
            byToken += best(means) == questions[i].answer ? 1 : 0;
        }
        const auto counted = static_cast<double>(questions.size()) - shots;
        QCOMPARE(evaluation.counted(), static_cast<std::int64_t>(counted));
        QCOMPARE(evaluation.means().at("accuracy"), right / counted);
        QCOMPARE(evaluation.means().at("accuracy_by_token"), byToken / counted);
        QVERIFY(std::abs(evaluation.means().at("loss") - nats / tokens) < 1e-12);
    }

    /// Each question is a window's beginning with what follows it, and with what follows in three other windows.
    void questionsAreMadeOfTheDataThemselves()
    {
        for (const bool denoises : {false, true}) {
            TrainerParts parts = partsOf(denoises);
            const auto asked = [&](std::int64_t count, std::int64_t shots, std::int64_t length) {
                return questionsOf(*parts.dataset, Split::Train, count, shots, length);
            };
            const auto questions = asked(6, 1, 32);
            QVERIFY2(questions.ok() && questions->size() == 6, questions ? "" : questions.error().text().c_str());
            for (std::size_t i = 0; i < questions->size(); ++i) {
                const Question& question = (*questions)[i];
                QCOMPARE(question.answer, i % 4);
                QCOMPARE(question.choices.size(), std::size_t{4});
                Batch batch;
                QVERIFY(parts.dataset->withoutNoise()
                            .fillSequential(batch, Split::Train, static_cast<std::int64_t>(i), 1)
                            .ok());
                const std::string window = parts.dataset->decode(batch.values<std::int64_t>(0));
                QVERIFY(window.starts_with(question.prompt + question.choices[question.answer]));
                QCOMPARE(question.prompt.size(), std::size_t{11}); // of 14 of a half row
                for (std::size_t j = 0; j < 4; ++j) {
                    const std::size_t other = (i + 6 + j - question.answer) % 6;
                    QCOMPARE(question.choices[j], (*questions)[other].choices[(*questions)[other].answer]);
                }
            }
            ChoiceEvaluation evaluation(parts, passAfter(0), *questions, 1);
            while (!evaluation.atEnd()) {
                const Status fits = evaluation.advance();
                QVERIFY2(fits.ok(), fits ? "" : fits.error().text().c_str());
            }
            QCOMPARE(evaluation.counted(), std::int64_t{5});
            QVERIFY(tests::isRefusedAt(asked(1, 1, 32), "questions", "more questions than shots"));
            QVERIFY(tests::isRefusedAt(asked(20, 10, 32), "questions", "fit in a row of 32 tokens"));
            QVERIFY(tests::isRefusedAt(asked(1000, 0, 32), "questions", "as many as questions, and at least 4"));
        }
    }

    void rowsThatDoNotFitAreNamed()
    {
        TrainerParts parts = partsOf(false);
        const auto refused = [&](const std::string& prompt, const std::string& choice, const std::string& message) {
            std::vector<Question> questions(1);
            questions[0] = {7, prompt, {"a", choice}, 0};
            ChoiceEvaluation evaluation(parts, passAfter(0), questions, 0);
            return tests::isRefusedAt(evaluation.advance(), "choices · line 7", message);
        };
        QVERIFY(refused(std::string(30, 'a'), std::string(4, 'b'), "34 tokens"));
        QVERIFY(refused(std::string(30, 'a'), std::string(80, 'b'), "choice \"" + std::string(40, 'b') + "\" and"));
        QVERIFY(!refused(std::string(29, 'a'), std::string(4, 'b'), ""));
        QVERIFY(refused("", "b", "without tokens"));
        QVERIFY(refused("a", "~", ""));
    }

private:
    /// A network on characters, with rows of 32 tokens.
    TrainerParts partsOf(bool denoises) const
    {
        std::string text;
        for (int i = 0; i < 2000; ++i) {
            text += "abcd \n"[(i * i + i / 3) % 6];
        }
        std::ofstream(m_folder.filePath("text.txt").toStdString()) << text;
        projects::Project project = tests::tinyLanguage("transformer", "plain", 2);
        project.data.source = projects::TextData{
            "text.txt", {.kind = projects::TokeniserKind::Characters, .model = {}, .vocabulary = 30}};
        project.training.sequenceLength = 32;
        if (denoises) {
            project.network.objective = projects::Objective::Denoising;
            project.data.denoising.sentinels = 8;
        }
        Result<TrainerParts> parts =
            openParts(project, m_folder.path().toStdString(), "cpu", FirstWeights::Initialised, {}, {});
        tests::shake(*parts.value().network, 0.3, 3);
        return *std::move(parts);
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST(TestChoices)
#include "tst_choices.moc"
