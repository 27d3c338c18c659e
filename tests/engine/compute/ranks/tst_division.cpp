// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that a step draws or averages, under every division of its examples: the losses of one process with one
// batch. The rows follow from the schema, so that a new feature without a row fails.
#include "division_files.h"
#include "engine/compute/train/evaluation.h"
#include "engine/compute/train/knockout.h"
#include "engine/compute/train/trainer.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/commands/tower_edits.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/alteration.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/schema/describe_project.h"
#include "projects/schema/fields.h"
#include "projects/shipped/examples.h"
#include "rank_harness.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/engine/compute/train/wiring_cases.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::Project;

Q_DECLARE_METATYPE(residua::projects::Project)

namespace {

constexpr int kSteps = 4;
constexpr std::int64_t kBatch = 8;
constexpr double kRounding = 1e-9; ///< of sums in another order, grown over the steps

Project prepared(Project project)
{
    project.training.steps = kSteps;
    project.training.batch = kBatch;
    project.training.accumulate = 1;
    project.training.precision = projects::Precision::Fp64;
    return project;
}

Project pictures()
{
    return prepared(tests::familyUnder("small-vit", "plain"));
}

Project hiddenTokens()
{
    Project project = prepared(tests::familyUnder("small-bert", "plain"));
    std::get<projects::SyntheticLanguage>(project.data.source).tokens = 2000;
    return project;
}

Project language()
{
    return prepared(tests::quickLanguage(kSteps));
}

Project with(Project project, std::string_view pointer, const projects::FieldScalar& value)
{
    if (const Status set = projects::setField(project, pointer, value); !set) {
        throw std::runtime_error(set.error().text());
    }
    return project;
}

/// Spans of different lengths, so that the number of targets differs by example.
Project denoising()
{
    Project project = language();
    project.network.objective = projects::Objective::Denoising;
    project.data.denoising.sentinels = 16;
    std::get<projects::SyntheticLanguage>(project.data.source).vocabulary = 64;
    return project;
}

Project documents(projects::DocumentRows rows)
{
    Project project = language();
    project.data.documents.rows = rows;
    return project;
}

/// A table of values by the pointers of fields: what a row sets.
using Values = std::map<std::string, projects::FieldScalar>;

/// Returns the random numbers of a picture. The constants draw nothing, and are rows all the same.
const Values& augmentations()
{
    static const Values values{{"/data/augmentation/least_area", 0.5},
                               {"/data/augmentation/padding", std::int64_t{2}},
                               {"/data/augmentation/flip", true},
                               {"/data/augmentation/operations", std::int64_t{2}},
                               {"/data/augmentation/magnitude", 5.0},
                               {"/data/augmentation/mixup", 0.4},
                               {"/data/augmentation/mean", 0.4},
                               {"/data/augmentation/deviation", 0.4},
                               {"/data/augmentation/mean_green", 0.4},
                               {"/data/augmentation/mean_blue", 0.4},
                               {"/data/augmentation/deviation_green", 0.4},
                               {"/data/augmentation/deviation_blue", 0.4}};
    return values;
}

const Values& maskings()
{
    static const Values values{{"/data/masking/share", 0.3},         {"/data/masking/masked", 0.5},
                               {"/data/masking/random", 0.2},        {"/data/masking/most", std::int64_t{2}},
                               {"/data/masking/whole_words", true},  {"/data/masking/token", std::int64_t{3}},
                               {"/data/masking/next_sentence", true}};
    return values;
}

/// The kinds of nodes that draw in training, by the traits and the parameters of the table of kinds.
std::set<std::string> drawingKinds()
{
    std::set<std::string> kinds;
    for (const projects::NodeKind& kind : projects::nodeKinds()) {
        const bool draws = std::ranges::any_of(kind.params, [](const projects::ParamSpec& param) {
            return param.help.find("while training") != std::string_view::npos;
        });
        if (draws || kind.traits.onlyInTraining) {
            kinds.insert(kind.key);
        }
    }
    return kinds;
}

Project dropping(const std::string& kind)
{
    Project project = language();
    tests::setAttention(project, "dropout", kind == "attention" ? 0.3 : 0.0);
    if (kind == "dropout") {
        projects::Graph& block = project.network.blocks.front().graph;
        const auto read = std::ranges::find(block.nodes, "attention", &projects::Node::kind);
        projects::insertAfter(block, read->id, "drop", "dropout", {{"rate", 0.3}});
    }
    return project;
}

Project withObjective(projects::Objective objective)
{
    using projects::Objective;
    switch (objective) {
    case Objective::NextToken:
        return language();
    case Objective::HalfSquaredError:
    case Objective::MeanSquaredError: {
        Project project = prepared(tests::quickVectors(kSteps));
        project.training.batching = projects::BatchKind::Random;
        project.network.objective = objective;
        return project;
    }
    case Objective::Classification:
        return pictures();
    case Objective::MaskedToken:
        return hiddenTokens();
    case Objective::Denoising:
        return denoising();
    case Objective::Diffusion: {
        Project project = pictures();
        project.network.objective = objective;
        return project;
    }
    case Objective::TimeAtGoal: // ranks refuse worlds
    case Objective::Count:
        break;
    }
    throw std::runtime_error("the objective has no row");
}

} // namespace

