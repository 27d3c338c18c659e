// SPDX-License-Identifier: GPL-3.0-or-later
// The schema's lines against themselves, and against the validation and the file that follow from them.
#include "projects/schema/fields.h"

#include "projects/check/validate.h"
#include "projects/edit/edit.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/schema/method_keys.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"
#include "tests/support/field_documents.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

using namespace residua;
using namespace residua::projects;

namespace {

/// Whether validation refuses the number that the field holds for its range.
bool isRefused(const Project& project, const FieldEntry& entry)
{
    const std::string expected = "expected " + textOf(entry.field.more.range);
    return std::ranges::any_of(validate(project), [&](const Problem& problem) {
        return problem.severity == Severity::Error && problem.path == entry.pointer && problem.place == entry.place &&
               problem.message.ends_with(expected);
    });
}

} // namespace

class TestFields : public QObject {
    Q_OBJECT

private slots:
    void rangesSayWhatTheyHold()
    {
        QCOMPARE(textOf(Range{}), std::string("any number"));
        QCOMPARE(textOf(Range::within(1, 10'000'000)), std::string("1 to 10000000"));
        QCOMPARE(textOf(Range::atLeast(0.5)), std::string("at least 0.5"));
        QCOMPARE(textOf(Range::moreThan(0)), std::string("more than 0"));
        QCOMPARE(textOf(Range::halfOpen(0, 1)), std::string("at least 0 and below 1"));
        QVERIFY(Range::halfOpen(0, 1).contains(0.0));
        QVERIFY(!Range::halfOpen(0, 1).contains(1.0));
        QVERIFY(!Range::moreThan(0).contains(0.0));
        QVERIFY(!Range{}.contains(std::nan("")));
        QVERIFY(!Range{}.contains(std::numeric_limits<double>::infinity()));
    }

    void startsOfFactorsHaveWordsThatAreRead()
    {
        for (const auto method : {LowRankMethod::Baseline, LowRankMethod::Spectral, LowRankMethod::Lfai,
                                  LowRankMethod::LfaiWs, LowRankMethod::ReluSvd, LowRankMethod::Exact}) {
            QVERIFY(lowRankMethodFrom(wordOf(method)) == method);
            QVERIFY(lowRankMethodFrom(keyOf(method)) == method);
        }
        QCOMPARE(wordOf(LowRankMethod::LfaiWs), std::string("lfai-ws"));
        QCOMPARE(lowRankMethodWords(), std::string("baseline, spectral, lfai, lfai-ws, relu-svd, exact"));
        QVERIFY(!lowRankMethodFrom("svd"));
    }

    void linesBeginWithCapitalsButNamesStay()
    {
        QCOMPARE(headline("warm-up"), std::string("Warm-up"));
        QCOMPARE(headline("per feature"), std::string("Per feature"));
        for (const char* name : {"bf16", "q, k, v", "1/j", "β₁", "AdamW", "i:j", ""}) {
            QCOMPARE(headline(name), std::string(name));
        }
    }

    void everyFieldIsDescribed()
    {
        const std::vector<FieldEntry> fields = everyField();
        QVERIFY(fields.size() > 90);
        std::set<std::pair<std::string, decltype(FieldEntry::within)>> met;
        for (const FieldEntry& entry : fields) {
            const char* const name = entry.pointer.c_str();
            QVERIFY2(!entry.field.title.empty() && !entry.field.help.empty(), name);
            QVERIFY2(entry.field.help.ends_with('.') && entry.field.help.find(". ") == std::string_view::npos, name);
            QVERIFY2(met.insert({entry.pointer, entry.within}).second, name);
            QVERIFY2(!entry.field.more.unit.ends_with('.'), name);
            for (const Choice& choice : entry.choices) {
                QVERIFY2(!choice.name.empty() && !choice.title.empty(), name);
            }
            const bool number = entry.type == FieldType::Integer || entry.type == FieldType::Real;
            QVERIFY2(number || entry.field.more.range == Range{}, name);
        }
    }

