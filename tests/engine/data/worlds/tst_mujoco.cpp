// SPDX-License-Identifier: GPL-3.0-or-later
// Models of MuJoCo as worlds: what is refused in their two files, and, if MuJoCo is there, what they do.
#include "engine/data/worlds/environments.h"
#include "projects/base/whole_file.h"
#include "projects/file/world_model.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

using namespace residua;
using engine::Environments;
using nlohmann::json;
using projects::WorldData;

namespace {

/// A puck of mass 1 that two motors push, with friction.
const char* const kPuck = "<mujoco><option timestep='0.01'/><worldbody><body name='puck'>"
                          "<joint name='x' type='slide' axis='1 0 0' damping='1'/>"
                          "<joint name='y' type='slide' axis='0 1 0' damping='1'/>"
                          "<geom type='sphere' size='0.1' mass='1'/></body></worldbody><actuator>"
                          "<motor name='push_x' joint='x' ctrllimited='true' ctrlrange='-2 2'/>"
                          "<motor name='push_y' joint='y' ctrllimited='true' ctrlrange='-2 2'/>"
                          "</actuator></mujoco>";

json puckWorld()
{
    return {{"model", "puck.xml"}, {"observation", {"body:puck", "qpos", "qvel"}},
            {"control", {-1, 1}},  {"frames", 2},
            {"noise", 0},          {"goal", {{"places", {{1, 0}, {0, 1}}}, {"spread", 0.125}}},
            {"success", 0.2},      {"alive", {{"feature", 0}, {"low", -0.5}, {"high", 3}}}};
}

} // namespace

class TestMujoco : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void refusesADescription_data();
    void refusesADescription();
    void refusesAModelThatReadsMore_data();
    void refusesAModelThatReadsMore();
    void saysHowToGetMujoco();
    void refusesWhatDoesNotFitTheModel_data();
    void refusesWhatDoesNotFitTheModel();
    void movesAsItsEquationSays();
    void goesOnFromItsValues();
    void endsAnEpisodeOutOfBounds();
    void namesAStateThatIsNotFinite();

private:
    [[nodiscard]] WorldData data() const
    {
        return {.kind = projects::WorldKind::Mujoco,
                .path = "world",
                .states = 7,
                .actions = 2,
                .goals = 2,
                .environments = 5,
                .episode = 100};
    }
    [[nodiscard]] Result<Environments> made(const json& world, const std::string& model = kPuck)
    {
        return made(world, model, data());
    }
    [[nodiscard]] Result<Environments> made(const json& world, const std::string& model, const WorldData& source)
    {
        const std::filesystem::path folder = m_folder->path().toStdString();
        std::filesystem::create_directory(folder / "world");
        if (!writeFileAtomically(folder / "world" / "world.json", world.dump()) ||
            !writeFileAtomically(folder / "world" / "puck.xml", model)) {
            return Error{"test", "cannot write"};
        }
        return Environments::make(source, folder, source.environments, 3);
    }
    /// Skips the test, with the program's own words, if the program was built without MuJoCo.
    [[nodiscard]] std::optional<QString> lacksMujoco()
    {
#ifndef RESIDUA_WITH_MUJOCO
        const Result<Environments> worlds = made(puckWorld());
        if (!worlds && worlds.error().message.find("libmujoco") != std::string::npos) {
            return QString::fromStdString(worlds.error().text());
        }
#endif
        return std::nullopt;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestMujoco::refusesADescription_data()
{
    QTest::addColumn<QString>("patch");
    QTest::addColumn<QString>("place");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const json& patch, const char* place, const char* says) {
        QTest::newRow(name) << QString::fromStdString(patch.dump()) << place << says;
    };
    row("unknown key", {{"frame", 2}}, "/frame", "did you mean \"frames\"?");
    row("no model", {{"model", nullptr}}, "/model", "is missing");
    row("outside", {{"model", "../puck.xml"}}, "/model", "expected a file in the same folder");
    row("other file", {{"model", "puck.mjb"}}, "/model", "ends with .xml");
    row("nothing observed", {{"observation", json::array()}}, "/observation", "expected 1 to 256");
    row("frames", {{"frames", 0}}, "/frames", "is 0; expected 1 to 1000");
    row("noise", {{"noise", -1}}, "/noise", "expected 0 to 1");
    row("success", {{"success", 0}}, "/success", "expected more than 0");
    row("control", {{"control", {1, -1}}}, "/control", "the smaller one first");
    row("no place", {{"goal", {{"places", json::array()}}}}, "/goal/places", "expected 1 to 4096");
    row("place", {{"goal", {{"places", {{1, 0, 0}}}}}}, "/goal/places/0", "has 3 numbers; expected 2");
    row("radius", {{"goal", {{"radius", {-1, 2}}}}}, "/goal/radius", "none below 0");
    row("bounds", {{"alive", {{"feature", 7}}}}, "/alive", "expected a feature from 0 to 6");
    row("kind", {{"frames", "two"}}, "/frames", "is the text \"two\"");
}

