// SPDX-License-Identifier: GPL-3.0-or-later
// Every optimiser beside the package that people publish, and what all of them have in common: states that are
// declared, groups, checkpoints, growth.
#include "tests/engine/compute/network/network_double.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/session/run_harness.h"

#include "engine/base/files/safetensors.h"
#include "engine/compute/train/optimiser.h"
#include "engine/compute/train/transfer_plan.h"
#include "projects/cost/cost.h"
#include "projects/schema/describe_training.h"
#include "projects/studies/sweep_grid.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/python.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/tensor.h>
#include <ATen/record_function.h>

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <set>

using namespace residua;
using namespace residua::engine;
using projects::ParameterClass;
using tests::kTraining;

namespace {

constexpr std::int64_t kSteps = 50;
constexpr qsizetype kEvery = 7; ///< of the elements is recorded

/// Multiples of 2⁻²³ from −1 to 1, by a hash: optimiser_cases.py has the same.
at::Tensor valuesOf(std::uint32_t seed, at::IntArrayRef shape)
{
    std::vector<float> numbers(static_cast<std::size_t>(c10::multiply_integers(shape)));
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
        std::uint32_t x = seed * 0x9E3779B9U + i * 0x85EBCA6BU + 1;
        x ^= x >> 16U;
        x *= 0x7FEB352DU;
        x ^= x >> 15U;
        x *= 0x846CA68BU;
        x ^= x >> 16U;
        numbers[i] = static_cast<float>(x >> 8U) / 8388608.0F - 1;
    }
    return at::tensor(numbers).reshape(shape);
}

std::vector<NamedParameter> caseParameters()
{
    std::vector<NamedParameter> parameters;
    const auto add = [&](const std::string& name, at::IntArrayRef shape, ParameterClass is) {
        const auto seed = static_cast<std::uint32_t>(parameters.size());
        const at::Tensor start = valuesOf(seed, shape) * 0.125;
        const Decay decay = is == ParameterClass::Vector ? Decay::No : Decay::Yes;
        parameters.push_back({name, start.requires_grad_(true), decay, {}, {}, false, false, false, is});
    };
    add("stem.embedding.weight", {20, 16}, ParameterClass::Table);
    add("layers.1.up.weight", {24, 16}, ParameterClass::Matrix);
    add("layers.1.down.weight", {16, 24}, ParameterClass::Matrix);
    add("layers.1.norm.weight", {16}, ParameterClass::Vector);
    return parameters;
}

void giveGradients(std::vector<NamedParameter>& parameters, std::int64_t step, double factor = 1)
{
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const auto seed = static_cast<std::uint32_t>(100 + 10 * step + static_cast<std::int64_t>(p));
        parameters[p].tensor.mutable_grad() = valuesOf(seed, parameters[p].tensor.sizes()) * factor;
    }
}

void stepWith(Optimiser& optimiser, std::vector<NamedParameter>& parameters, std::int64_t step, double rate)
{
    giveGradients(parameters, step);
    optimiser.step(rate * (1 - static_cast<double>(step) / 100));
}

projects::TrainingPlan planOf(const QJsonObject& optimiser)
{
    const QByteArray text = QJsonDocument(optimiser).toJson(QJsonDocument::Compact);
    const auto project = projects::withField({}, "/training/optimiser", {text.toStdString()});
    projects::TrainingPlan plan = project.value().training;
    plan.clipNorm = 0;
    return plan;
}

