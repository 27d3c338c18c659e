// SPDX-License-Identifier: GPL-3.0-or-later
// Mixes whose weights the visits of a loop share, against the same network with weights of each visit.
#include "tests/engine/compute/network/network_harness.h"

#include "projects/check/validate.h"
#include "projects/cost/cost.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/shared_mix.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/transfer/retrofit.h"
#include "projects/transfer/ties.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <QTest>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

using namespace residua;
using namespace residua::tests;
using namespace residua::projects;

namespace {

constexpr std::int64_t kSharedStored = 4;

struct SharedCase {
    const char* name;
    const char* topology;
    const char* block;
    EarlierEntries earlier;
    std::int64_t k;
    projects::WeightKind weight;
    projects::NormaliseOver normalise;
};
constexpr SharedCase kSharedCases[] = {
    {"last two", "denseformer", "transformer", EarlierEntries::Nothing, 2, projects::WeightKind::Scalar,
     projects::NormaliseOver::None},
    {"input and last", "denseformer", "transformer", EarlierEntries::Input, 3, projects::WeightKind::PerFeature,
     projects::NormaliseOver::None},
    {"more than there are", "denseformer", "transformer", EarlierEntries::Nothing, 20, projects::WeightKind::Scalar,
     projects::NormaliseOver::Sources},
    {"beside", "ancre-ingoing", "transformer", EarlierEntries::Nothing, 3, projects::WeightKind::Scalar,
     projects::NormaliseOver::Sources},
    {"sum of branches", "grn-v2", "transformer", EarlierEntries::InputAndSum, 2, projects::WeightKind::PerFeature,
     projects::NormaliseOver::None},
    {"ports", "dca", "transformer-qkv", EarlierEntries::InputAndSum, 2, projects::WeightKind::Scalar,
     projects::NormaliseOver::None},
};

DepthMix& sharedMixOf(Project& project)
{
    return std::get<DepthMix>(project.stack().topology.wiring);
}

/// Layers 1 and 4 once, and 2 and 3 `visits` times.
Project sharingLoop(const SharedCase& of, VisitRows rows, std::int64_t visits = 3)
{
    Project project = tinyLanguage(of.block, "plain", kSharedStored);
    project.stack().topology = topologyNamed(of.topology, project.network);
    DepthMix& mix = sharedMixOf(project);
    mix.sites = MixSites::Mhsa;
    mix.gate = {};
    mix.sources = FirstAndLast{of.k, of.earlier};
    mix.weight = of.weight;
    mix.normalise = of.normalise;
    project.stack().loops = {{.first = 2, .last = 3, .visits = visits, .rows = rows}};
    return project;
}

/// Shortcuts that are typed without visits.
struct ListedCase {
    const char* name;
    const char* topology;
    const char* text; ///< with the layers 1, 2 and 3 in a loop, and 4
    projects::WeightKind weight;
    projects::NormaliseOver normalise = projects::NormaliseOver::None;
    MixSites sites = MixSites::Mhsa;
};
constexpr ListedCase kListedCases[] = {
    {"beside", "none", "0:2+1:3+3:2+2:2+2:4", projects::WeightKind::Scalar},
    {"beside, normalised", "ancre-ingoing", "0:1+1:2+1:3+2:3+3:2+0:4+3:4", projects::WeightKind::PerFeature,
     projects::NormaliseOver::Sources},
    {"sum of branches", "grn-v1", "0:1+0:2+1:2+3:2+2:3+0:3+3:4+2:5+3:5+4:5", projects::WeightKind::Scalar},
    {"halves", "ancre-none", "1a:2a+2a:3a+3a:2a+2f:3f+1f:2f+3f:4f", projects::WeightKind::Scalar,
     projects::NormaliseOver::None, MixSites::Both},
    {"learned beside the sum", "plain", "1:3+3:2+2:4+3:5", projects::WeightKind::Fixed},
    {"learned in a list", "none", "1:3+3:2+2:4", projects::WeightKind::Fixed},
};

/// Layers 1 and 4 once, and 2 and 3 `visits` times, with the shortcuts of a case.
Project listingLoop(const ListedCase& of, VisitRows rows, std::int64_t visits, VisitOrder order)
{
    Project project = tinyLanguage("transformer", "plain", kSharedStored);
    project.stack().topology = topologyNamed(of.topology, project.network);
    project.stack().loops = {{.first = 2, .last = 3, .visits = visits, .order = order, .rows = rows}};
    DepthMix& mix = sharedMixOf(project);
    mix.sites = of.sites;
    mix.init = MixInit::Ones;
    mix.weight = of.weight;
    mix.normalise = of.normalise;
    mix.lastMix = true;
    std::set<Shortcut> shortcuts;
    for (const QString& term : QString(of.text).split('+')) {
        if (const auto named = shortcutsFrom(term.toStdString(), project.stack(), mix)) { // some need several visits
            shortcuts.insert(named->begin(), named->end());
        }
    }
    if (!isRunningSum(mix)) {
        mix.sources = ExplicitSources{{shortcuts.begin(), shortcuts.end()}};
    }
    for (const Shortcut& shortcut : shortcuts) {
        if (of.weight == projects::WeightKind::Fixed) {
            mix.states[shortcut] = ShortcutState::Learned;
        }
    }
    return project;
}

/// Returns the row of each learned weight by hand: one for each pair of stored modules, by reader and source.
std::vector<std::int64_t> listedRowsByHand(const Project& project)
{
    const auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
    const std::int64_t each = mixedModules(mix, 1);
    const auto storedOf = [&](std::int64_t module) {
        const std::int64_t layer = (module + each - 1) / each;
        return module < 1                        ? module
               : layer > project.network.depth() ? kSharedStored * each + 1
                                                 : module + (project.stack().visitAt(layer).layer - layer) * each;
    };
    std::vector<Shortcut> pairs;
    for (const Shortcut& shortcut : std::holds_alternative<ExplicitSources>(mix.sources)
                                        ? std::get<ExplicitSources>(mix.sources).shortcuts
                                        : std::vector<Shortcut>()) {
        pairs.push_back({storedOf(shortcut.source), storedOf(shortcut.target)});
    }
    for (const Shortcut& shortcut : std::views::keys(mix.states)) {
        if (isRunningSum(mix)) {
            pairs.push_back({storedOf(shortcut.source), storedOf(shortcut.target)});
        }
    }
    const std::set<Shortcut> rows(pairs.begin(), pairs.end());
    std::vector<std::int64_t> numbers;
    for (const Shortcut& pair : pairs) {
        numbers.push_back(std::distance(rows.begin(), rows.find(pair)));
    }
    return numbers;
}

Project sharingQueries(VisitRows rows, std::int64_t visits = 3)
{
    Project project = tinyLanguage("transformer", "plain", kSharedStored);
    project.stack().topology = topologyNamed("attention-residuals", project.network);
    sharedMixOf(project).sites = MixSites::Mhsa;
    project.stack().loops = {{.first = 2, .last = 3, .visits = visits, .rows = rows}};
    return project;
}

/// Returns the reader among five (layers 1 to 4 and the output) whose weights an executed reader has.
std::int64_t sharedRowOf(std::int64_t target, std::int64_t visits)
{
    return target == 1 ? 1 : target <= 1 + 2 * visits ? 2 + (target - 2) % 2 : target == 2 + 2 * visits ? 4 : 5;
}

/// Returns the shared row of each term of the plan, by hand: input, sum, then from the k-th newest to the newest.
std::vector<std::int64_t> rowsByHand(const SharedCase& of, const Project& project, std::int64_t visits)
{
    const auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
    const DepthPlan plan = planOf(mix, project.network.depth());
    const std::int64_t first = of.earlier == EarlierEntries::Nothing ? 0 : of.earlier == EarlierEntries::Input ? 1 : 2;
    std::map<std::int64_t, std::int64_t> begins; // of each row's reader
    std::map<std::int64_t, int> outputs;
    for (const DepthReader& reader : plan.readers) {
        if (!reader.sources.empty()) {
            outputs.emplace(sharedRowOf(reader.target, visits), reader.outputs);
        }
    }
    std::int64_t next = 0;
    for (const auto& [row, count] : outputs) {
        begins[row] = next;
        next += count * (first + of.k);
    }
    std::vector<std::int64_t> rows;
    for (const DepthTerm& term : plan.terms) {
        const DepthReader& reader = plan.readers[term.reader];
        const bool isSum = reader.middle && reader.middle->first == term.source;
        const bool isInput = term.source == 0 && first > 0;
        const std::int64_t place = isInput ? 0 : isSum ? 1 : first + of.k - (reader.target - term.source);
        rows.push_back(begins.at(sharedRowOf(reader.target, visits)) + term.output * (first + of.k) + place);
    }
    return rows;
}

std::string sharingFaultOf(const Project& project)
{
    for (const Problem& problem : validate(project)) {
        if (problem.severity == Severity::Error) {
            return problem.path + ": " + problem.message;
        }
    }
    return {};
}

at::Tensor sharedGradientOf(engine::CompiledNetwork& network, const std::string& name)
{
    const at::Tensor tensor = parameter(network, name);
    return tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor);
}