void TestMujoco::refusesADescription()
{
    QFETCH(QString, patch);
    QFETCH(QString, place);
    QFETCH(QString, says);
    json world = puckWorld();
    world.merge_patch(json::parse(patch.toStdString()));
    const Result<Environments> worlds = made(world);
    QVERIFY(!worlds);
    const QString text = QString::fromStdString(worlds.error().text());
    QVERIFY2(text.contains("world.json · " + place) && text.contains(says), qPrintable(text));
}

void TestMujoco::refusesAModelThatReadsMore_data()
{
    QTest::addColumn<QString>("part");
    QTest::addColumn<QString>("says");
    QTest::newRow("include") << "<include file='/etc/passwd'/>"
                             << "the element include";
    QTest::newRow("mesh") << "<asset><mesh name='m' file='../m.stl'/></asset>"
                          << "the attribute file";
    QTest::newRow("cube") << "<asset><texture type='cube' fileright = 'a.png'/></asset>"
                          << "the attribute fileright";
    QTest::newRow("composite") << "<worldbody><composite type='grid' count='9999 9999 1'/></worldbody>"
                               << "composite";
    QTest::newRow("plugin") << "<extension><plugin plugin='p'/></extension>"
                            << "the element extension";
    QTest::newRow("entities") << "<!DOCTYPE a [<!ENTITY b 'c'>]>"
                              << "!doctype";
}

/// Whether MuJoCo is there or not.
void TestMujoco::refusesAModelThatReadsMore()
{
    QFETCH(QString, part);
    QFETCH(QString, says);
    const Result<Environments> worlds = made(puckWorld(), "<mujoco>" + part.toStdString() + "</mujoco>");
    QVERIFY(!worlds);
    const QString text = QString::fromStdString(worlds.error().text());
    QVERIFY2(text.contains("puck.xml") && text.contains(says) && text.contains("expected"), qPrintable(text));
    const Result<Environments> large = made(puckWorld(), std::string(5 << 20, ' '));
    QVERIFY(!large && large.error().place.find("puck.xml") != std::string::npos);
}

void TestMujoco::saysHowToGetMujoco()
{
#ifdef RESIDUA_WITH_MUJOCO
    QSKIP("the program was built with MuJoCo");
#else
    if (qEnvironmentVariableIsSet("RESIDUA_MUJOCO")) {
        QSKIP("RESIDUA_MUJOCO names the library");
    }
    const Result<Environments> worlds = made(puckWorld());
    QVERIFY(!worlds);
    QVERIFY(worlds.error().text().find("install libmujoco-dev (Debian) and build it again") != std::string::npos);
#endif
}

void TestMujoco::refusesWhatDoesNotFitTheModel_data()
{
    QTest::addColumn<QString>("patch");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const json& patch, const char* says) {
        QTest::newRow(name) << QString::fromStdString(patch.dump()) << says;
    };
    row("body", {{"observation", {"body:pack"}}}, "did you mean \"body:puck\"?");
    row("features", {{"observation", {"qpos", "qvel"}}},
        "has 4 numbers; expected the project's features of a state, 7");
    row("control", {{"control", {-3, 3}}}, "expected numbers within those of the actuator \"push_x\", -2 to 2");
}

void TestMujoco::refusesWhatDoesNotFitTheModel()
{
    QFETCH(QString, patch);
    QFETCH(QString, says);
    if (const auto lacks = lacksMujoco()) {
        QSKIP(qPrintable(*lacks));
    }
    json world = puckWorld();
    world.merge_patch(json::parse(patch.toStdString()));
    const Result<Environments> worlds = made(world);
    QVERIFY(!worlds);
    QVERIFY2(worlds.error().text().find(says.toStdString()) != std::string::npos, worlds.error().text().c_str());
    WorldData other = data();
    other.actions = 3;
    QVERIFY(made(puckWorld(), kPuck, other).error().text().find("has 2 actuators") != std::string::npos);
    QVERIFY(made(puckWorld(), "<mujoco><worldbody>").error().text().find("not a model that MuJoCo reads") !=
            std::string::npos);
}