    void everyDefaultIsInItsRange()
    {
        for (const FieldEntry& entry : everyField()) {
            const Range& range = entry.field.more.range;
            if (entry.isInList) {
                continue; // whoever adds an entry says what it holds
            }
            if (const auto* const whole = std::get_if<std::int64_t>(&entry.defaultValue)) {
                QVERIFY2(range.contains(*whole), entry.pointer.c_str());
            } else if (const auto* const real = std::get_if<double>(&entry.defaultValue)) {
                QVERIFY2(range.contains(*real), entry.pointer.c_str());
            }
        }
    }

    /// The limit of each range is accepted and the value beyond it refused, if the field's part is trained.
    void validationHoldsEveryFieldToItsRange()
    {
        int ends = 0;
        for (const FieldEntry& entry : everyField()) {
            for (const tests::FieldEnd& end : tests::endsOf(entry)) {
                Project project = tests::documentWith(entry);
                const FieldEntry field = tests::fieldIn(project, entry);
                QVERIFY2(setField(project, field.pointer, tests::numberFor(field, end.value)).ok(),
                         field.pointer.c_str());
                QVERIFY2(isRefused(project, field) == !end.accepted, field.pointer.c_str());
                ++ends;
            }
        }
        QVERIFY(ends > 100);
    }

    /// The schema decides this alone, also within lists, alternatives and graphs.
    void fieldsWithoutEffectAreKnown()
    {
        for (const char* const pointer : {"/name", "/description", "/topology/preset", "/sweeps", "/sweeps/3/axes/0"}) {
            QVERIFY2(decidesAt(pointer) == Decides::Nothing, pointer);
        }
        for (const char* const pointer :
             {"", "/", "/topology", "/topology/wiring/temperature", "/network/stack/0/repeat",
              "/network/blocks/0/graph/nodes/1/params/rank", "/names", "/no/such/field"}) {
            QVERIFY2(decidesAt(pointer) == Decides::Training, pointer);
        }
        for (const FieldEntry& entry : everyField()) {
            QVERIFY2(decidesAt(entry.pointer) == entry.decides, entry.pointer.c_str());
        }
    }

    void everyFieldIsSetByItsPointer()
    {
        for (const FieldEntry& entry : everyField()) {
            Project project = tests::documentWith(entry);
            const FieldEntry field = tests::fieldIn(project, entry);
            QCOMPARE(std::string(field.field.title), std::string(entry.field.title));
            QCOMPARE(placeOfField(project, field.pointer), field.place);
            if (field.type == FieldType::Other) {
                QVERIFY2(!setField(project, field.pointer, std::int64_t{1}).ok(), field.pointer.c_str());
                continue;
            }
            QVERIFY2(!setField(project, field.pointer, std::monostate{}).ok(), field.pointer.c_str());
            const FieldScalar other = tests::otherValue(field);
            QVERIFY2(setField(project, field.pointer, other).ok(), field.pointer.c_str());
            QVERIFY2(findField(project, field.pointer)->value == other, field.pointer.c_str());
        }
    }

    /// The reader of the file and the walk of the schema give the same value.
    void aFieldSetInTheFileIsTheFieldOfThatPointer()
    {
        const Project project = findExample("ancre-language")->project;
        const Result<Project> changed = withField(project, "/training/learning_rate/peak", {"0.25"});
        QVERIFY(changed.ok());
        QCOMPARE(std::get<double>(findField(*changed, "/training/learning_rate/peak")->value), 0.25);
        int set = 0;
        for (const FieldEntry& entry : fieldsOf(project)) {
            const auto* const whole = std::get_if<std::int64_t>(&entry.value);
            if (entry.type == FieldType::Integer && whole != nullptr) {
                const FieldScalar other = tests::otherValue(entry);
                const std::string text = std::to_string(std::get<std::int64_t>(other));
                const Result<Project> inFile = withField(project, entry.pointer, {text});
                Project walked = project;
                QVERIFY2(setField(walked, entry.pointer, other).ok(), entry.pointer.c_str());
                QVERIFY2(inFile.ok() && *inFile == walked && walked != project, entry.pointer.c_str());
                ++set;
            }
        }
        QVERIFY(set > 20);
    }