QJsonObject casesIn(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

/// The largest difference of a case's weights from those that the package has made.
double distanceOf(const QJsonObject& recorded)
{
    std::vector<NamedParameter> parameters = caseParameters();
    Optimiser optimiser(planOf(recorded["optimiser"].toObject()), parameters);
    for (std::int64_t step = 0; step < kSteps; ++step) {
        stepWith(optimiser, parameters, step, recorded["rate"].toDouble());
    }
    double largest = 0;
    for (const NamedParameter& parameter : parameters) {
        const QJsonArray expected = recorded["weights"].toObject()[QString::fromStdString(parameter.name)].toArray();
        const at::Tensor flat = parameter.tensor.detach().flatten();
        if (expected.size() != (flat.numel() + kEvery - 1) / kEvery) {
            return std::numeric_limits<double>::infinity();
        }
        for (qsizetype i = 0; i < expected.size(); ++i) {
            largest = std::max(largest, std::abs(flat[i * kEvery].item<double>() - expected[i].toDouble()));
        }
    }
    return largest;
}

std::vector<at::Tensor> copiesOf(const std::vector<NamedParameter>& parameters)
{
    std::vector<at::Tensor> copies;
    for (const NamedParameter& parameter : parameters) {
        copies.push_back(parameter.tensor.detach().clone());
    }
    return copies;
}

TensorFiles written(const QTemporaryDir& folder, const Optimiser& optimiser)
{
    const auto path = std::filesystem::path(folder.path().toStdString()) / "o.safetensors";
    const HostTensors state = optimiser.state();
    if (const Status saved = writeSafetensors(path, state.stored(), {}); !saved) {
        throw std::runtime_error(saved.error().text());
    }
    return TensorFiles::openFile(path).value();
}

/// The bytes of the gradients and of all states but the counts.
double countedBytes(Optimiser& optimiser, const std::vector<NamedParameter>& parameters)
{
    double bytes = 0;
    for (const NamedParameter& parameter : parameters) {
        bytes += static_cast<double>(parameter.tensor.nbytes());
    }
    const HostTensors state = optimiser.state();
    for (const auto& [name, stored] : state.stored()) {
        bytes += name.ends_with(".step") ? 0 : static_cast<double>(stored.bytes.size());
    }
    return bytes;
}

/// Counts the operators that a function calls, without the views of single tensors and the copies to them.
std::size_t operatorsOf(const std::function<void()>& run)
{
    static thread_local std::size_t count = 0;
    count = 0;
    const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback([](const at::RecordFunction& function) {
        static const std::set<std::string_view> kOfMembers{"aten::copy_", "aten::select", "aten::unsqueeze",
                                                           "aten::as_strided"};
        count += kOfMembers.contains(function.name()) ? 0 : 1;
        return std::unique_ptr<at::ObserverContext>();
    }));
    run();
    at::removeCallback(handle);
    return count;
}

/// Matrices of one shape with their states under one rule, which update() changes as Optimiser does.
struct Alike {
    Alike(const projects::Optimiser& algorithm, std::size_t count)
    {
        group.rule.algorithm = algorithm;
        group.rule.weightDecay = 0.25;
        const projects::TrainedParameter trained{.name = "w", .shape = {24, 16}, .is = ParameterClass::Matrix};
        for (std::size_t i = 0; i < count; ++i) {
            states.emplace_back(group.rule, trained, at::TensorOptions(at::kFloat));
        }
        for (std::size_t i = 0; i < count; ++i) {
            const at::Tensor start = valuesOf(static_cast<std::uint32_t>(i), {24, 16}) * 0.125;
            group.members.push_back({start, {}, &states[i], i});
        }
    }

    /// Updates the members from `first` on. Returns the number of operators.
    std::size_t step(std::int64_t joinsBytes, std::size_t first = 0)
    {
        UpdateGroup part{group.rule, {group.members.begin() + static_cast<std::ptrdiff_t>(first), group.members.end()}};
        for (UpdateGroup::Member& member : part.members) {
            member.gradient = valuesOf(static_cast<std::uint32_t>(100 + 10 * steps + member.index), {24, 16});
        }
        const UpdateStep step{.rate = 0.01, .scale = at::tensor(2.0F), .skip = {}, .joinsBytes = joinsBytes};
        ++steps;
        return operatorsOf(
            [&] { std::visit([&](const auto& each) { update(each, part, step); }, group.rule.algorithm); });
    }

    std::vector<ParameterStates> states;
    UpdateGroup group;
    std::size_t steps = 0;
};