/// Compares loss and gradients with a network that has rows of its own, `rows` of the first one's.
void compareShared(const Project& shared, const Project& own,
                   const std::map<std::string, std::vector<std::int64_t>>& rows)
{
    QCOMPARE(sharingFaultOf(shared), std::string());
    const auto network = compiled(shared);
    const auto expected = compiled(own);
    shake(*network, 0.2, 1);
    {
        const at::NoGradGuard noGrad;
        for (engine::NamedParameter& each : expected->parameters()) {
            const at::Tensor from = parameter(*network, each.name);
            const auto found = rows.find(each.name);
            if (found == rows.end()) {
                each.tensor.copy_(from);
                continue;
            }
            QCOMPARE(each.tensor.size(0), std::ssize(found->second));
            for (std::int64_t t = 0; t < each.tensor.size(0); ++t) {
                each.tensor[t].copy_(from[found->second[static_cast<std::size_t>(t)]]);
            }
        }
    }
    const engine::DeviceBatch batch = randomBatch(shared, 3, 5, 3);
    const at::Tensor loss = network->loss(batch, kTraining);
    const at::Tensor wanted = expected->loss(batch, kTraining);
    loss.backward();
    wanted.backward();
    QVERIFY(distance(loss, wanted) < 1e-12);
    for (const engine::NamedParameter& each : network->parameters()) {
        const auto found = rows.find(each.name);
        at::Tensor sum = sharedGradientOf(*expected, each.name);
        if (found != rows.end()) {
            const at::Tensor parts = sum;
            sum = at::zeros_like(each.tensor);
            for (std::int64_t t = 0; t < parts.size(0); ++t) {
                sum[found->second[static_cast<std::size_t>(t)]] += parts[t];
            }
            QVERIFY(sum.abs().max().item<double>() > 1e-6);
        }
        QVERIFY2(distance(sharedGradientOf(*network, each.name), sum) < 1e-12, each.name.c_str());
    }
}

} // namespace