/// MuJoCo's Euler integrator treats damping implicitly: v += h·(F − v)/(1 + h), then x += h·v.
void TestMujoco::movesAsItsEquationSays()
{
    if (const auto lacks = lacksMujoco()) {
        QSKIP(qPrintable(*lacks));
    }
    Result<Environments> worlds = made(puckWorld());
    QVERIFY2(worlds.ok(), worlds ? "" : worlds.error().text().c_str());
    QVERIFY(std::abs(std::hypot(worlds->goals()[0], worlds->goals()[1]) - 1) < 0.2);
    QVERIFY(!std::ranges::equal(worlds->goals().first(2), worlds->goals().subspan(2, 2)));
    std::vector<double> x(10, 0);
    std::vector<double> v(10, 0);
    std::vector<float> actions(10);
    for (int step = 0; step < 40; ++step) {
        for (std::size_t i = 0; i < actions.size(); ++i) {
            actions[i] = static_cast<float>(2 * std::sin(0.3 * step + static_cast<double>(i))); // is limited to 1
            const double force = std::clamp(static_cast<double>(actions[i]), -1.0, 1.0);
            for (int frame = 0; frame < 2; ++frame) {
                v[i] += 0.01 * (force - v[i]) / 1.01;
                x[i] += 0.01 * v[i];
            }
        }
        QVERIFY(worlds->step(actions).ok());
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const std::span<const float> state = worlds->states().subspan(7 * (i / 2), 7);
            QVERIFY(std::abs(state[i % 2] - x[i]) < 1e-6); // the body's place
            QVERIFY(std::abs(state[3 + i % 2] - x[i]) < 1e-6);
            QVERIFY(std::abs(state[5 + i % 2] - v[i]) < 1e-6);
        }
    }
}

void TestMujoco::goesOnFromItsValues()
{
    if (const auto lacks = lacksMujoco()) {
        QSKIP(qPrintable(*lacks));
    }
    json noisy = puckWorld();
    noisy["noise"] = 0.3;
    Environments worlds = made(noisy).value();
    Environments resumed = made(noisy).value();
    std::vector<float> actions(10);
    const auto step = [&](Environments& on, int number) {
        for (std::size_t i = 0; i < actions.size(); ++i) {
            actions[i] = static_cast<float>(std::cos(0.7 * number + static_cast<double>(i)));
        }
        return on.step(actions).ok();
    };
    for (int number = 0; number < 130; ++number) {
        QVERIFY(step(worlds, number));
    }
    QVERIFY(!std::ranges::equal(worlds.states(), resumed.states()));
    QVERIFY(resumed.setValues(worlds.values()).ok());
    for (int number = 130; number < 260; ++number) {
        QVERIFY(std::ranges::equal(worlds.states(), resumed.states()));
        QVERIFY(std::ranges::equal(worlds.goals(), resumed.goals()));
        QVERIFY(step(worlds, number) && step(resumed, number));
    }
}

void TestMujoco::endsAnEpisodeOutOfBounds()
{
    if (const auto lacks = lacksMujoco()) {
        QSKIP(qPrintable(*lacks));
    }
    Environments worlds = made(puckWorld()).value();
    const std::vector<float> left{-1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    int steps = 0;
    for (; worlds.episodes()[0] == 1; ++steps) {
        QVERIFY(steps < 99);
        QVERIFY(worlds.states()[0] >= -0.5F);
        QVERIFY(worlds.step(left).ok());
    }
    QVERIFY(steps > 30);
    QCOMPARE(worlds.states()[0], 0.0F);
    QCOMPARE(worlds.episodes()[1], 1);
}

void TestMujoco::namesAStateThatIsNotFinite()
{
    if (const auto lacks = lacksMujoco()) {
        QSKIP(qPrintable(*lacks));
    }
    std::string stiff = kPuck;
    stiff.replace(stiff.find("0.01"), 4, "1.00");
    stiff.replace(stiff.find("damping='1'"), 11, "stiffness='1000000'");
    json world = puckWorld();
    world.erase("alive"); // which would end the episode before
    Environments worlds = made(world, stiff).value();
    const std::vector<float> push(10, 1);
    Status stepped = Done{};
    for (int step = 0; step < 90 && stepped; ++step) {
        stepped = worlds.step(push);
    }
    QVERIFY(!stepped);
    QVERIFY2(stepped.error().message.starts_with("environment 1 has a state that is not finite at step"),
             stepped.error().text().c_str());
}

RESIDUA_TEST(TestMujoco)
#include "tst_mujoco.moc"
