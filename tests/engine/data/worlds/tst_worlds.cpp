// SPDX-License-Identifier: GPL-3.0-or-later
// Worlds, the episodes of several of them, and the steps that a replay buffer draws.
#include "engine/base/api/data_summary.h"
#include "engine/data/sets/world_dataset.h"
#include "engine/data/worlds/environments.h"
#include "engine/data/worlds/replay_buffer.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

using namespace residua;
using engine::Environments;
using engine::ReplayBuffer;
using projects::WorldData;
using projects::WorldKind;

namespace {

WorldData dataOf(WorldKind kind)
{
    return {.kind = kind, .path = {}, .environments = 3, .episode = 20, .replay = 50};
}

Environments worldsOf(const WorldData& data, std::uint64_t seed = 5)
{
    return engine::Environments::make(data, {}, data.environments, seed).value();
}

/// Actions that differ by step, environment and number.
std::vector<float> actionsAt(const WorldData& data, std::int64_t step)
{
    std::vector<float> actions;
    for (std::int64_t i = 0; i < data.environments * projects::sizesOf(data).actions; ++i) {
        actions.push_back(
            static_cast<float>(std::sin(0.37 * static_cast<double>(step) + 1.9 * static_cast<double>(i))));
    }
    return actions;
}

} // namespace

class TestWorlds : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void mazeKeepsThePointInside();
    void armKeepsItsEnergyWithoutActions();
    void countsEpisodesAndBeginsThemBySeed();
    void goesOnFromItsValues_data();
    void goesOnFromItsValues();
    void hindsightIsGeometric_data();
    void hindsightIsGeometric();
    void goalsAreLaterInTheSameEpisode();
    void bufferKeepsTheNewestSteps();
    void manyWorldsEqualSingleOnes();
    void showsTheSameExamplesByNumber();
};

void TestWorlds::mazeKeepsThePointInside()
{
    WorldData data = dataOf(WorldKind::PointMaze);
    data.episode = 100'000;
    for (const double direction : {0.0, 0.8, 1.6, 2.4, 3.2, 4.0, 4.8, 5.6}) {
        Environments worlds = worldsOf(data);
        std::vector<float> actions;
        for (std::int64_t i = 0; i < data.environments; ++i) {
            actions.push_back(static_cast<float>(std::cos(direction)));
            actions.push_back(static_cast<float>(std::sin(direction)));
        }
        for (int step = 0; step < 300; ++step) {
            QVERIFY(worlds.step(actions).ok());
            for (std::size_t i = 0; i < 3; ++i) {
                const auto cell = [&](std::size_t axis) {
                    return static_cast<std::size_t>(std::lround(worlds.states()[4 * i + axis] / projects::kMazeCell));
                };
                QVERIFY(projects::kLargeMaze[cell(1)][cell(0)] != '1');
            }
        }
    }
}

/// Friction only takes energy, and less of it with smaller speeds: an arm without torque comes to rest.
void TestWorlds::armKeepsItsEnergyWithoutActions()
{
    WorldData data = dataOf(WorldKind::Arm);
    data.episode = 100'000;
    Environments worlds = worldsOf(data);
    const std::vector<float> push(6, 1.0F);
    const std::vector<float> none(6, 0.0F);
    for (int step = 0; step < 40; ++step) {
        QVERIFY(worlds.step(push).ok());
    }
    const auto speed = [&](std::size_t world) {
        return std::hypot(worlds.states()[8 * world + 6], worlds.states()[8 * world + 7]);
    };
    QVERIFY(speed(0) > 0.5);
    for (int step = 0; step < 2000; ++step) {
        QVERIFY(worlds.step(none).ok());
    }
    for (std::size_t world = 0; world < 3; ++world) {
        QVERIFY(speed(world) < 1e-4);
        const double reach = std::hypot(worlds.states()[8 * world], worlds.states()[8 * world + 1]);
        QVERIFY(reach >= projects::kArmLinks[0] - projects::kArmLinks[1] - 1e-6);
        QVERIFY(reach <= projects::kArmLinks[0] + projects::kArmLinks[1] + 1e-6);
    }
}