class TestOptimisers : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void followsItsPackage_data()
    {
        addCases(casesIn(RESIDUA_OPTIMISER_CASES));
        QCOMPARE(m_cases.size(), qsizetype(12));
    }
    void followsItsPackage()
    {
        QFETCH(QJsonObject, recorded);
        const double apart = distanceOf(recorded);
        QVERIFY2(apart < 1e-6, std::to_string(apart * 1e6).append("e-6").c_str());
    }

    void parametersThatStackMatrices_data()
    {
        QTest::addColumn<std::vector<std::int64_t>>("shape");
        QTest::addColumn<bool>("stacks");
        QTest::addColumn<int>("rows");
        QTest::newRow("a matrix a module") << std::vector<std::int64_t>{3, 6, 16} << true << 1;
        QTest::newRow("rows behind the streams") << std::vector<std::int64_t>{3, 2, 6, 8} << true << 2;
        QTest::newRow("one matrix") << std::vector<std::int64_t>{4, 5, 8} << false << 1;
    }

    /// Each matrix is updated as a parameter of its own, and Muon makes its singular values nearly equal.
    void parametersThatStackMatrices()
    {
        QFETCH(std::vector<std::int64_t>, shape);
        QFETCH(bool, stacks);
        QFETCH(int, rows);
        const auto matricesOf = [&](const at::Tensor& whole) {
            std::vector<at::Tensor> matrices;
            for (const at::Tensor& each : stacks ? whole.unbind(0) : std::vector<at::Tensor>{whole}) {
                matrices.push_back(each.movedim(rows - (stacks ? 1 : 0), 0).flatten(1).clone());
            }
            return matrices;
        };
        projects::TrainingPlan plan;
        plan.clipNorm = 0;
        plan.optimiser = projects::Sgd{};
        plan.groups = {{.names = "topology.*", .optimiser = projects::Muon{}},
                       {.names = "layers.*", .optimiser = projects::Muon{}}};
        std::vector<NamedParameter> stacked(1);
        stacked[0].name = "topology.dynamic";
        stacked[0].tensor = valuesOf(1, shape).to(at::kDouble).requires_grad_(true);
        stacked[0].is = ParameterClass::Vector;
        stacked[0].matrix = projects::MatrixForm{.stacks = stacks, .rows = rows};
        std::vector<NamedParameter> apart;
        for (const at::Tensor& matrix : matricesOf(stacked[0].tensor.detach())) {
            apart.push_back({.name = "layers." + std::to_string(apart.size() + 1) + ".w",
                             .tensor = matrix.requires_grad_(true),
                             .held = {},
                             .slices = {}});
        }
        const std::vector<at::Tensor> before = matricesOf(stacked[0].tensor.detach());
        Optimiser together(plan, stacked);
        Optimiser each(plan, apart);
        stacked[0].tensor.mutable_grad() = valuesOf(2, shape).to(at::kDouble);
        const std::vector<at::Tensor> gradients = matricesOf(stacked[0].tensor.grad());
        for (std::size_t i = 0; i < apart.size(); ++i) {
            apart[i].tensor.mutable_grad() = gradients[i];
        }
        together.step(0.5);
        each.step(0.5);
        const std::vector<at::Tensor> after = matricesOf(stacked[0].tensor.detach());
        for (std::size_t i = 0; i < apart.size(); ++i) {
            QVERIFY((after[i] - apart[i].tensor).abs().max().item<double>() < 1e-12);
            const at::Tensor values = std::get<1>(at::linalg_svd((after[i] - before[i]) / 0.5, false));
            QVERIFY(values.min().item<double>() > 0.5 && values.max().item<double>() < 1.3);
        }
    }

    /// A plan's Muon leaves the wiring to its AdamW; a group that names the wiring's matrices does not.
    void muonTrainsTheWiringIfAGroupNamesIt()
    {
        const projects::TrainedParameter matrix{"topology.dynamic",
                                                {3, 6, 16},
                                                ParameterClass::Vector,
                                                true,
                                                projects::MatrixForm{.stacks = true, .rows = 1}};
        const projects::TrainedParameter vector{"topology.scale", {3, 2}, ParameterClass::Vector};
        const projects::Muon muon;
        const auto isMuon = [&](const std::vector<projects::ParameterGroup>& groups,
                                const projects::TrainedParameter& parameter) {
            return std::holds_alternative<projects::Muon>(projects::ruleOf(muon, groups, parameter).algorithm);
        };
        QVERIFY(!isMuon({}, matrix));
        QVERIFY(!isMuon({{.optimiser = muon}}, matrix));
        QVERIFY(isMuon({{.names = "topology.dynamic", .optimiser = muon}}, matrix));
        QVERIFY(isMuon({{.role = projects::ParameterRole::Topology, .optimiser = muon}}, matrix));
        QVERIFY(!isMuon({{.names = "topology.*", .optimiser = muon}}, vector));
    }

    /// The wiring declares its matrices: mHC's projections one a module, [logits, streams · width].
    void wiringsDeclareTheirMatrices()
    {
        for (const auto& [topology, form] :
             {std::pair{"mhc", projects::MatrixForm{true, 2}}, {"hyper-dynamic", projects::MatrixForm{true, 1}}}) {
            projects::Project project = tests::quickLanguage(1);
            project = *projects::rewired(project, tests::topologyNamed(topology, project.network));
            const auto network = tests::compiled(project);
            const auto dynamic = std::ranges::find(network->parameters(), "topology.dynamic", &NamedParameter::name);
            QVERIFY2(dynamic != network->parameters().end() && dynamic->matrix, topology);
            QVERIFY(*dynamic->matrix == form);
            QCOMPARE(dynamic->tensor.dim(), form.rows + 2);
        }
    }

    /// Compares with the installed packages.
    void followsItsPackageLive()
    {
        const QTemporaryDir folder;
        QProcess process;
        process.start(tests::pythonProgram(), {"-B", RESIDUA_OPTIMISER_SCRIPT, folder.filePath("cases.json")});
        if (!process.waitForStarted() || !process.waitForFinished(240'000) || process.exitCode() != 0) {
            QSKIP(
                "no Python with torch, transformers, lion-pytorch and galore-torch: packaging/python.sh installs them");
        }
        const QJsonObject cases = casesIn(folder.filePath("cases.json"));
        QCOMPARE(cases.size(), m_cases.size());
        for (auto each = cases.begin(); each != cases.end(); ++each) {
            const double apart = distanceOf(each.value().toObject());
            QVERIFY2(apart < 1e-6, qPrintable(each.key() + ": " + QString::number(apart)));
        }
    }

    void goesOnFromItsCheckpoint_data() { addCases(m_cases); }
    void goesOnFromItsCheckpoint()
    {
        QFETCH(QJsonObject, recorded);
        constexpr std::int64_t kHalf = 7;
        const double rate = recorded["rate"].toDouble();
        projects::TrainingPlan plan = planOf(recorded["optimiser"].toObject());
        if (auto* const galore = std::get_if<projects::Galore>(&plan.optimiser)) {
            galore->gap = 5; // before, between and after
        }
        std::vector<NamedParameter> whole = caseParameters();
        std::vector<NamedParameter> resumed = caseParameters();
        const QTemporaryDir folder;
        Optimiser straight(plan, whole);
        Optimiser first(plan, resumed);
        Optimiser second(plan, resumed);
        for (std::int64_t step = 0; step < 2 * kHalf; ++step) {
            stepWith(straight, whole, step, rate);
            if (step == kHalf) {
                QVERIFY(second.load(written(folder, first)));
            }
            stepWith(step < kHalf ? first : second, resumed, step, rate);
        }
        for (std::size_t i = 0; i < whole.size(); ++i) {
            QVERIFY2(at::equal(whole[i].tensor, resumed[i].tensor), whole[i].name.c_str());
        }
    }

    void clipsAndSkips_data() { addCases(m_cases); }
    void clipsAndSkips()
    {
        QFETCH(QJsonObject, recorded);
        constexpr double kClip = 4; // the norm comes to 18.8
        projects::TrainingPlan plan = planOf(recorded["optimiser"].toObject());
        std::vector<NamedParameter> scaled = caseParameters();
        std::vector<NamedParameter> clipped = caseParameters();
        const std::vector<at::Tensor> before = copiesOf(clipped);
        Optimiser byHand(plan, scaled);
        plan.clipNorm = kClip;
        Optimiser optimiser(plan, clipped);
        // A skipped update counts, as on a GPU, but changes nothing else.
        for (auto* const each : {&scaled, &clipped}) {
            giveGradients(*each, 0);
            (*each)[1].tensor.mutable_grad()[0][0] = std::nan("");
        }
        QVERIFY(std::isnan(byHand.step(0.01).item<double>()));
        QVERIFY(std::isnan(optimiser.step(0.01).item<double>()));
        for (std::size_t i = 0; i < clipped.size(); ++i) {
            QVERIFY2(at::equal(clipped[i].tensor, before[i]), clipped[i].name.c_str());
        }
        const HostTensors state = optimiser.state();
        for (const auto& [name, stored] : state.stored()) {
            QVERIFY2(name.ends_with(".step") || !viewOf(stored).any().item<bool>(), name.c_str());
        }
        giveGradients(clipped, 0);
        const double norm = optimiser.step(0.01).item<double>();
        QVERIFY(norm > 2 * kClip);
        giveGradients(scaled, 0, kClip / norm);
        byHand.step(0.01);
        for (std::size_t i = 0; i < clipped.size(); ++i) {
            QVERIFY2(tests::distance(clipped[i].tensor, scaled[i].tensor) < 1e-6, clipped[i].name.c_str());
        }
    }

    /// Whether a layer becomes a copy with its states, or begins anew: a copy of both steps as its source does.
    void growsWithItsStates_data() { addCases(m_cases); }
    void growsWithItsStates()
    {
        QFETCH(QJsonObject, recorded);
        std::vector<NamedParameter> parameters = caseParameters();
        const at::Tensor copy = valuesOf(9, {24, 16}).requires_grad_(true);
        parameters.push_back({"layers.2.up.weight", copy, Decay::Yes, {}, {}});
        Optimiser optimiser(planOf(recorded["optimiser"].toObject()), parameters);
        for (std::int64_t step = 0; step < 3; ++step) {
            stepWith(optimiser, parameters, step, 0.01);
        }
        TransferPlan carried;
        carried.add({.tensor = {"layers.1.up.weight", {"layers.2.up.weight"}}, .moments = Moments::Carried});
        carried.applyWithin(parameters, optimiser);
        const at::Tensor gradient = valuesOf(7, {24, 16});
        for (NamedParameter& parameter : parameters) {
            parameter.tensor.mutable_grad().reset();
        }
        parameters[1].tensor.mutable_grad() = gradient;
        parameters[4].tensor.mutable_grad() = gradient;
        optimiser.step(0.01);
        QVERIFY(at::equal(parameters[1].tensor, parameters[4].tensor));
        TransferPlan fresh;
        fresh.add({.tensor = {"layers.1.up.weight", {"layers.2.up.weight"}}});
        fresh.applyWithin(parameters, optimiser);
        const HostTensors state = optimiser.state();
        for (const auto& [name, stored] : state.stored()) {
            QVERIFY2(!name.starts_with("layers.2.") || !viewOf(stored).any().item<bool>(), name.c_str());
        }
    }

    void joinsParametersOfOneShape_data()
    {
        QTest::addColumn<projects::Optimiser>("algorithm");
        QTest::newRow("lion") << projects::Optimiser(projects::Lion{});
        QTest::newRow("muon") << projects::Optimiser(projects::Muon{});
        QTest::newRow("adafactor") << projects::Optimiser(projects::Adafactor{});
        QTest::newRow("adafactor, factored") << projects::Optimiser(projects::Adafactor{.factoredFrom = 8});
    }

    /// As each by itself, in as many operators for six as for two. The first member has updates fewer than the others.
    void joinsParametersOfOneShape()
    {
        QFETCH(projects::Optimiser, algorithm);
        constexpr std::int64_t kBytes = 24 * 16 * 4;
        for (const std::int64_t joined : {kBytes, 3 * kBytes, 100 * kBytes}) {
            Alike single(algorithm, 6);
            Alike together(algorithm, 6);
            for (std::size_t step = 0; step < 4; ++step) {
                single.step(0, step < 2 ? 1 : 0);
                together.step(joined, step < 2 ? 1 : 0);
            }
            for (std::size_t i = 0; i < 6; ++i) {
                const at::Tensor& one = single.group.members[i].parameter;
                QVERIFY(tests::distance(one, together.group.members[i].parameter) < 1e-6);
                for (std::size_t state = 0; state < single.states[i].all().size(); ++state) {
                    const at::Tensor& expected = single.states[i].all()[state].tensor;
                    QVERIFY(tests::distance(expected, together.states[i].all()[state].tensor) < 1e-6);
                }
            }
        }
        Alike two(algorithm, 2);
        Alike six(algorithm, 6);
        const std::size_t ofTwo = two.step(100 * kBytes);
        QCOMPARE(six.step(100 * kBytes), ofTwo);
        QVERIFY(six.step(0) > 3 * ofTwo);
    }

    /// T5X decays by a share of its own; a gradient of zeros changes nothing else.
    void adafactorDecaysWithoutTheRate()
    {
        projects::TrainingPlan plan;
        plan.optimiser = projects::Adafactor{.weightDecay = 0.25};
        std::vector<NamedParameter> parameters = caseParameters();
        const std::vector<at::Tensor> before = copiesOf(parameters);
        Optimiser optimiser(plan, parameters);
        giveGradients(parameters, 0, 0);
        optimiser.step(0.01);
        QVERIFY(tests::distance(parameters[1].tensor, before[1] * 0.75) < 1e-7);
        QVERIFY(at::equal(parameters[3].tensor, before[3])); // a gain does not decay
    }

    void groupsTakeOverByNameAndRole()
    {
        projects::TrainingPlan plan;
        plan.clipNorm = 0;
        plan.optimiser = projects::Sgd{.weightDecay = 0.5};
        plan.groups = {
            {.names = "layers.1.up.*", .optimiser = projects::Sgd{}, .rateScale = 0},
            {.role = projects::ParameterRole::Hidden, .optimiser = projects::Lion{}, .rateScale = 2},
            {.role = projects::ParameterRole::Vector,
             .optimiser = projects::Sgd{.weightDecay = 0.5},
             .decay = projects::GroupDecay::All},
            {.names = "*", .role = projects::ParameterRole::Hidden, .optimiser = projects::Muon{}}, // comes too late
        };
        std::vector<NamedParameter> parameters = caseParameters();
        const std::vector<at::Tensor> before = copiesOf(parameters);
        Optimiser optimiser(plan, parameters);
        stepWith(optimiser, parameters, 0, 0.01);
        const auto gradientOf = [&](std::size_t i) { return parameters[i].tensor.grad(); };
        QVERIFY(tests::distance(parameters[0].tensor, before[0] * 0.995 - gradientOf(0) * 0.01) < 1e-7);
        QVERIFY(at::equal(parameters[1].tensor, before[1]));
        QVERIFY(tests::distance(parameters[2].tensor, before[2] - gradientOf(2).sign() * 0.02) < 1e-7);
        QVERIFY(tests::distance(parameters[3].tensor, before[3] * 0.995 - gradientOf(3) * 0.01) < 1e-7);
    }

    void memoryIsWhatItCosts_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("optimiser");
        QTest::addColumn<bool>("grouped");
        for (const char* const topology : {"plain", "ancre-ingoing", "dca", "highway", "ihc"}) {
            for (const std::string_view kind : projects::kNamesOf<projects::Optimiser>) {
                const QString key = QString::fromStdString(std::string(kind));
                QTest::addRow("%s, %s", topology, qPrintable(key)) << topology << key << false;
            }
        }
        QTest::newRow("groups") << "plain"
                                << "adamw" << true;
    }
    void memoryIsWhatItCosts()
    {
        QFETCH(QString, topology);
        QFETCH(QString, optimiser);
        QFETCH(bool, grouped);
        const std::string block = topology == "dca" ? "transformer-qkv" : "transformer";
        projects::Project project = tests::tinyLanguage(block, topology.toStdString(), 3);
        project = projects::withField(project, "/training/optimiser", {optimiser.toStdString()}).value();
        if (auto* const adafactor = std::get_if<projects::Adafactor>(&project.training.optimiser)) {
            adafactor->factoredFrom = 8;
        } else if (auto* const galore = std::get_if<projects::Galore>(&project.training.optimiser)) {
            galore->rank = 3;
        }
        if (grouped) {
            project.training.groups = {
                {.names = "layers.2.*", .optimiser = projects::Sgd{.momentum = 0.9}},
                {.role = projects::ParameterRole::Hidden, .optimiser = projects::Galore{.rank = 2}},
                {.role = projects::ParameterRole::Head, .optimiser = projects::Sgd{}}};
        }
        const auto network = tests::compiled(project);
        Optimiser made(project.training, network->parameters());
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost ? "" : cost.error().text().c_str());
        QCOMPARE(cost->total.optimiserBytes, countedBytes(made, network->parameters()));
        network->loss(tests::randomBatch(project, 2, 8, 1), kTraining).backward();
        made.step(0.01);
        QCOMPARE(cost->total.optimiserBytes, countedBytes(made, network->parameters()));
    }

private:
    void addCases(const QJsonObject& cases)
    {
        m_cases = cases;
        QTest::addColumn<QJsonObject>("recorded");
        for (auto each = cases.begin(); each != cases.end(); ++each) {
            QTest::newRow(qPrintable(each.key())) << each.value().toObject();
        }
    }

    QJsonObject m_cases = casesIn(RESIDUA_OPTIMISER_CASES);
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestOptimisers)
#include "tst_optimisers.moc"