class TestDivision : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("RESIDUA_RANKS", RESIDUA_RANKS_LIBRARY);
        qputenv("XDG_CACHE_HOME", m_folder.filePath("cache").toUtf8());
        tests::writeDivisionFiles(folder());
    }

    void stepsDoNotDependOnTheirDivision_data()
    {
        QTest::addColumn<Project>("project");
        const auto row = [](const std::string& name, const Project& project) {
            QTest::newRow(name.c_str()) << project;
        };
        for (const std::string& kind : drawingKinds()) {
            row("node " + kind, dropping(kind));
        }
        for (const auto& [pointer, value] : augmentations()) {
            Project project = pictures();
            project.data.augmentation.operations = pointer.ends_with("magnitude") ? 2 : 0;
            row(pointer, with(project, pointer, value));
        }
        for (const auto& [pointer, value] : maskings()) {
            Project project = hiddenTokens();
            if (pointer.ends_with("next_sentence")) {
                project.network = projects::withNextSentence(std::move(project.network), true);
            }
            row(pointer, with(project, pointer, value));
        }
        for (const auto rows : {projects::DocumentRows::Single, projects::DocumentRows::Packed}) {
            row(rows == projects::DocumentRows::Single ? "one document a row" : "packed documents", documents(rows));
        }
        row("whole words of several pieces", wholeWords(false));
        row("whole words and next sentence", wholeWords(true));
        for (const projects::ObjectiveTraits& traits : projects::kObjectives) {
            if (traits.acts) {
                continue; // ranks refuse worlds
            }
            const Project project = withObjective(traits.objective);
            row("objective " + std::string(traits.key), project);
            if (traits.smooths) {
                Project smoothed = project;
                smoothed.network.labelSmoothing = 0.1;
                row("label smoothing, " + std::string(traits.key), smoothed);
                smoothed.data.augmentation.mixup = 0.4;
                row("label smoothing and mixup, " + std::string(traits.key), smoothed);
            }
        }
        for (const projects::SchedulePreset& preset : projects::schedulePresets()) {
            Project project = hiddenTokens();
            project.stack().schedule = projects::scheduleOf(preset, project.network.depth(), kSteps);
            row("schedule " + preset.name, project);
        }
        for (Project project : {language(), hiddenTokens()}) {
            const Project teacher = project;
            tests::setAttention(project, "dropout", 0.3);
            const std::string name = "teacher of " + project.name;
            row(name, *projects::withTeacher(std::move(project), teacher, {}));
        }
        for (std::size_t draw = 0; draw < std::size(projects::Choices<projects::VisitDraw>::all); ++draw) {
            Project project = language();
            project.stack().loops = {{.first = 1, .last = project.stack().stored(), .visits = 4}};
            projects::Loop& loop = project.stack().loops.front();
            loop.injection = projects::LoopInjection::Add;
            loop.draw = static_cast<projects::VisitDraw>(draw);
            loop.mean = 2;
            loop.gradientVisits = 2;
            project.training.activations = projects::Activations::Recompute;
            row("visits " + std::string(projects::Choices<projects::VisitDraw>::all[draw].name), project);
            tests::setAttention(project, "dropout", 0.3);
            row("visits with dropout " + std::string(projects::Choices<projects::VisitDraw>::all[draw].name), project);
        }
        Project noisy = language();
        noisy.stack().loops = {{.first = 1, .last = noisy.stack().stored(), .visits = 2}};
        noisy.stack().loops.front().injection = projects::LoopInjection::Linear;
        noisy.stack().loops.front().start = projects::LoopStart::Noise;
        row("a loop that starts as noise", noisy);
        Project products = language();
        products.stack().loops = {{.first = 1, .last = products.stack().stored(), .visits = 2, .adapterRank = 2}};
        row("products of visits", products);
        std::int64_t number = 0;
        for (const projects::Choice& choice : projects::Choices<projects::Optimiser>::all) {
            row("optimiser " + std::string(choice.name), with(language(), "/training/optimiser/kind", number++));
        }
        for (const auto& [source, project] : sources()) {
            row("source " + source, project);
        }
    }

    /// One process with one batch, micro-batches, two ranks, and two ranks with micro-batches. Then, the measures of
    /// the held-out part, in batches of several sizes.
    void stepsDoNotDependOnTheirDivision()
    {
        QFETCH(Project, project);
        std::vector<double> whole;
        std::map<std::string, double> measures;
        {
            Trainer trainer = trainerOf(project, nullptr);
            whole = lossesOf(trainer);
            QCOMPARE(whole.size(), std::size_t{kSteps});
            measures = measured(trainer, kBatch);
            for (const std::int64_t batch : {1, 3}) {
                for (const auto& [name, value] : measured(trainer, batch)) {
                    QVERIFY2(apart(value, measures.at(name)) < kRounding, name.c_str());
                }
            }
        }
        Trainer inParts = trainerOf(divided(project, 4), nullptr);
        compare(lossesOf(inParts), whole, "4 micro-batches");
        tests::withRanks(2, [&](Ranks& ranks) {
            const auto onRanks = [&](const Project& of, const char* what) {
                Trainer trainer = trainerOf(of, &ranks);
                const std::vector<double> losses = lossesOf(trainer, &ranks);
                if (ranks.rank() == 0) {
                    compare(losses, whole, what);
                }
            };
            onRanks(project, "2 ranks");
            onRanks(divided(project, 2), "2 ranks with 2 micro-batches");
        });
    }

    void effectsAreThoseOfOneProcess_data()
    {
        QTest::addColumn<Project>("project");
        const auto row = [](const char* name, Project project) { QTest::newRow(name) << prepared(std::move(project)); };
        for (const char* const topology : {"ancre-ingoing", "dca", "mudd", "denseformer"}) {
            row(topology, tests::wiredLanguage(topology, 3));
        }
        Project again = tests::wiredLanguage("dca", 3);
        again.training.activations = projects::Activations::Recompute;
        row("activations computed again", again);
        Project divided = tests::wiredLanguage("dca", 3);
        divided.training.rankStates = projects::RankStates::Divided;
        row("divided states", divided);
    }
    /// The effects of the shortcuts in a network that two ranks train, on rank 0 beside the run and from the run's
    /// checkpoint.
    void effectsAreThoseOfOneProcess()
    {
        QFETCH(Project, project);
        Trainer alone = trainerOf(project, nullptr);
        (void)lossesOf(alone);
        const std::vector<double> expected = risesOf(alone);
        QVERIFY(expected.size() > 4);
        const std::filesystem::path run = folder() / QTest::currentDataTag();
        tests::withRanks(2, [&](Ranks& ranks) {
            Trainer trainer = trainerOf(project, &ranks);
            (void)lossesOf(trainer, &ranks);
            const bool hasStates = project.training.rankStates == projects::RankStates::Whole;
            if (ranks.rank() == 0) {
                compare(risesOf(trainer), expected, "2 ranks");
                QVERIFY(!hasStates || trainer.writeCheckpoint(run).ok());
            }
        });
        if (project.training.rankStates == projects::RankStates::Whole) {
            const auto checkpoint = findCheckpoint(run, std::nullopt, nullptr);
            QVERIFY2(checkpoint.ok(), checkpoint ? "" : checkpoint.error().text().c_str());
            Trainer other = trainerOf(project, nullptr);
            QVERIFY(other.restore(*checkpoint).ok());
            compare(risesOf(other), expected, "the checkpoint of 2 ranks");
        }
    }

    /// A field that the tables above lack.
    void everyFieldHasARow()
    {
        const std::pair<const char*, const Values*> parts[] = {{"/data/augmentation", &augmentations()},
                                                               {"/data/masking", &maskings()}};
        for (const auto& [part, values] : parts) {
            const std::vector<projects::FieldEntry> fields = projects::fieldsOf(Project(), part);
            QVERIFY(!fields.empty());
            for (const projects::FieldEntry& entry : fields) {
                QVERIFY2(values->contains(entry.pointer), entry.pointer.c_str());
            }
        }
        const std::map<std::string, Project> known = sources();
        for (const projects::Choice& choice : projects::Choices<projects::Source>::all) {
            const bool isRefused = choice.name == std::string_view("world"); // ranks have no worlds
            QVERIFY2(isRefused || known.contains(std::string(choice.name)), choice.name.data());
        }
        QCOMPARE(drawingKinds(), (std::set<std::string>{"attention", "dropout"})); // dropping() makes these
    }

    /// A run of an earlier version draws as it began: by micro-batch.
    void earlierRunsDrawByMicroBatch()
    {
        const auto lossesUnder = [&](const Project& project, ReadingVersion version) {
            Result<TrainerParts> parts =
                openParts(project, folder(), "cpu", FirstWeights::Initialised, {}, Reading{version, {}});
            if (!parts) {
                throw std::runtime_error(parts.error().text());
            }
            Trainer trainer(std::move(*parts));
            return lossesOf(trainer);
        };
        const auto differ = [&](const Project& project, std::int64_t parts) {
            const std::vector<double> now = lossesUnder(divided(project, parts), ReadingVersion::Second);
            const std::vector<double> then = lossesUnder(divided(project, parts), ReadingVersion::First);
            return std::abs(now.front() - then.front()) > 1e-6;
        };
        QVERIFY(differ(dropping("dropout"), 1)); // other draws
        const Project mixed = with(pictures(), "/data/augmentation/mixup", 0.4);
        QVERIFY(!differ(mixed, 1));
        QVERIFY(differ(mixed, 4));
        QVERIFY(!differ(wholeWords(false), 1));
        QVERIFY(differ(wholeWords(false), 4));
    }