void TestWorlds::countsEpisodesAndBeginsThemBySeed()
{
    const WorldData data = dataOf(WorldKind::PointMaze);
    Environments worlds = worldsOf(data);
    Environments same = worldsOf(data);
    Environments other = worldsOf(data, 6);
    QVERIFY(std::ranges::equal(worlds.states(), same.states()));
    QVERIFY(!std::ranges::equal(worlds.states(), other.states()));
    std::set<std::pair<float, float>> goals;
    for (std::int64_t step = 0; step < 400; ++step) {
        QCOMPARE(worlds.episodes()[1], 1 + step / data.episode);
        goals.insert({worlds.goals()[0], worlds.goals()[1]});
        QVERIFY(worlds.step(actionsAt(data, step)).ok());
    }
    QVERIFY(goals.size() > 5); // drawn anew in each episode
}

void TestWorlds::goesOnFromItsValues_data()
{
    QTest::addColumn<int>("kind");
    QTest::newRow("maze") << static_cast<int>(WorldKind::PointMaze);
    QTest::newRow("arm") << static_cast<int>(WorldKind::Arm);
}

void TestWorlds::goesOnFromItsValues()
{
    QFETCH(int, kind);
    const WorldData data = dataOf(static_cast<WorldKind>(kind));
    Environments worlds = worldsOf(data);
    for (std::int64_t step = 0; step < 33; ++step) {
        QVERIFY(worlds.step(actionsAt(data, step)).ok());
    }
    Environments resumed = worldsOf(data);
    QVERIFY(resumed.setValues(worlds.values()).ok());
    for (std::int64_t step = 33; step < 90; ++step) {
        QVERIFY(std::ranges::equal(worlds.states(), resumed.states()));
        QVERIFY(std::ranges::equal(worlds.goals(), resumed.goals()));
        QVERIFY(worlds.step(actionsAt(data, step)).ok() && resumed.step(actionsAt(data, step)).ok());
    }
    const std::vector<double> values = worlds.values();
    QVERIFY(!resumed.setValues(std::span(values).first(values.size() - 1)).ok());
    for (const auto& [index, value] : {std::pair(0, 0.0), std::pair(0, 1e18), std::pair(1, -1.0), std::pair(1, 20.0),
                                       std::pair(2, std::numeric_limits<double>::quiet_NaN())}) {
        std::vector<double> other = values;
        other[static_cast<std::size_t>(index)] = value;
        QVERIFY(!resumed.setValues(other).ok());
    }
}

void TestWorlds::hindsightIsGeometric_data()
{
    QTest::addColumn<double>("discount");
    QTest::addColumn<qint64>("most");
    QTest::newRow("0.99, all of an episode") << 0.99 << qint64{1000};
    QTest::newRow("0.9, cut") << 0.9 << qint64{7};
    QTest::newRow("0.5") << 0.5 << qint64{3};
}

/// Compares the frequencies on an even grid of numbers with γ^Δ / Σ γ^Δ: the grid has no other error than its spacing.
void TestWorlds::hindsightIsGeometric()
{
    QFETCH(double, discount);
    QFETCH(qint64, most);
    constexpr std::int64_t kGrid = 1'000'000;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(most));
    for (std::int64_t i = 0; i < kGrid; ++i) {
        const double uniform = (static_cast<double>(i) + 0.5) / static_cast<double>(kGrid);
        const std::int64_t steps = engine::geometricSteps(discount, most, uniform);
        QVERIFY(steps >= 1 && steps <= most);
        ++counts[static_cast<std::size_t>(steps - 1)];
    }
    double sum = 0;
    for (std::int64_t steps = 1; steps <= most; ++steps) {
        sum += std::pow(discount, static_cast<double>(steps));
    }
    for (std::int64_t steps = 1; steps <= most; ++steps) {
        const double share = std::pow(discount, static_cast<double>(steps)) / sum;
        QVERIFY(std::abs(static_cast<double>(counts[static_cast<std::size_t>(steps - 1)]) / kGrid - share) < 3e-6);
    }
    QCOMPARE(engine::geometricSteps(0, 10, 0.9), std::int64_t{1});
}

