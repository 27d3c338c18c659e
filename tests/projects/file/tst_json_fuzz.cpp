// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/file/json.h"

#include "projects/shipped/examples.h"
#include "tests/support/draws.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>
#include <random>

using namespace residua;
using namespace residua::projects;

namespace {

/// Breaks a valid file in one to three ways.
class Mutator {
public:
    explicit Mutator(std::uint32_t seed) : m_engine(seed) {}

    std::string mutated(std::string text)
    {
        for (std::size_t count = 1 + below(3); count > 0 && !text.empty(); --count) {
            mutate(text);
        }
        return text;
    }

    std::string bytes(std::size_t length)
    {
        std::string out(length, '\0');
        for (char& c : out) {
            c = static_cast<char>(below(256));
        }
        return out;
    }

private:
    std::size_t below(std::size_t count) { return tests::below(m_engine, count); }

    void mutate(std::string& text)
    {
        static const std::array<const char*, 16> kValues{"null",
                                                         "true",
                                                         "-1",
                                                         "1e999",
                                                         "99999999999999999999",
                                                         "0.5",
                                                         "{}",
                                                         "[]",
                                                         "\"\"",
                                                         "\"3:2\"",
                                                         "\"1.out > 2.in\"",
                                                         "[[[[",
                                                         "\"\\ud800\"",
                                                         "\xFF",
                                                         "\"kind\": \"all\",",
                                                         ","};
        const std::size_t at = below(text.size());
        const std::size_t length = std::min(text.size() - at, 1 + below(40));
        switch (below(7)) {
        case 0:
            text[at] = static_cast<char>(below(256));
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            text.insert(below(text.size()), text.substr(at, length));
            break;
        case 3:
            text.resize(at);
            break;
        case 4:
            replaceValue(text, at, kValues[below(kValues.size())]);
            break;
        case 5:
            replaceDigit(text, at);
            break;
        default:
            text.insert(at, kValues[below(kValues.size())]);
            break;
        }
    }

    /// Often leaves a valid file with another value.
    void replaceDigit(std::string& text, std::size_t from)
    {
        const std::size_t digit = text.find_first_of("0123456789", from);
        if (digit != std::string::npos) {
            text[digit] = static_cast<char>('0' + below(10));
        }
    }

    /// Replaces what stands after the next colon, so that the text often stays well-formed JSON.
    static void replaceValue(std::string& text, std::size_t from, const char* token)
    {
        const std::size_t colon = text.find(": ", from);
        if (colon != std::string::npos) {
            const std::size_t end = std::min(text.find_first_of(",\n", colon), text.size());
            text.replace(colon + 2, end - colon - 2, token);
        }
    }

    std::mt19937 m_engine;
};

/// Reads `text`: an error must have a place and a readable message; what is read must keep its bytes.
template <class T>
QString misbehaviour(Result<T> (*read)(std::string_view), const std::string& text, int& accepted)
{
    const auto value = read(text);
    if (!value) {
        const QString shown = QString::fromStdString(value.error().text());
        const bool readable = shown.toStdString() == value.error().text();
        return value.error().place.empty() || value.error().message.empty() || !readable
                   ? "error without place: " + shown
                   : QString();
    }
    ++accepted;
    const std::string once = toJson(*value);
    const auto again = read(once);
    return again && *again == *value && toJson(*again) == once ? QString() : "does not keep its bytes";
}

} // namespace

class TestJsonFuzz : public QObject {
    Q_OBJECT

private slots:
    void randomBytes()
    {
        Mutator mutator(tests::randomSeed());
        int accepted = 0;
        for (int i = 0; i < 5000; ++i) {
            const std::string text = mutator.bytes(static_cast<std::size_t>(i) % 200);
            for (const QString& wrong :
                 {misbehaviour(projectFromJson, text, accepted), misbehaviour(layoutFromJson, text, accepted)}) {
                QVERIFY2(wrong.isEmpty(), qPrintable(QString("%1: %2").arg(i).arg(wrong)));
            }
        }
        QCOMPARE(accepted, 0);
    }

    void mutatedFiles()
    {
        tests::RandomDocument random(tests::randomSeed(), tests::Values::Any);
        std::vector<std::string> projects;
        std::vector<std::string> layouts;
        for (const Example& example : examples()) {
            projects.push_back(toJson(example.project));
        }
        for (int i = 0; i < 20; ++i) {
            const Document document = random.document();
            projects.push_back(toJson(document.project));
            layouts.push_back(toJson(document.layout));
        }
        Mutator mutator(tests::randomSeed());
        int accepted = 0;
        for (std::size_t i = 0; i < 20'000; ++i) {
            const bool isLayout = i % 5 == 0;
            const std::string text =
                mutator.mutated(isLayout ? layouts[i % layouts.size()] : projects[i % projects.size()]);
            const QString wrong =
                isLayout ? misbehaviour(layoutFromJson, text, accepted) : misbehaviour(projectFromJson, text, accepted);
            QVERIFY2(wrong.isEmpty(),
                     qPrintable(QString("%1: %2\n%3").arg(i).arg(wrong, QString::fromStdString(text))));
        }
        // Both sides are exercised.
        QVERIFY2(accepted > 1000 && accepted < 15'000, qPrintable(QString::number(accepted)));
    }
};

RESIDUA_TEST(TestJsonFuzz)
#include "tst_json_fuzz.moc"
