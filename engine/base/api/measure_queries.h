// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/data_summary.h"
#include "engine/base/api/gap.h"
#include "engine/base/api/run_ref.h"
#include "projects/model/project.h"
#include "projects/nodes/alteration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

// Queries that measure or use the network of a checkpoint: each with its answer and its fields.
namespace residua::engine {

struct TokenCandidate {
    std::string token; ///< as its tokeniser writes it, such as "##ing"; or the name of a class
    double probability = 0;
};

/// A masked token of a prompt, or an example that is classified.
struct MaskedPosition {
    std::int64_t position = 0;              ///< from 0, in tokens or examples
    std::vector<TokenCandidate> candidates; ///< the most probable first
};

/// The maximum number of tokens in a sample, which are held in memory until it is complete.
inline constexpr std::int64_t kMostSampledTokens = 10'000'000;

/// The number of candidates for a masked position unless SampleRequest::topK gives one.
inline constexpr std::int64_t kCandidates = 5;

/// How a diffusion model steps from noise to an image.
enum class DiffusionSampler {
    Ddpm, ///< draws each step from the model's distribution (Ho et al., 2020)
    Ddim, ///< draws the noise at the start alone (Song et al., 2021, η = 0)
};
/// The images that a diffusion model makes. Query::seed draws the noise.
struct Generation {
    std::int64_t samples = 0;  ///< 0: kSampledImages to look at, at most kMeasuredImages to measure
    std::int64_t ofClass = -1; ///< -1: each class in turn
    double guidance = 1;       ///< s: the noise is ε(null) + s · (ε(class) − ε(null)) (Ho and Salimans, 2022)
    std::int64_t guidedChannels = 3; ///< the first channels, which guidance changes; 0: all
    std::int64_t steps = 0;          ///< the steps used of those of training, evenly spaced; 0: all
    DiffusionSampler sampler = DiffusionSampler::Ddpm;
    bool operator==(const Generation&) const = default;
};
inline constexpr std::int64_t kSampledImages = 16;
inline constexpr std::int64_t kMeasuredImages = 1000;
inline constexpr std::int64_t kMostSampledImages = 100'000;

struct SampleReady {
    QueryTag tag{};
    /// The prompt and its continuation, or the prompt with the most probable tokens in place of the masked ones, or the
    /// class of the prompt. Empty if examples of the data were classified.
    std::string text;
    std::int64_t step = 0;              ///< of the checkpoint that was used
    std::vector<std::string> notes;     ///< for the user: a newer checkpoint is damaged, or the data differ
    std::vector<MaskedPosition> masked; ///< empty for a text that is continued
    FedBatch classified;                ///< the examples of the data that were classified, with their classes
    FedBatch made = {};                 ///< the images that were made, with their classes
    Matrix values = {}; ///< the same as numbers, a row for each image by channel, row and column, as the data have them
};

/// Continues `prompt` with the language model of a checkpoint. A model of masked tokens instead gives candidates for
/// each "[MASK]" in the prompt, and a classifier the classes of the prompt, or without one of the first examples that
/// are held out. Both ignore `tokens`, `temperature` and `seed`. A diffusion model makes images; reports QueryProgress.
struct SampleRequest {
    using Answer = SampleReady;
    QueryTag tag{};
    RunRef of;
    std::string prompt; ///< text, ids separated by spaces where the data has no tokeniser, or of pictures an absolute
                        ///< path; empty: the data's beginning
    std::int64_t tokens = 200;
    double temperature = 0.8; ///< 0: greedy
    std::int64_t topK = 0;    ///< 0: off. For candidates it is their number; 0: kCandidates
    std::int64_t seed = 1;
    double exitAt = 0; ///< q in (0, 1]: each token leaves a loop with an exit gate early (Pass::exitAt). 0: never
    Generation generation = {};
};

inline constexpr projects::Field kExitAt{
    "exit-at",
    {},
    "each token takes the output of the first visit at which its exit probabilities add up to Q",
    {.range = projects::Range::within(0, 1), .value = "Q", .otherwise = "the last visit"}};
constexpr void describe(const SampleRequest*, auto&& v)
{
    v({"prompt",
       {},
       "what to continue; a model of masked tokens fills each [MASK] in it; a classifier names its class, of pictures "
       "that of the file at this path, or those of some held-out examples",
       {.value = "TEXT", .otherwise = "the data's beginning"}},
      &SampleRequest::prompt);
    v({"tokens", {}, "tokens to add", {.range = projects::Range::within(0, kMostSampledTokens), .value = "N"}},
      &SampleRequest::tokens);
    v({"temperature", {}, "0: always the likeliest token", {.range = kNotNegative, .value = "T"}},
      &SampleRequest::temperature);
    static_assert(kCandidates == 5);
    v({"top-k",
       {},
       "only from the K likeliest; of masked tokens, list so many",
       {.range = kNotNegative, .value = "K", .otherwise = "all; of masked tokens 5"}},
      &SampleRequest::topK);
    v({"seed", {}, "of the draws", {.value = "N"}}, &SampleRequest::seed);
    v(kExitAt, &SampleRequest::exitAt);
    v(keyed("generation"), &SampleRequest::generation);
}

struct EvaluationReady {
    QueryTag tag{};
    std::map<std::string, double> means; ///< of each quantity of the objective: "loss", "accuracy"
    std::int64_t batches = 0;            ///< with EvaluateRequest::choices: the questions
    std::int64_t step = 0;               ///< of the checkpoint that was used
    std::vector<std::string> notes;
    std::string features = {}; ///< the network whose features were compared, in words; empty: none
};

/// The most bytes of EvaluateRequest::choices.
inline constexpr std::size_t kMostChoicesBytes = std::size_t{16} << 20;
/// Computes the mean loss on a part of the data, or how often a language model gives the right choice the highest
/// likelihood. The latter's means are "accuracy", "accuracy_by_token" (by the likelihood's mean over a choice's tokens)
/// and "loss" (of a right choice's tokens). With `features`, makes images with a diffusion model and compares them with
/// as many of the part; the means are "frechet_distance", "precision" and "recall" (Heusel et al., 2017; Kynkäänniemi
/// et al., 2019). Reports QueryProgress. If the comparison is to be recorded and another process writes the run, a note
/// says that it is not.
struct EvaluateRequest {
    using Answer = EvaluationReady;
    QueryTag tag{};
    RunRef of;
    Split split = Split::Validation;
    std::int64_t batches = 0; ///< 0: all
    double exitAt = 0;        ///< as in SampleRequest
    /// JSON Lines of questions: {"prompt": text, "choices": [text, …], "answer": a choice or its number from 0}. Empty:
    /// the split is evaluated.
    std::string choices = {};
    std::int64_t questions = 0; ///< above 0: so many questions made of the part's own text take the place of `choices`
    std::int64_t shots = 0; ///< the first questions, which precede each prompt with their answers and are not counted
    /// A run that classifies images of the same size. The features of an image are what the last linear of its head
    /// reads. Empty: no images are made.
    std::filesystem::path features = {};
    Generation generation = {};
    std::int64_t seed = 1;
    /// Records the comparison of images or the share of right choices with the run, as metrics of the checkpoint's
    /// step.
    bool record = false;
};

constexpr void describe(const EvaluateRequest*, auto&& v)
{
    v({"split", {}, {}, {.value = "NAME"}}, &EvaluateRequest::split);
    v({"batches", {}, "at most so many", {.range = kNotNegative, .value = "N", .otherwise = "all"}},
      &EvaluateRequest::batches);
    v(kExitAt, &EvaluateRequest::exitAt);
    v(keyed("choices"), &EvaluateRequest::choices);
    v({"questions",
       {},
       "questions made of the part's own text instead: which of four texts goes on with a held-out one",
       {.range = projects::Range::within(0, 100'000), .value = "N"}},
      &EvaluateRequest::questions);
    v({"shots",
       {},
       "the first N questions precede each prompt, with their answers",
       {.range = projects::Range::within(0, 64), .value = "N"}},
      &EvaluateRequest::shots);
    v({"features",
       {},
       "make images and compare them with the part's by the features of this run, which classifies such images",
       {.value = "RUN"}},
      &EvaluateRequest::features);
    v(keyed("generation"), &EvaluateRequest::generation);
    v({"seed", {}, "of the images that are made", {.value = "N"}}, &EvaluateRequest::seed);
    v({"record", {}, "record the images' comparison, or the share of right choices, with the run, beside its loss"},
      &EvaluateRequest::record);
}

struct StabilityReady {
    QueryTag tag{};
    std::vector<Matrix> matrices; ///< matrix::kStability and matrix::kStabilityGap
    double loss = 0;              ///< of the whole network, on the same batches
    std::int64_t batches = 0;
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::vector<std::string> notes; ///< as SampleReady's
};

/// Measures the effect of leaving out each layer of a checkpoint's network (row_curves.h, matrix::kStability).
struct StabilityRequest {
    using Answer = StabilityReady;
    QueryTag tag{};
    RunRef of;
    std::int64_t batches = 0; ///< of the validation split; 0: as many as the run's validations use
    std::string tower = {};   ///< as in KnockoutRequest
};

constexpr void describe(const StabilityRequest*, auto&& v)
{
    v({"batches",
       {},
       "batches of the validation split",
       {.range = projects::Range::atLeast(1), .value = "N", .otherwise = "the run's"}},
      &StabilityRequest::batches);
    v(kTower, &StabilityRequest::tower);
}

/// The effect of switching off one part of a network.
struct KnockoutRow {
    std::string name;        ///< projects::KnockoutSubject::name
    std::int64_t first = 0;  ///< the source i; the layer; the stream, from 1
    std::int64_t reader = 0; ///< j; 0 for layers and streams
    /// The applied weight of the shortcut: the mean over its reader's mixes, features and tokens; NaN for other parts.
    double weight = 0;
    double rise = 0;       ///< the loss without it minus that of the whole network, on the same batches
    double error = 0;      ///< the standard error of the rise over batches; NaN of one batch
    double divergence = 0; ///< the mean KL(whole ‖ without) of the predictions, in nats; NaN without classes
};

struct KnockoutReady {
    QueryTag tag{};
    std::vector<KnockoutRow> rows; ///< in the order of the document
    double loss = 0;               ///< of the whole network
    std::int64_t batches = 0;
    std::int64_t borderBytes = 0;   ///< of the values from which the passes of the last batch started
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::string checkpoint = {};    ///< identifies its weights: their checksum
    std::vector<std::string> notes; ///< as SampleReady's
};

/// Measures on held-out batches what a checkpoint's network loses without each of its parts. The result is kept with
/// the run (engine/runs/results/effects.h) unless it is of chosen parts or of other data than the run's. If it cannot
/// be kept, a note says so. A result that the run has kept is the answer, with a note, unless `again`.
struct KnockoutRequest {
    using Answer = KnockoutReady;
    QueryTag tag{};
    RunRef of;
    projects::KnockoutBy by = projects::KnockoutBy::Term;
    /// True if the other weights of a softmax take the place of the one that is switched off.
    bool renormalise = false;
    std::int64_t batches = 0; ///< of the validation split; 0: as many as the run's validations use
    /// The names of the parts to switch off (projects::KnockoutSubject::name); empty: all. Refused if one is unknown.
    std::vector<std::string> only = {};
    bool again = false; ///< measures even if the run has kept the result
    /// The name of the tower that loses parts; empty: the first. The loss is the run's if the tower that judges reads
    /// values of this one, else this one's own. Refused if it has neither.
    std::string tower = {};
};

constexpr void describe(const KnockoutRequest*, auto&& v)
{
    v({"by", "switch off", {}, {.value = "PART"}}, &KnockoutRequest::by);
    v({"renormalise", "the other weights of a softmax take the place of a shortcut's",
       "the other weights of a softmax take the place of a shortcut's"},
      &KnockoutRequest::renormalise);
    v({"batches",
       "held-out batches",
       "batches of the validation split",
       {.range = projects::Range::atLeast(1), .value = "N", .otherwise = "the run's"}},
      &KnockoutRequest::batches);
    v({"only", {}, "these parts alone, separated by commas: 2:7,3:9", {.value = "PARTS", .otherwise = "all"}},
      &KnockoutRequest::only);
    v({"again", {}, "measure anew, even if the run has kept such a result"}, &KnockoutRequest::again);
    v(kTower, &KnockoutRequest::tower);
}

/// The effect of an intervention on parallel streams, as an InterventionRequest asks for it.
struct InterventionRow {
    std::string name;
    std::string streams;       ///< "1+2"; empty for transitions
    std::int64_t first = 0;    ///< border, or module for transitions
    std::int64_t last = 0;     ///< border, or module
    std::int64_t restored = 0; ///< of a rescue: the stream; else 0
    std::int64_t at = 0;       ///< of a rescue: the border
    bool frozen = false;       ///< true with the routing of the unaltered pass
    double rise = 0;           ///< the loss less that of the unaltered network, on the same batches
    double error = 0;          ///< the standard error of the rise over batches; NaN of one batch
    double divergence = 0;     ///< the mean KL(unaltered ‖ altered) of the predictions, in nats; NaN without classes
    /// Rescues: R = 1 − KL/D, NaN if D, the divergence without the rescue, is not above the noise. Pairs: the
    /// divergence less those of the two streams alone, in nats. NaN for others.
    double derived = 0;
};

struct InterventionReady {
    QueryTag tag{};
    std::vector<InterventionRow> rows;
    double loss = 0; ///< of the unaltered network
    /// The divergence of a second unaltered pass from the first, at least the rounding of one logarithm, in nats; NaN
    /// without classes.
    double noise = 0;
    std::int64_t batches = 0;
    std::int64_t borderBytes = 0;   ///< as KnockoutReady's
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::vector<std::string> notes; ///< as SampleReady's
};

/// Measures on held-out batches what a checkpoint's network of parallel streams loses if streams have other values from
/// a module on, if one of them is restored, or if transitions are replaced. Each intervention is measured with the
/// routing recomputed, and frozen to that of the unaltered pass. Lists are separated by commas; a range is "4" or
/// "4-8". Refused if the wiring has no streams or a list names what it lacks.
struct InterventionRequest {
    using Answer = InterventionReady;
    QueryTag tag{};
    RunRef of;
    projects::InterventionKind what = projects::InterventionKind::Streams;
    std::string streams; ///< sets such as "1,2,1+3"; empty: each stream
    /// Ranges of borders (projects::FilledStreams), or of modules for transitions. Empty: each border from 1; for a
    /// rescue border 1; for transitions all modules, the first half and the second half.
    std::string after;
    projects::StreamFill fill = projects::StreamFill::Zero;
    std::int64_t copied = 0; ///< the stream that is copied, with StreamFill::Stream
    std::string restored;    ///< of a rescue: streams; empty: each
    std::string at;          ///< of a rescue: ranges of borders, each taken alone; empty: each from the filled one on
    projects::TransitionForm by = projects::TransitionForm::Identity;
    std::int64_t top = 1;     ///< k of TransitionForm::Top
    std::int64_t batches = 0; ///< of the validation split; 0: as many as the run's validations use
    std::string tower = {};   ///< as in KnockoutRequest
};

constexpr void describe(const InterventionRequest*, auto&& v)
{
    v({"what", "measure", {}, {.value = "WHAT"}}, &InterventionRequest::what);
    v({"streams", {}, "sets of streams, separated by commas: 1,2,1+3", {.value = "SETS", .otherwise = "each stream"}},
      &InterventionRequest::streams);
    v({"after",
       {},
       "the modules after which streams are filled, or whose transitions are replaced, separated by commas: 4,8-12 is "
       "4, and the range 8 to 12; 0 is the entry",
       {.value = "MODULES", .otherwise = "each; rescue: 1; transitions: all, the first and the second half"}},
      &InterventionRequest::after);
    v({"fill", "value", {}, {.value = "VALUE"}}, &InterventionRequest::fill);
    v({"copied",
       "copied stream",
       "with --fill stream: the stream whose value the others take",
       {.range = projects::Range::atLeast(1), .value = "STREAM", .otherwise = "none"}},
      &InterventionRequest::copied);
    v({"restored", {}, "rescue: the streams that are restored", {.value = "STREAMS", .otherwise = "each"}},
      &InterventionRequest::restored);
    v({"at",
       {},
       "rescue: the modules after which they are restored",
       {.value = "MODULES", .otherwise = "each from the filled one on"}},
      &InterventionRequest::at);
    v({"by", "transition", {}, {.value = "FORM"}}, &InterventionRequest::by);
    v({"top",
       "weights kept",
       "weights that --by top keeps of each new stream's",
       {.range = projects::Range::atLeast(1), .value = "K"}},
      &InterventionRequest::top);
    v({"batches",
       "held-out batches",
       "batches of the validation split",
       {.range = projects::Range::atLeast(1), .value = "N", .otherwise = "the run's"}},
      &InterventionRequest::batches);
    v(kTower, &InterventionRequest::tower);
}

/// The fits finished so far of a GapRequest, sent about ten times a second.
struct GapProgress {
    QueryTag tag{};
    Gap gap;
};

struct GapReady {
    QueryTag tag{};
    Gap gap;
};

/// Measures the gap of every weight that is to be held in factors. Fits two factors of a rank below the full one by
/// each method, and compares their function with that of the full weight. The full weights are those of a run's
/// checkpoint or, without a run, the initial weights of `project`. The fits run on the CPU, beside a run, and are kept
/// in the user's cache of fits; nothing else is written. GapProgress reports the finished fits, GapReady all of them.
/// Refused if no weight has a rank below its full one.
struct GapRequest {
    using Answer = GapReady;
    QueryTag tag{};
    RunRef of; ///< without a runDirectory: `project` itself, whose directory is projectDirectory
    projects::Project project;
    std::optional<projects::WeightRank> rank;      ///< overrides the rank in the document
    std::optional<projects::LowRankInputs> inputs; ///< overrides the inputs in the document
    /// At least one, without repetition.
    std::vector<projects::LowRankMethod> methods = {projects::LowRankMethod::Spectral, projects::LowRankMethod::LfaiWs,
                                                    projects::LowRankMethod::Exact};
    std::string tower = {}; ///< the name of the tower that has the weights; empty: the first
};

constexpr void describe(const GapRequest*, auto&& v)
{
    v(keyed("project"), &GapRequest::project);
    v({"rank", {}, "the rank as a share of each weight's smaller side", {.otherwise = "the project's"}},
      &GapRequest::rank);
    v({"methods", {}, "separated by commas", {.value = "LIST"}}, &GapRequest::methods);
    v({"inputs", {}, "gaussian, or data: those of each layer", {.value = "NAME", .otherwise = "the project's"}},
      &GapRequest::inputs);
    v(kTower, &GapRequest::tower);
}

/// A measure of a loop's states h_0 (which its first visit reads), h_1, … over its visits. Norms are root mean squares
/// over tokens or examples of the 2-norm over features, cosines their means.
enum class VisitMeasure : std::uint8_t {
    Change,        ///< ‖h_v − h_(v−1)‖ / ‖h_v‖
    Acceleration,  ///< ‖(h_v − h_(v−1)) − (h_(v−1) − h_(v−2))‖
    Cosine,        ///< of h_(v−1) and h_v
    CentredCosine, ///< the same without the mean over the tokens of the batch
    WriteCosine,   ///< of what a stored layer adds to the state at visits v − 1 and v
    WriteRatio,    ///< the norm of what it adds at visit v by that at visit v − 1
    Gradient,      ///< the norm of G_v: the loss's gradient by a stored layer's weights, as far as visit v uses them
    Alignment, ///< one number: ρ = ‖Σ G_v‖² / Σ ‖G_v‖², 1 if the G_v are orthogonal, R if they are equal
    Radius,    ///< the spectral radius of ∂h_v/∂h_(v−1) after 10 steps of the power method, a mean over examples
    PathGap,   ///< ‖h_v − h′_v‖ / ‖h_0 − h′_0‖, with h′ from another start
    Residual,  ///< ‖h_(v+1) − h_v‖ / ‖h_v‖ up to kSettledVisits, if the loop may make more visits
};
inline constexpr std::int64_t kSettledVisits = 50;

/// The values of one measure, at visits 1, 2, …; NaN if one is undefined.
struct VisitCurve {
    VisitMeasure measure = VisitMeasure::Change;
    std::int64_t layer = 0; ///< the stored layer, from 1; 0: the state
    std::vector<double> values;
};

struct VisitsReady {
    QueryTag tag{};
    std::vector<VisitCurve> curves; ///< by measure, then by layer; without those that the wiring does not define
    double loss = 0;                ///< of the network, on the same batches
    std::int64_t batches = 0;
    std::int64_t step = 0;          ///< of the checkpoint that was used; 0: the initial weights
    std::vector<std::string> notes; ///< as SampleReady's, and why curves are missing
};

/// Measures a loop over its visits on held-out batches: the network of a checkpoint or, without a run, that of
/// `project` with its initial weights. Refused if the tower has no such loop, or its wiring no single residual.
struct VisitsRequest {
    using Answer = VisitsReady;
    QueryTag tag{};
    RunRef of; ///< as GapRequest's
    projects::Project project;
    std::int64_t loop = 1;
    double apart = 0.1;       ///< ‖h′_0 − h_0‖ / ‖h_0‖
    std::int64_t batches = 0; ///< of the validation split; 0: as many as the run's validations use
    std::string tower = {};   ///< as in KnockoutRequest
};

constexpr void describe(const VisitsRequest*, auto&& v)
{
    v(keyed("project"), &VisitsRequest::project);
    v({"loop",
       "loop",
       "the loop, from 1, if there are several",
       {.range = projects::Range::within(1, projects::kMaxLayers), .value = "N"}},
      &VisitsRequest::loop);
    v({"apart",
       "distance of the other start",
       "the other start's distance, as a share of the norm of the first one",
       {.range = projects::Range::within(1e-6, 1), .value = "SHARE"}},
      &VisitsRequest::apart);
    v({"batches",
       "held-out batches",
       "batches of the validation split",
       {.range = projects::Range::atLeast(1), .value = "N", .otherwise = "the run's"}},
      &VisitsRequest::batches);
    v(kTower, &VisitsRequest::tower);
}

} // namespace residua::engine

namespace residua::projects {

template <>
struct Choices<engine::Split> {
    static constexpr auto all = [] {
        std::array<Choice, engine::kSplits> choices;
        std::ranges::transform(engine::kSplitNames, choices.begin(), [](const engine::SplitName& name) {
            return Choice{name.word, name.title};
        });
        return choices;
    }();
};
template <>
struct Choices<engine::DiffusionSampler> {
    static constexpr Choice all[] = {{"ddpm", "DDPM", "draws each step"},
                                     {"ddim", "DDIM", "draws the noise at the start alone"}};
};
template <>
struct Fields<engine::Generation> {
    static constexpr void visit(auto&& v)
    {
        using engine::Generation;
        static_assert(engine::kSampledImages == 16 && engine::kMeasuredImages == 1000);
        v({"samples",
           "images",
           "images that a diffusion model makes",
           {.range = Range::within(0, engine::kMostSampledImages),
            .value = "N",
            .otherwise = "16 to look at; to measure those of the part, at most 1000"}},
          &Generation::samples);
        v({"class",
           "class",
           "number of the class of all images",
           {.range = Range::within(-1, 1'000'000), .value = "N", .otherwise = "each class in turn"}},
          &Generation::ofClass);
        v({"guidance",
           "guidance",
           "how far each step goes from no class to the class; 1: to the class, 4: beyond it",
           {.range = Range::within(0, 1000), .value = "S"}},
          &Generation::guidance);
        v({"guided-channels",
           "guided channels",
           "the first channels, which guidance changes; 0: all",
           {.range = Range::within(0, 4096), .value = "N"}},
          &Generation::guidedChannels);
        v({"steps",
           "steps",
           "steps from noise to an image",
           {.range = Range::within(0, kMostDiffusionSteps), .value = "K", .otherwise = "all of training"}},
          &Generation::steps);
        v({"sampler", "sampler", {}, {.value = "NAME"}}, &Generation::sampler);
    }
};
template <>
struct Choices<KnockoutBy> {
    static constexpr Choice all[] = {{"term", "each shortcut", "each shortcut"},
                                     {"layer", "each layer", "each layer"},
                                     {"half", "each half of a layer", "the attention and the FFN of each layer"},
                                     {"stream", "each parallel stream", "each parallel stream"},
                                     {"visits", "each number of visits of a loop", "each number of visits of a loop"}};
};
template <>
struct Choices<InterventionKind> {
    static constexpr Choice all[] = {
        {"streams", "streams with another value", "sets of streams are filled"},
        {"pairs", "streams alone and in pairs", "two streams at a time, and each alone"},
        {"rescue", "streams that are restored later", "a filled stream is restored later"},
        {"transitions", "replaced transitions", "the matrices between the streams are replaced"}};
};
template <>
struct Choices<StreamFill> {
    static constexpr Choice all[] = {
        {"zero", "zero", "no value"},
        {"mean", "its mean over the tokens", "the stream's mean over the tokens of the batch"},
        {"stream", "another stream's", "another stream's"}};
};
template <>
struct Choices<engine::VisitMeasure> {
    static constexpr Choice all[] = {{"change", "change, relative to the state"},
                                     {"acceleration", "change of the change"},
                                     {"cosine", "cosine of successive states"},
                                     {"centred_cosine", "cosine of centred states"},
                                     {"write_cosine", "cosine of a layer's successive writes"},
                                     {"write_ratio", "ratio of a layer's successive writes"},
                                     {"gradient", "gradient of a layer"},
                                     {"alignment", "alignment ρ of a layer's gradients"},
                                     {"radius", "spectral radius of a visit"},
                                     {"path_gap", "distance from another start"},
                                     {"residual", "fixed-point residual"}};
};
template <>
struct Choices<TransitionForm> {
    static constexpr Choice all[] = {{"identity", "identity", "each stream keeps its value"},
                                     {"mean", "its mean over the tokens", "the mean over the tokens of the batch"},
                                     {"top", "its largest weights", "only the largest weights of each new stream"},
                                     {"top_scaled", "its largest weights, scaled", "these, scaled to the sum of all"}};
};

} // namespace residua::projects