/// A buffer whose states say which environment, episode and step they are of.
void TestWorlds::goalsAreLaterInTheSameEpisode()
{
    WorldData data = dataOf(WorldKind::PointMaze);
    data.discount = 0.9;
    ReplayBuffer buffer(data);
    for (std::int64_t step = 0; step < 77; ++step) {
        std::vector<float> states;
        std::vector<float> actions;
        std::vector<std::int64_t> episodes;
        for (std::int64_t environment = 0; environment < 3; ++environment) {
            const std::int64_t episode = step / (10 + environment);
            states.insert(states.end(), {static_cast<float>(step), static_cast<float>(episode),
                                         static_cast<float>(environment), 0.0F});
            actions.insert(actions.end(), {static_cast<float>(step), 0.0F});
            episodes.push_back(episode);
        }
        buffer.add(states, actions, episodes);
    }
    QCOMPARE(buffer.size(), std::int64_t{50});
    RandomStream random(1, 2);
    double later = 0;
    constexpr int kDraws = 20'000;
    std::set<float> steps;
    for (int i = 0; i < kDraws; ++i) {
        const ReplayBuffer::Drawn drawn = buffer.draw(random);
        QCOMPARE(drawn.state[0], drawn.action[0]);
        QCOMPARE(drawn.goal[1], drawn.state[1]); // the episode
        QVERIFY(drawn.goal[0] > drawn.state[0]);
        QVERIFY(drawn.state[0] >= 27); // older steps are gone
        later += (drawn.goal[0] - drawn.state[0]) / kDraws;
        steps.insert(drawn.state[0]);
    }
    QVERIFY(later > 2 && later < 5);
    QVERIFY(steps.size() > 45);
}

void TestWorlds::bufferKeepsTheNewestSteps()
{
    WorldData data = dataOf(WorldKind::Arm);
    ReplayBuffer buffer(data);
    const ReplayBuffer::Contents contents = buffer.contents();
    QCOMPARE(static_cast<double>(contents.states.size() + contents.actions.size() + contents.episodes.size()) * 4,
             projects::replayBytes(data));
    QCOMPARE(buffer.size(), std::int64_t{0});
}

/// Many worlds step in threads; each must not depend on the others.
void TestWorlds::manyWorldsEqualSingleOnes()
{
    WorldData data = dataOf(WorldKind::PointMaze);
    data.environments = 3000;
    Environments many = worldsOf(data);
    Environments again = worldsOf(data);
    for (std::int64_t step = 0; step < 30; ++step) {
        QVERIFY(many.step(actionsAt(data, step)).ok() && again.step(actionsAt(data, step)).ok());
    }
    QVERIFY(std::ranges::equal(many.states(), again.states()));
    std::vector<float> wild(6000, std::numeric_limits<float>::quiet_NaN());
    const Status refused = many.step(wild);
    QVERIFY(!refused.ok());
    QVERIFY(refused.error().message.starts_with("environment 1 has a state that is not finite"));
}

void TestWorlds::showsTheSameExamplesByNumber()
{
    const auto dataset = engine::WorldDataset::open(dataOf(WorldKind::PointMaze), {});
    QVERIFY(dataset.ok());
    engine::Batch first;
    engine::Batch second;
    QVERIFY((*dataset)->fill(first, engine::Split::Train, 3, 7, 16).ok());
    QVERIFY((*dataset)->fill(second, engine::Split::Train, 3, 7, 16).ok());
    QVERIFY(first.fields == second.fields);
    QVERIFY((*dataset)->fill(second, engine::Split::Train, 3, 8, 16).ok());
    QVERIFY(first.fields != second.fields);
    QCOMPARE(first.values<float>(0).size(), std::size_t{64});
    QVERIFY(!(*dataset)->repeats());
    const engine::FedBatch fed = engine::fedBatch(**dataset, first, {.source = dataOf(WorldKind::PointMaze)}, 5);
    QCOMPARE(fed.examples.size(), std::size_t{5});
    QCOMPARE(std::ranges::count(fed.examples.front().input, ' '), 3);  // four numbers of a state
    QCOMPARE(std::ranges::count(fed.examples.front().target, ' '), 1); // two of an action
}

RESIDUA_TEST(TestWorlds)
#include "tst_worlds.moc"