    void anEditSetsOneField()
    {
        Document document{findExample("ancre-language")->project, {}};
        const auto edit = fieldEdit(document.project, "/training/optimiser/kind", std::int64_t{1});
        QVERIFY(edit.ok());
        QVERIFY(applyEdit(document, *edit).ok());
        QVERIFY(std::holds_alternative<Sgd>(document.project.training.optimiser));
        QVERIFY(!fieldEdit(document.project, "/training/optimiser/beta3", 0.5).ok());
        QVERIFY(!fieldEdit(document.project, "/network/stem/nodes/0/name", std::string("x")).ok());
        QVERIFY(!fieldEdit(document.project, "/training/steps", 0.5).ok());
        const auto endless =
            fieldEdit(document.project, "/training/learning_rate/peak", std::numeric_limits<double>::infinity());
        QCOMPARE(endless.ok() ? std::string() : endless.error().place, std::string("training · learning rate · peak"));
    }

    /// Fields of graphs are refused. Every other field of the document can be set.
    void everyFieldHasItsEdit()
    {
        for (const FieldEntry& entry : everyField()) {
            const Project project = tests::documentWith(entry);
            const FieldEntry field = tests::fieldIn(project, entry);
            const FieldScalar other = tests::otherValue(field);
            const auto edit = fieldEdit(project, field.pointer, other);
            for (const FieldScalar& value : {other, FieldScalar(std::string("?")), FieldScalar(std::int64_t{1000})}) {
                Project trial = project;
                const Status set = setField(trial, field.pointer, value);
                const Status checked = checkField(project, field.pointer, value);
                QVERIFY2(set.ok() == checked.ok() && (set.ok() || set.error() == checked.error()),
                         field.pointer.c_str());
            }
            QVERIFY2(edit.ok() != (field.hasOwnEdits || field.type == FieldType::Other), field.pointer.c_str());
            if (edit) {
                Document document{project, {}};
                const Status applied = applyEdit(document, *edit);
                QVERIFY2(applied.ok(), applied ? "" : applied.error().text().c_str());
                Project changed = project;
                QVERIFY(setField(changed, field.pointer, other).ok());
                if (field.pointer == kFullModelSteps) { // which the borders of the stages follow
                    QCOMPARE(document.project.stack().schedule.fullModelSteps, changed.stack().schedule.fullModelSteps);
                    continue;
                }
                QVERIFY2(document.project == changed, field.pointer.c_str());
            }
        }
    }

    void partsOfTheDocumentHavePlacesToo()
    {
        Project project = findExample("ancre-language")->project;
        project.stack().schedule.stages = {{0, 2, {1}}};
        QCOMPARE(placeOfField(project, "/schedule"), std::string("schedule"));
        QCOMPARE(placeOfField(project, "/schedule/stages/0/start"), std::string("schedule · stage 1 · start"));
        QCOMPARE(placeOfField(project, "/topology/wiring/temperature"), std::string("topology · temperature"));
        QCOMPARE(placeOfField(project, "/data/source/tokens"), std::string("data · length"));
        QCOMPARE(placeOfField(project, "/training/bacth"), std::string("training"));
        QCOMPARE(placeInSection(project, "/training/bacth"), std::string("training"));
        QCOMPARE(placeInSection(project, "/training/learning_rate/peak"), std::string("learning rate · peak"));
        QCOMPARE(placeInSection(project, "/data/source/tokens"), std::string("length"));
        QCOMPARE(placeInSection(project, "/schedule/stages/0/start"), std::string("stage 1 · start"));
    }

