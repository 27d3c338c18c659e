// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/validate.h"

#include "projects/base/json_tree.h"
#include "projects/file/json.h"
#include "tests/support/random_document.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <set>

using namespace residua;
using namespace residua::projects;

namespace {

/// How many steps of a JSON pointer lead somewhere in `tree`, and whether that is all of them.
struct Walk {
    std::size_t found = 0;
    std::size_t all = 0;
};

Walk walk(const JsonValue& tree, const std::string& pointer)
{
    QStringList steps = QString::fromStdString(pointer).split('/');
    steps.removeFirst(); // what stands before the first slash
    const JsonValue* at = &tree;
    Walk result{0, static_cast<std::size_t>(steps.size())};
    for (QString& step : steps) {
        const auto* array = std::get_if<JsonArray>(&at->data);
        bool isNumber = false;
        const std::size_t index = step.toULong(&isNumber);
        if (array != nullptr) {
            at = isNumber && index < array->size() ? &(*array)[index] : nullptr;
        } else {
            at = findMember(*at, step.replace("~1", "/").replace("~0", "~").toStdString());
        }
        if (at == nullptr) {
            break;
        }
        ++result.found;
    }
    return result;
}

} // namespace

class TestPaths : public QObject {
    Q_OBJECT

private slots:
    /// A problem's path leads to a value in the file; only a parameter that is left at its default may be absent.
    void problemsPointIntoTheFile()
    {
        tests::RandomDocument random(41);
        std::set<std::string> areas;
        for (int i = 0; i < 500; ++i) {
            const Project project = random.document().project;
            const auto tree = parseJson(toJson(project));
            QVERIFY(tree.ok());
            for (const Problem& problem : validate(project)) {
                const Walk got = walk(*tree, problem.path);
                const bool isParam = problem.path.find("/params/") != std::string::npos;
                QVERIFY2(got.found == got.all || (isParam && got.found + 1 == got.all),
                         (problem.path + ": " + problem.text()).c_str());
                areas.insert(problem.path.substr(0, problem.path.find('/', 1)));
            }
        }
        QVERIFY2(areas.size() >= 4, "the random documents have too few problems to tell");
    }
};

RESIDUA_TEST(TestPaths)
#include "tst_paths.moc"
