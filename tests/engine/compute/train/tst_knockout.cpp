// SPDX-License-Identifier: GPL-3.0-or-later
// The effect of switching off a shortcut, a stream, a layer or a half of one, against networks that do not have it.
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/train/trainer_harness.h"

#include "engine/compute/train/knockout.h"
#include "engine/compute/train/trainer.h"
#include "projects/check/validate.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/depth_program.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <stdexcept>

using namespace residua;
using namespace residua::tests;
using engine::Knockout;
using engine::KnockoutEffect;
using projects::Alteration;
using projects::DepthMix;
using projects::KnockoutBy;
using projects::KnockoutSubject;
using projects::LayerPart;
using projects::Project;
using projects::Shortcut;

namespace {

constexpr std::int64_t kKnockoutDepth = 4;
constexpr std::int64_t kKnockoutBatches = 2;
constexpr Shortcut kSwitchedOff{1, 3};

/// A small language model in double precision, under the topology, with the block that it needs.
Project knockoutLanguage(const std::string& topology)
{
    const auto presets = projects::topologyPresets(kKnockoutDepth);
    const auto& wiring = std::ranges::find(presets, topology, &projects::TopologyPreset::name)->wiring;
    Project project = tinyLanguage(projects::blockPresetFor(wiring).name, topology, kKnockoutDepth);
    project.training.batch = 2;
    project.training.sequenceLength = 6;
    project.training.precision = projects::Precision::Fp64;
    return project;
}

engine::TrainerParts openedParts(const Project& project)
{
    Result<engine::TrainerParts> parts = engine::openParts(project, {}, "cpu");
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    return std::move(*parts);
}

double lossOf(engine::TrainerParts& parts, const Alteration& alteration = {})
{
    const at::NoGradGuard noGrad;
    Knockout knockout(*parts.network, *parts.dataset, parts.project, parts.device, kKnockoutBatches, 0,
                      {{"it", 0, 0, alteration}});
    while (!knockout.atEnd()) {
        if (const Status done = knockout.advance(); !done) {
            throw std::runtime_error(done.error().text());
        }
    }
    return knockout.loss() + knockout.effects().front().rise;
}

/// The wiring with every arc a term, as a knock-out opens it.
Project withItsTerms(Project project)
{
    Result<projects::Wiring> wiring = projects::withTerms(project.stack().topology.wiring, kKnockoutDepth);
    project.stack().topology.wiring = wiring ? *wiring : project.stack().topology.wiring;
    return project;
}

Project pruned(Project project)
{
    std::get<DepthMix>(project.stack().topology.wiring).states[kSwitchedOff] = projects::ShortcutState::Pruned;
    return project;
}

/// Returns the indices of the terms of `plan` without those of the pruned shortcut.
std::vector<std::int64_t> keptTerms(const projects::DepthPlan& plan)
{
    std::vector<std::int64_t> kept;
    for (std::size_t term = 0; term < plan.terms.size(); ++term) {
        const bool off = plan.terms[term].source == kSwitchedOff.source &&
                         plan.readers[plan.terms[term].reader].target == kSwitchedOff.target;
        kept.insert(kept.end(), off ? 0 : 1, static_cast<std::int64_t>(term));
    }
    return kept;
}

/// Copies the parameters of a network to the one without a shortcut, whose rows of the shortcut are missing.
bool copyParameters(engine::TrainerParts& from, engine::TrainerParts& to)
{
    const at::NoGradGuard noGrad;
    const auto plan = projects::planOf(std::get<DepthMix>(from.project.stack().topology.wiring), kKnockoutDepth);
    const std::vector<std::int64_t> all = keptTerms(plan);
    for (engine::NamedParameter& parameter : to.network->parameters()) {
        const auto& given =
            std::ranges::find(from.network->parameters(), parameter.name, &engine::NamedParameter::name);
        if (given == from.network->parameters().end()) {
            return false;
        }
        if (given->tensor.sizes() == parameter.tensor.sizes()) {
            parameter.tensor.copy_(given->tensor);
        } else if (given->tensor.size(0) == std::ssize(plan.terms)) {
            parameter.tensor.copy_(given->tensor.index_select(0, at::tensor(all, at::kLong)));
        } else {
            return false; // small networks per token have other shapes
        }
    }
    return true;
}

} // namespace