    /// Checks the lines of the schema. Wirings are checked in tests/app/properties/tst_properties.cpp.
    void aFieldWithoutMeaningIsKnown()
    {
        const auto isIdle = [](const Project& project, const char* pointer) {
            const auto entry = findField(project, pointer);
            return entry ? std::optional(entry->isIdle) : std::nullopt;
        };
        Project project;
        QCOMPARE(isIdle(project, "/training/sequence_length"), std::optional(false));
        project.data.source = LinearRegression{};
        QCOMPARE(isIdle(project, "/training/sequence_length"), std::optional(true));
        QCOMPARE(isIdle(project, "/training/batch"), std::optional(false));
        project.data.source = MixtureData{{{"a.jsonl", "text", 1}, {"b.txt", "text", 1}}, {}};
        QCOMPARE(isIdle(project, "/data/source/parts/0/field"), std::optional(false));
        QCOMPARE(isIdle(project, "/data/source/parts/1/field"), std::optional(true));
        QCOMPARE(isIdle(project, "/data/source/parts/1/path"), std::optional(false));
        DepthMix mix;
        project.stack().topology.wiring = mix;
        QCOMPARE(isIdle(project, "/topology/wiring/tsallis/q"), std::optional(true)); // with all of its part
        mix.normalise = NormaliseOver::Sources;
        mix.weight = WeightKind::Scalar;
        project.stack().topology.wiring = mix;
        QCOMPARE(isIdle(project, "/topology/wiring/tsallis/q"), std::optional(false));
        project.data.source = TextData{"a.txt", {}};
        QCOMPARE(isIdle(project, "/data/source/tokeniser/vocabulary"), std::optional(true)); // of bytes there are 256
        QCOMPARE(isIdle(project, "/data/source/tokeniser/model"), std::optional(true));
        project.data.source = TextData{"a.txt", {TokeniserKind::SentencePiece, "a.model", 500}};
        QCOMPARE(isIdle(project, "/data/source/tokeniser/vocabulary"), std::optional(false));
        QCOMPARE(isIdle(project, "/data/source/tokeniser/model"), std::optional(false));
        for (const FieldEntry& entry : everyField()) {
            QVERIFY2(!entry.isIdle, entry.pointer.c_str());
        }
    }

    /// Compares the schema with validation for each weight and normalisation of a depth mix.
    void fieldsThatADepthMixRefusesAreIdle()
    {
        int refusals = 0;
        for (const WeightKind weight : {WeightKind::Fixed, WeightKind::Scalar, WeightKind::PerFeature,
                                        WeightKind::DepthAttention, WeightKind::PerToken}) {
            for (const NormaliseOver over : {NormaliseOver::None, NormaliseOver::Sources, NormaliseOver::Targets}) {
                Project project = findExample("ancre-language")->project;
                DepthMix mix;
                mix.weight = weight;
                mix.normalise = over;
                mix.tsallis.weight = 0.1;
                mix.gate.kind = GateKind::Outside;
                project.stack().topology.wiring = mix;
                const std::vector<Problem> problems = validate(project);
                for (const auto& [refused, field] :
                     {std::pair{"/topology/wiring/tsallis/weight", "/topology/wiring/tsallis/weight"},
                      {"/topology/wiring/gate", "/topology/wiring/gate/kind"}}) {
                    const auto isError = [&](const Problem& problem) {
                        return problem.severity == Severity::Error && problem.path == refused;
                    };
                    const bool isRefused = std::ranges::any_of(problems, isError);
                    QCOMPARE(findField(project, field)->isIdle, isRefused);
                    refusals += isRefused ? 1 : 0;
                }
            }
        }
        QCOMPARE(refusals, 17); // 11 of entropies, 6 of gates
    }

