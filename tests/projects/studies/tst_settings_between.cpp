// SPDX-License-Identifier: GPL-3.0-or-later
// Edits as settings of the terminal: they give the same document.
#include "projects/edit/edit.h"
#include "projects/library/presets.h"
#include "projects/model/places.h"
#include "projects/schema/fields.h"
#include "projects/shipped/examples.h"
#include "projects/studies/settings_between.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>
#include <vector>

using namespace residua;
using namespace residua::projects;

using ProjectChange = std::function<void(Project&)>;

namespace {

void perform(Project& project, const Edit& edit)
{
    Document document{project, {}};
    const Status done = applyEdit(document, edit);
    QVERIFY2(done.ok(), done ? "" : done.error().text().c_str());
    project = document.project;
}

} // namespace

class TestSettingsBetween : public QObject {
    Q_OBJECT

private slots:
    void theyGiveTheSameDocument_data()
    {
        QTest::addColumn<QString>("example");
        QTest::addColumn<ProjectChange>("change");
        QTest::addColumn<QString>("settings"); // empty: any
        const auto row = [](const char* name, const char* example, const QString& settings, ProjectChange change) {
            QTest::newRow(name) << QString::fromLatin1(example) << change << settings;
        };
        row("number", "plain-language", "/training/batch=3", [](Project& p) { p.training.batch = 3; });
        row("steps, which scale the stages", "staged-language", {}, [](Project& p) { p.training.steps *= 2; });
        row("text for a shell", "plain-language", {}, [](Project& p) { p.name = "it's \"$(5)\" = #1\nof 2"; });
        row("text like a number", "plain-language", "/name=\"12\"", [](Project& p) { p.name = "12"; });
        row("empty text", "plain-language", {}, [](Project& p) { p.description.clear(); });
        row("alternative", "plain-language", "/training/optimiser=lion",
            [](Project& p) { p.training.optimiser = Lion{}; });
        row("alternative with a value", "plain-language", {}, [](Project& p) {
            Lion lion;
            lion.weightDecay = 0.25;
            p.training.optimiser = lion;
        });
        row("topology", "linear-ancre", "/topology=grn-v2", [](Project& p) { QVERIFY(set(p, "/topology=grn-v2")); });
        row("topology over other blocks", "plain-language", "/topology=dca",
            [](Project& p) { QVERIFY(set(p, "/topology=dca")); });
        row("pruned shortcut", "linear-ancre", {}, [](Project& p) {
            perform(p, SetShortcutState{{0, 2}, ShortcutState::Pruned});
        });
        row("explicit shortcuts", "linear-ancre", {}, [](Project& p) { perform(p, RemoveShortcut{{0, 2}}); });
        row("layers", "plain-language", {}, [](Project& p) {
            std::vector<StackSegment> stack = p.stack().segments;
            stack.front().repeat += 1;
            stack.push_back(stack.front());
            perform(p, SetStack{stack});
        });
        row("block by another name", "plain-language", {}, [](Project& p) {
            perform(p, RenameBlock{p.network.blocks.front().name, "other = 'name'"});
        });
        row("node taken out", "plain-language", {}, [](Project& p) {
            const Block& block = p.network.blocks.front();
            perform(p, RemoveNode{GraphRef::block(block.name), block.graph.nodes.at(1).id});
        });
        row("sweeps taken out", "linear-ancre", {}, [](Project& p) { p.sweeps.clear(); });
        row("another project", "plain-language", {}, [](Project& p) { p = findExample("small-vit")->project; });
    }

    void theyGiveTheSameDocument()
    {
        QFETCH(QString, example);
        QFETCH(ProjectChange, change);
        QFETCH(QString, settings);
        const Project before = findExample(example.toStdString())->project;
        Project after = before;
        change(after);
        for (const auto& [from, to] : {std::pair(before, after), std::pair(after, before)}) {
            const auto words = settingsBetween(from, to);
            QVERIFY2(words.ok(), words ? "" : words.error().text().c_str());
            const auto made = withSettings(from, *words);
            QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
            QVERIFY(*made == to);
            QCOMPARE(words->empty(), from == to);
        }
        if (!settings.isEmpty()) {
            const auto words = settingsBetween(before, after);
            QCOMPARE(words->size(), std::size_t(1));
            QCOMPARE(QString::fromStdString(words->front()), settings);
        }
    }

    void everyFieldHasASetting()
    {
        const Project project = findExample("staged-language")->project;
        for (const FieldEntry& field : fieldsOf(project)) {
            const auto setting = settingAt(project, wholeOf(field));
            QVERIFY2(setting, field.pointer.c_str());
            const auto same = withSettings(project, {*setting});
            QVERIFY2(same.ok() && *same == project, setting->c_str());
        }
        QVERIFY(!settingAt(project, ""));
        const std::string around = "/network/blocks/0/graph/nodes/1/params"; // of a parameter with its default
        QVERIFY(settingAt(project, around + "/none") == settingAt(project, around));
    }

    void aCommandIsSafeForAShell()
    {
        const auto command = setCommand("/a folder/it's", {"/training/batch=3", "/name=$(reboot)"});
        QCOMPARE(QString::fromStdString(*command),
                 QString("residua-cli set '/a folder/it'\\''s' /training/batch=3 '/name=$(reboot)'"));
        QVERIFY(!setCommand("/a", {"/name=" + std::string(200'000, 'x')}).ok());
    }

private:
    static bool set(Project& project, const std::string& setting)
    {
        const auto made = withSettings(project, {setting});
        project = made ? *made : project;
        return made.ok();
    }
};

RESIDUA_TEST(TestSettingsBetween)
#include "tst_settings_between.moc"