private:
    [[nodiscard]] std::filesystem::path folder() const { return m_folder.path().toStdString(); }

    [[nodiscard]] Project wholeWords(bool pairs) const
    {
        Project project = hiddenTokens();
        projects::Tokeniser tokeniser;
        tokeniser.kind = projects::TokeniserKind::TokenizerJson;
        tokeniser.model = "words.json";
        tokeniser.vocabulary = 8;
        project.data.source = projects::TextData{"text.txt", tokeniser};
        project.data.masking.wholeWords = true;
        project.data.masking.share = 0.3;
        project.training.sequenceLength = 12;
        if (pairs) {
            project.data.masking.nextSentence = true;
            project.network = projects::withNextSentence(std::move(project.network), true);
        }
        return project;
    }

    /// A project of each kind of source. Pictures in files are the data set of drawn ones.
    [[nodiscard]] std::map<std::string, Project> sources() const
    {
        const auto text = [](projects::Source source) {
            Project project = language();
            project.data.source = std::move(source);
            return project;
        };
        const auto vectors = [](const char* example) {
            Project project = prepared(projects::findExample(example)->project);
            project.training.batching = projects::BatchKind::Random;
            return project;
        };
        projects::Tokeniser bytes;
        projects::TokenFileData ids;
        ids.path = "ids.bin";
        ids.vocabulary = 24;
        std::map<std::string, Project> made;
        made["text"] = text(projects::TextData{"text.txt", bytes});
        made["json_lines"] = text(projects::JsonLinesData{"lines.jsonl", "text", bytes});
        made["mixture"] = text(projects::MixtureData{{{"text.txt", "text", 2.0}, {"more.txt", "text", 1.0}}, bytes});
        made["token_file"] = text(ids);
        made["synthetic_language"] = language();
        made["linear_regression"] = withObjective(projects::Objective::HalfSquaredError);
        made["low_rank_regression"] = vectors("low-rank-regression");
        made["boolean_polynomial"] = vectors("boolean-polynomial");
        made["labelled_text"] = labelled();
        made["pictures"] = pictures();
        made["drawn_pictures"] = pictures();
        made["latents"] = withObjective(projects::Objective::Diffusion);
        made["latents"].data.source = projects::LatentData{.path = "latents",
                                                           .validationPath = {},
                                                           .height = tests::kLatentSide,
                                                           .width = tests::kLatentSide,
                                                           .channels = 3,
                                                           .classes = projects::kDrawnClasses};
        return made;
    }

    /// Texts of several lengths, of which the padding is left out.
    [[nodiscard]] static Project labelled()
    {
        Project project = prepared(tests::tinyClassifier("plain", 2));
        std::get<projects::LabelledTextData>(project.data.source).path = "table.csv";
        project.training.sequenceLength = 12;
        return project;
    }

    [[nodiscard]] static Project divided(Project project, std::int64_t parts)
    {
        project.training.batch = kBatch / parts;
        project.training.accumulate = parts;
        return project;
    }

    [[nodiscard]] Trainer trainerOf(const Project& project, Ranks* ranks) const
    {
        Result<TrainerParts> parts = openParts(project, folder(), "cpu");
        if (!parts) {
            throw std::runtime_error(parts.error().text());
        }
        return Trainer(std::move(*parts), ranks);
    }

    static std::vector<double> lossesOf(Trainer& trainer, Ranks* ranks = nullptr)
    {
        for (int step = 0; step < kSteps; ++step) {
            if (ranks != nullptr && ranks->rank() > 0) {
                (void)ranks->share({}); // rank 0's word before each step
            }
            if (const auto begun = trainer.beginStage(); !begun) {
                throw std::runtime_error(begun.error().text());
            }
            if (const Status stepped = trainer.step(); !stepped) {
                throw std::runtime_error(stepped.error().text());
            }
        }
        std::vector<double> losses;
        for (const StepRecord& record : trainer.takeRecords()) {
            losses.push_back(record.loss);
        }
        return losses;
    }

    static std::map<std::string, double> measured(Trainer& trainer, std::int64_t batch)
    {
        projects::TrainingPlan plan = trainer.project().training;
        plan.batch = batch;
        Evaluation evaluation(trainer.network(), trainer.dataset(), Split::Validation, plan, c10::kCPU, 0);
        while (!evaluation.atEnd()) {
            if (const Status advanced = evaluation.advance(passAfter(kSteps)); !advanced) {
                throw std::runtime_error(advanced.error().text());
            }
        }
        return evaluation.means();
    }

    /// Returns the loss of the held-out part, then its rise without each shortcut.
    static std::vector<double> risesOf(Trainer& trainer)
    {
        const Project& project = trainer.project();
        Knockout knockout(trainer.network(), trainer.dataset(), project, c10::kCPU, 0, kSteps,
                          projects::knockoutSubjects(project, projects::KnockoutBy::Term, false).value());
        while (!knockout.atEnd()) {
            if (const Status advanced = knockout.advance(); !advanced) {
                throw std::runtime_error(advanced.error().text());
            }
        }
        std::vector<double> rises{knockout.loss()};
        std::ranges::transform(knockout.effects(), std::back_inserter(rises), &KnockoutEffect::rise);
        return rises;
    }

    static double apart(double a, double b) { return std::abs(a - b) / std::max(1.0, std::abs(b)); }

    static void compare(const std::vector<double>& losses, const std::vector<double>& whole, const char* what)
    {
        QCOMPARE(losses.size(), whole.size());
        for (std::size_t i = 0; i < losses.size(); ++i) {
            const double distance = apart(losses[i], whole[i]);
            QVERIFY2(distance < kRounding, qPrintable(QStringLiteral("%1, step %2: %3 in place of %4")
                                                          .arg(what)
                                                          .arg(i + 1)
                                                          .arg(losses[i], 0, 'g', 17)
                                                          .arg(whole[i], 0, 'g', 17)));
        }
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST(TestDivision)
#include "tst_division.moc"