    void fieldsOfCurvesStagesAndPrecisionsMeanSomethingWhereTheyAreRead()
    {
        const auto idle = [](const Project& project) {
            std::set<std::string> keys;
            for (const char* const part : {"/training", "/schedule"}) {
                for (const FieldEntry& entry : fieldsOf(project, part)) {
                    if (entry.isIdle) {
                        keys.insert(std::string(entry.field.key));
                    }
                }
            }
            return keys;
        };
        Project project = findExample("ancre-language")->project;
        project.training.learningRate.curve = RateCurve::Constant;
        project.training.precision = Precision::Fp32;
        project.stack().schedule = {};
        const std::set<std::string> all{"final_fraction", "residual_precision", "entry_precision", "frobenius_decay",
                                        "mlp_parts",      "curve_floor",        "curve_rate",      "growth",
                                        "growth_writes",  "growth_warmup",      "growth_moments",  "evaluated_weights"};
        QVERIFY(idle(project) == all);
        project.training.learningRate.curve = RateCurve::Cosine;
        project.training.precision = Precision::Bf16;
        project.training.factorDecay = FactorDecay::Product;
        project.training.weightAverage = 0.9;
        project.stack().schedule.axis = DropAxis::LayersAndMlp;
        project.stack().schedule.course = DropCourse::Curve;
        project.stack().schedule.sampling = DropSampling::First;
        QVERIFY(idle(project).empty());
    }

    void settableAndSweepableFieldsAreKnown()
    {
        const Project project = findExample("ancre-language")->project;
        const auto at = [&](const char* pointer) { return findField(project, pointer).value(); };
        QVERIFY(isSettable(at("/training/batch")) && isSweepable(at("/training/batch")));
        QVERIFY(isSettable(at("/name")) && !isSweepable(at("/name")));
        QVERIFY(!isSettable(at("/network/stack/0/block")) && isSweepable(at("/network/stack/0/block")));
        for (const FieldEntry& entry : fieldsOf(project, "/network/stem/nodes/0")) {
            QVERIFY2(!isSettable(entry), entry.pointer.c_str());
            QCOMPARE(isSweepable(entry), entry.pointer.starts_with("/network/stem/nodes/0/params/"));
        }
        QCOMPARE(pointerFrom("training.learning_rate.peak"), std::string("/training/learning_rate/peak"));
        QCOMPARE(pointerFrom("/topology"), std::string("/topology"));
    }

    void theReferenceHasEveryField()
    {
        const std::string page = fieldReference();
        for (const FieldEntry& entry : everyField()) {
            const std::string line = "`" + entry.pointer + "` (" + std::string(entry.field.title) + "): ";
            std::string unfolded = page;
            for (std::size_t at = unfolded.find("\n  "); at != std::string::npos; at = unfolded.find("\n  ", at)) {
                unfolded.replace(at, 3, " ");
            }
            QVERIFY2(unfolded.find(line) != std::string::npos, line.c_str());
        }
        QVERIFY(page.find("`/training/optimiser/epsilon` (ε): Added to the denominator. More than 0; default 1e-08.") !=
                std::string::npos);
        QVERIFY(page.find("`inverse_square_root` (inverse square root)") != std::string::npos);
    }

    /// The wording of a field's problem is in one place, whichever check finds it.
    void problemsOfFieldsAreInTheWordsOfTheSchema()
    {
        int ofFields = 0;
        for (std::uint32_t round = 0; round < 100; ++round) {
            const Project project =
                tests::RandomDocument(tests::randomSeed() + round, tests::Values::Any).document().project;
            for (const Problem& problem : validate(project)) {
                const auto field = findField(project, problem.path);
                if (field && field->type != FieldType::Other && !field->hasOwnEdits) {
                    const bool isCount = problem.place == "document"; // of what is not listed
                    QVERIFY2(isCount || problem.place == field->place,
                             (problem.path + ": " + problem.place + ", " + field->place).c_str());
                    ++ofFields;
                }
            }
        }
        QVERIFY(ofFields > 100);
    }
};

RESIDUA_TEST(TestFields)
#include "tst_fields.moc"
