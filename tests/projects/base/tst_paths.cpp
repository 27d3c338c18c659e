// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/validate.h"

#include "projects/base/json_tree.h"
#include "projects/file/json.h"
#include "projects/model/places.h"
#include "projects/shipped/examples.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
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
        tests::RandomDocument random(tests::randomSeed());
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

    void tokensAreWithoutEscapes()
    {
        QCOMPARE(tokensOf("/data/a~1b/~0/2"), (std::vector<std::string>{"data", "a/b", "~", "2"}));
        QCOMPARE(tokensOf("/~01"), std::vector<std::string>{"~1"});
        QVERIFY(tokensOf("").empty());
    }

    void graphPointersAreReadAsTheyAreWritten()
    {
        const Project project = findExample("ancre-language")->project;
        const GraphRef block = GraphRef::block(project.network.blocks.front().name);
        for (const auto& [pointer, text] : {std::pair<GraphPointer, std::string>{{GraphRef::stem()}, "/network/stem"},
                                            {{GraphRef::head(), 1}, "/network/head/nodes/1"},
                                            {{block}, "/network/blocks/0/graph"},
                                            {{block, 2}, "/network/blocks/0/graph/nodes/2"},
                                            {{block, {}, 1}, "/network/blocks/0/graph/wires/1"}}) {
            QCOMPARE(textOf(project, pointer), text);
            QVERIFY2(graphPointerFrom(project, text) == pointer, text.c_str());
            QVERIFY2(graphPointerFrom(project, text + "/params/out")->graph == pointer.graph, text.c_str());
        }
        QVERIFY(textOf(project, {GraphRef::block("none")}).empty());
        QVERIFY(textOf(project, {}).empty());
    }

    /// A pointer to a part of a graph is one to the graph. Nothing points at a part that the project lacks.
    void graphPointersAreOfWhatIsThere()
    {
        const Project project = findExample("ancre-language")->project;
        const GraphPointer block{GraphRef::block(project.network.blocks.front().name)};
        for (const char* const text : {"/network/blocks/0", "/network/blocks/0/name", "/network/blocks/0/graph/nodes",
                                       "/network/blocks/0/graph/nodes/999", "/network/blocks/0/graph/wires/x"}) {
            QVERIFY2(graphPointerFrom(project, text) == block, text);
        }
        for (const char* const text : {"", "/network", "/network/width", "/network/stack/0/block", "/network/blocks",
                                       "/network/blocks/999/graph", "/network/block:gpt", "/data/stem"}) {
            QVERIFY2(!graphPointerFrom(project, text), text);
        }
    }
};

RESIDUA_TEST(TestPaths)
#include "tst_paths.moc"