class TestKnockout : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aTermIsWorthWhatTheNetworkWithoutItLoses_data()
    {
        QTest::addColumn<QString>("topology");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kKnockoutDepth)) {
            const Project project = withItsTerms(knockoutLanguage(std::string(preset.name)));
            const auto terms = projects::knockoutSubjects(project, KnockoutBy::Term, false);
            const auto name = projects::nameOf(kSwitchedOff);
            const bool has = terms && std::ranges::find(*terms, name, &KnockoutSubject::name) != terms->end();
            if (has && !projects::hasErrors(projects::validate(pruned(project)))) {
                QTest::newRow(std::string(preset.name).c_str()) << QString::fromStdString(std::string(preset.name));
            }
        }
    }
    void aTermIsWorthWhatTheNetworkWithoutItLoses()
    {
        QFETCH(QString, topology);
        engine::TrainerParts whole = openedParts(withItsTerms(knockoutLanguage(topology.toStdString())));
        shake(*whole.network, 0.2, 4);
        engine::TrainerParts without = openedParts(pruned(whole.project));
        if (!copyParameters(whole, without)) {
            QSKIP("its small networks per token have other shapes without the shortcut");
        }
        const auto& mix = std::get<DepthMix>(whole.project.stack().topology.wiring);
        const bool renormalises =
            mix.normalise != projects::NormaliseOver::None || mix.weight == projects::WeightKind::DepthAttention;
        const auto subjects = projects::knockoutSubjects(whole.project, KnockoutBy::Term, renormalises);
        QVERIFY2(subjects.ok(), subjects ? "" : subjects.error().text().c_str());
        const auto subject = std::ranges::find(*subjects, projects::nameOf(kSwitchedOff), &KnockoutSubject::name);
        QVERIFY(subject != subjects->end());
        const double expected = lossOf(without);
        QVERIFY2(std::abs(lossOf(whole, subject->alteration) - expected) < 1e-6,
                 qPrintable(QString::number(lossOf(whole, subject->alteration) - expected)));
        QVERIFY(std::abs(lossOf(whole) - expected) > 1e-6); // the shortcut matters
    }

    void factorsScaleWeights_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name : {"plain", "dca", "grn-v3", "ancre-none", "denseformer", "attention-residuals"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    /// A factor of 1 changes nothing, and the mean of factors 0 and 2 of a weight's addition is its whole: the last
    /// reader is linear in its weights.
    void factorsScaleWeights()
    {
        QFETCH(QString, topology);
        const at::NoGradGuard noGrad;
        engine::TrainerParts parts = openedParts(withItsTerms(knockoutLanguage(topology.toStdString())));
        shake(*parts.network, 0.2, 4);
        const auto subjects = projects::knockoutSubjects(parts.project, KnockoutBy::Term, false);
        QVERIFY(subjects.ok());
        engine::SplitBatches batches(*parts.dataset, engine::Split::Validation, parts.project.training, parts.device,
                                     1);
        const engine::DeviceBatch batch = **batches.next();
        engine::AlteredPasses passes(*parts.network, engine::Pass());
        const at::Tensor whole = passes.whole(batch);
        QVERIFY(passes.borderBytes() > 0);
        const auto under = [&](double factor) {
            Alteration alteration = subjects->back().alteration;
            for (auto& [term, of] : alteration.factors) {
                of = factor;
            }
            return passes.altered(batch, alteration);
        };
        const auto far = [](const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); };
        QVERIFY(far(under(1), whole) < 1e-12);
        QVERIFY(far(under(0), whole) > 1e-6);
        QVERIFY(far((under(0) + under(2)) / 2, whole) < 1e-10);
    }

    /// The reads of a static stream, switched off by factors and by the parameter.
    void streamsAreSwitchedOff()
    {
        const at::NoGradGuard noGrad;
        engine::TrainerParts parts = openedParts(knockoutLanguage("hyper-static"));
        shake(*parts.network, 0.2, 4);
        const auto subjects = projects::knockoutSubjects(parts.project, KnockoutBy::Stream, false);
        QVERIFY(subjects.ok());
        const auto& wiring = parts.project.stack().topology.wiring;
        QCOMPARE(std::ssize(*subjects), std::get<projects::MultiStream>(wiring).streams);
        Alteration reads;
        const projects::DepthProgram program = projects::programOf(wiring, kKnockoutDepth);
        for (const projects::DepthStep& step : program.steps) {
            const bool isRead = step.kind == projects::DepthStepKind::Mix && step.row % 2 == 0 &&
                                step.row / 2 < static_cast<std::size_t>(program.modules);
            if (isRead) {
                reads.factors[step.firstTerm + 1] = 0;
            }
        }
        const double byFactor = lossOf(parts, reads);
        const double whole = lossOf(parts);
        QVERIFY(std::abs(lossOf(parts, subjects->at(1).alteration) - byFactor) > 1e-6); // its carry and exit matter too
        std::ranges::find(parts.network->parameters(), "topology.read", &engine::NamedParameter::name)
            ->tensor.select(1, 1)
            .zero_();
        QVERIFY(std::abs(lossOf(parts) - byFactor) < 1e-9);
        QVERIFY(std::abs(whole - byFactor) > 1e-6);
    }

    void bothHalvesAreALayer_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name : {"plain", "ancre-ingoing", "hyper-static", "rezero"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    void bothHalvesAreALayer()
    {
        QFETCH(QString, topology);
        engine::TrainerParts parts = openedParts(knockoutLanguage(topology.toStdString()));
        shake(*parts.network, 0.2, 4);
        const auto halves = projects::knockoutSubjects(parts.project, KnockoutBy::Half, false);
        QVERIFY2(halves.ok(), halves ? "" : halves.error().text().c_str());
        QCOMPARE(halves->size(), static_cast<std::size_t>(2 * kKnockoutDepth));
        QCOMPARE(halves->at(2).name, std::string("attention 2"));
        Alteration both = halves->at(2).alteration;
        both.off.push_back({2, LayerPart::Ffn});
        const double layer = lossOf(parts, {.factors = {}, .off = {{2, LayerPart::Whole}}});
        QVERIFY(std::abs(lossOf(parts, both) - layer) < 1e-9);
        QVERIFY(std::abs(lossOf(parts, halves->at(2).alteration) - layer) > 1e-9);
        QVERIFY(std::abs(lossOf(parts, halves->at(3).alteration) - lossOf(parts)) > 1e-9);
    }

    /// The divergence is 0 of what changes nothing, and the standard error is that of the batches' rises.
    void effectsHaveErrorsAndDivergences()
    {
        engine::TrainerParts parts = openedParts(knockoutLanguage("plain"));
        shake(*parts.network, 0.2, 4);
        Knockout knockout(*parts.network, *parts.dataset, parts.project, parts.device, kKnockoutBatches, 3,
                          {{"nothing", 0, 0, {}}, {"layer 2", 2, 0, {{}, false, {{2, LayerPart::Whole}}}}});
        while (!knockout.atEnd()) {
            QVERIFY(knockout.advance().ok());
        }
        QCOMPARE(knockout.passesDone(), 3 * kKnockoutBatches);
        const std::vector<KnockoutEffect> effects = knockout.effects();
        QVERIFY(effects[0].rise == 0 && effects[0].error == 0 && std::abs(effects[0].divergence) < 1e-12);
        QVERIFY(effects[1].divergence > 0 && effects[1].error > 0 && effects[1].error < 1);
    }

    void subjectsAreChosenByName()
    {
        const auto all = projects::knockoutSubjects(withItsTerms(knockoutLanguage("plain")), KnockoutBy::Term, false);
        QVERIFY(all.ok());
        const auto chosen = projects::chosenSubjects(*all, {"1:3", "0:2", "1:3"});
        QVERIFY(chosen.ok());
        QCOMPARE(chosen->size(), std::size_t{2});
        QCOMPARE(chosen->front().name, std::string("0:2"));
        QCOMPARE(chosen->back().reader, std::int64_t{3});
        QCOMPARE(projects::chosenSubjects(*all, {})->size(), all->size());
        const auto unknown = projects::chosenSubjects(*all, {"0:2", "3:1"});
        QVERIFY(!unknown.ok());
        QVERIFY2(unknown.error().message.find("\"3:1\"") != std::string::npos, unknown.error().text().c_str());
    }

    void aWiringWithoutTheSubjectIsRefused()
    {
        const auto refusal = [](const char* topology, KnockoutBy by, bool renormalises) {
            const auto subjects =
                projects::knockoutSubjects(withItsTerms(knockoutLanguage(topology)), by, renormalises);
            return subjects ? std::string() : subjects.error().place;
        };
        QCOMPARE(refusal("plain", KnockoutBy::Stream, false), std::string("topology"));
        QCOMPARE(refusal("mhc", KnockoutBy::Term, false), std::string("topology"));
        QCOMPARE(refusal("plain", KnockoutBy::Term, true), std::string("topology"));
        QCOMPARE(refusal("ancre-ingoing", KnockoutBy::Term, true), std::string());
        QCOMPARE(refusal("ancre-ingoing", KnockoutBy::Layer, true), std::string("renormalise"));
        QCOMPARE(refusal("mhc", KnockoutBy::Stream, true), std::string("renormalise"));
    }
};

RESIDUA_TEST(TestKnockout)
#include "tst_knockout.moc"