class TestSharedMixes : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void visitsShareRows_data()
    {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < std::size(kSharedCases); ++i) {
            QTest::newRow(kSharedCases[i].name) << static_cast<int>(i);
        }
    }
    void visitsShareRows()
    {
        QFETCH(int, index);
        const SharedCase& of = kSharedCases[index];
        for (const std::int64_t visits : {1, 3}) {
            const Project own = sharingLoop(of, VisitRows::Visit, visits);
            compareShared(sharingLoop(of, VisitRows::Layer, visits), own,
                          {{"topology.coefficient", rowsByHand(of, own, visits)}});
        }
    }

    void visitsShareListedRows_data()
    {
        QTest::addColumn<int>("index");
        QTest::addColumn<bool>("inPlace");
        for (std::size_t i = 0; i < std::size(kListedCases); ++i) {
            QTest::addRow("%s, in turn", kListedCases[i].name) << static_cast<int>(i) << false;
            QTest::addRow("%s, in place", kListedCases[i].name) << static_cast<int>(i) << true;
        }
    }
    /// A shortcut that is typed without visits has one weight for all of them, in a network with any number of visits,
    /// and layers of their own get copies of it.
    void visitsShareListedRows()
    {
        QFETCH(int, index);
        QFETCH(bool, inPlace);
        const ListedCase& of = kListedCases[index];
        const VisitOrder order = inPlace ? VisitOrder::InPlace : VisitOrder::Cycle;
        const Project three = listingLoop(of, VisitRows::Layer, 3, order);
        const Project own = listingLoop(of, VisitRows::Visit, 3, order);
        const std::vector<std::int64_t> rows = listedRowsByHand(own);
        compareShared(three, own, {{"topology.coefficient", rows}});
        const auto made = untied(three);
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QCOMPARE(carriedRows(three, made->project, made->layers).at("topology.coefficient").rows, rows);
        for (const std::int64_t visits : {2, 5}) {
            const Project other = listingLoop(of, VisitRows::Layer, visits, order);
            QCOMPARE(sharingFaultOf(other), std::string());
            QVERIFY(withVisits(three.stack(), 0, visits) == other.stack());
            const auto network = compiled(other);
            QVERIFY(parameter(*network, "topology.coefficient").sizes() ==
                    parameter(*compiled(three), "topology.coefficient").sizes());
            QCOMPARE(costOf(other)->total.parameters, parameterCount(*network));
        }
        // With one visit, the rows of the round before are missing.
        const Project one = listingLoop(of, VisitRows::Layer, 1, order);
        QVERIFY(withVisits(three.stack(), 0, 1) == one.stack());
        const auto carried = carriedRows(three, one, {1, 2, inPlace ? 5 : 3, 8});
        const auto& kept = carried.at("topology.coefficient").rows;
        QVERIFY(std::ranges::is_sorted(kept) && std::ranges::find(kept, -1) == kept.end());
    }

    /// Weights of each visit stay a network with the same shortcuts between layers of its own.
    void listedRowsOfVisitsEqualLayersOfTheirOwn()
    {
        for (const ListedCase& of : kListedCases) {
            const Project own = listingLoop(of, VisitRows::Visit, 3, VisitOrder::Cycle);
            const auto made = untied(own);
            QVERIFY2(made.ok(), of.name);
            QVERIFY2(made->project.stack().topology.wiring == own.stack().topology.wiring, of.name);
            QVERIFY2(carriedRows(own, made->project, made->layers).at("topology.coefficient").rows.empty(), of.name);
        }
    }

    void visitsShareQueries()
    {
        const Project own = sharingQueries(VisitRows::Visit);
        std::vector<std::int64_t> rows;
        for (const DepthReader& reader : planOf(std::get<DepthMix>(own.stack().topology.wiring), 8).readers) {
            rows.push_back(sharedRowOf(reader.target, 3) - 1);
        }
        compareShared(sharingQueries(VisitRows::Layer), own, {{"topology.query", rows}, {"topology.norm", rows}});
    }

    /// The parameters do not depend on the number of visits, and cost counts them.
    void anyNumberOfVisitsHasTheSameParameters()
    {
        for (const SharedCase& of : kSharedCases) {
            const auto three = compiled(sharingLoop(of, VisitRows::Layer, 3));
            for (const std::int64_t visits : {2, 7}) {
                const Project project = sharingLoop(of, VisitRows::Layer, visits);
                const auto other = compiled(project);
                QCOMPARE(other->parameters().size(), three->parameters().size());
                for (const engine::NamedParameter& each : other->parameters()) {
                    QVERIFY2(each.tensor.sizes() == parameter(*three, each.name).sizes(), each.name.c_str());
                }
                QCOMPARE(costOf(project)->total.parameters, parameterCount(*other));
            }
        }
    }

    /// Layers of their own get the rows of their visits, so that the network is the same.
    void untyingCopiesRows()
    {
        for (const SharedCase& of : kSharedCases) {
            const Project before = sharingLoop(of, VisitRows::Layer);
            const auto made = untied(before);
            QVERIFY2(made.ok(), of.name);
            const auto carried = carriedRows(before, made->project, made->layers);
            const auto rows = rowsByHand(of, sharingLoop(of, VisitRows::Visit), 3);
            const auto found = carried.find("topology.coefficient");
            QVERIFY2(found != carried.end(), of.name);
            QCOMPARE(found->second.from, std::string("topology.coefficient"));
            QCOMPARE(found->second.rows, rows);
        }
    }

    void faultsNameWhatIsNeeded()
    {
        const auto fault = [](const auto& change) {
            Project project = sharingLoop(kSharedCases[0], VisitRows::Layer);
            change(sharedMixOf(project), project.stack().loops[0]);
            return sharingFaultOf(project);
        };
        const auto atRows = [](const std::string& text) { return text.starts_with("/network/loops/0/rows"); };
        QCOMPARE(fault([](DepthMix&, Loop&) {}), std::string());
        QVERIFY(atRows(fault([](DepthMix& mix, Loop&) { mix.sources = AllSources{}; })));
        QVERIFY(atRows(fault([](DepthMix& mix, Loop&) { mix.weight = projects::WeightKind::PerToken; })));
        QVERIFY(atRows(fault([](DepthMix& mix, Loop&) { mix.gate.kind = projects::GateKind::Outside; })));
        QVERIFY(atRows(fault([](DepthMix& mix, Loop&) { mix.init = MixInit::Reciprocal; })));
        QVERIFY(atRows(fault([](DepthMix& mix, Loop&) { mix.normalise = projects::NormaliseOver::Targets; })));
        QVERIFY(atRows(fault([](DepthMix& mix, Loop&) { mix.states[{1, 3}] = ShortcutState::Frozen; })));
        const auto listed = [&](std::vector<Shortcut> shortcuts) {
            return fault([&](DepthMix& mix, Loop&) {
                mix.init = MixInit::Ones;
                mix.sources = ExplicitSources{std::move(shortcuts)};
            });
        };
        QCOMPARE(listed({{0, 1}, {1, 2}, {1, 4}, {1, 6}, {7, 8}, {8, 9}}), std::string());
        for (const std::vector<Shortcut>& some :
             {std::vector<Shortcut>{{1, 2}, {1, 4}}, std::vector<Shortcut>{{2, 3}, {2, 5}, {2, 7}},
              std::vector<Shortcut>{{4, 8}, {6, 8}}}) {
            const std::string text = listed(some);
            QVERIFY2(atRows(text) && text.find("2:4 without @") != std::string::npos, text.c_str());
        }
        QVERIFY(atRows(fault([](DepthMix& mix, Loop&) {
            mix.sources = ExplicitSources{{{1, 2}, {1, 4}, {1, 6}}};
            mix.init = MixInit::Cascaded;
        })));
        QVERIFY(
            fault([](DepthMix&, Loop& loop) { loop.draw = VisitDraw::Uniform; }).starts_with("/network/loops/0/draw"));
    }
};

RESIDUA_TEST(TestSharedMixes)
#include "tst_shared_mixes.moc"
