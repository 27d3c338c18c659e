// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/reproductions.h"

#include <algorithm>
#include <iterator>

namespace residua::resources {
namespace {

constexpr std::string_view kDca = "dca";
constexpr std::string_view kAncre = "ancre";
constexpr std::string_view kRaptr = "raptr";
constexpr std::string_view kNlra = "nlra";
constexpr std::string_view kReport = "report OUT/runs -o OUT/report.html";

constexpr std::string_view kLanguage8 = "8 layers of width 128 on the synthetic language, 500 steps";
constexpr std::string_view kStaged12 =
    "12 layers of width 96 on the synthetic language, 400 steps, validation loss only";
constexpr std::string_view kFigure1CameOut =
    "last training loss: (a) ResNet 4.5e-3, GRN-v1 1.4e-20; (b) ResNet 61, GRN-v1 34";
constexpr std::string_view kFigure10CameOut =
    "of 8 layers, medians stay between 0.95 and 1.05; the input weighs most up to layer 5, none is below 0: 500 steps "
    "hardly move them from 1";
constexpr std::string_view kFigure2CameOut =
    "last loss of 3 layers: none 0.046, cascaded 4.2e-5, 0:1 2.0e-5, 0:2 3.6e-31, ANCRe 1.3e-8; of 4: none 0.55, 0:3 "
    "6.8e-31, ANCRe 1.2e-32";
constexpr std::string_view kFigure3CameOut =
    "seed 2 of the weights: norms grow nearly linearly, from 38 to 57; every layer left out raises the loss, by 0.001 "
    "to 0.06, "
    "layer "
    "1 by 1.1; Psi of layers 2 to 11 is 2.8 to 6.9 without a trend, of layer 1 61 and of 12 17: not the paper's power";
constexpr std::string_view kFigure5CameOut =
    "seed 2 of the weights, validation loss of the whole network before and after each "
    "border: 3.179 / 3.181, 2.971 / 2.973, 2.907 / "
    "2.905, and 2.799 at the end: it falls at the last border alone";
constexpr std::string_view kFigure6CameOut =
    "seed 2 of the weights: the two largest weights of each layer sum to 0.77 to 1; from layer 4 on the largest skips "
    "layers (2:4 0.58, 2:5 0.80, 2:6 0.68, 2:7 0.61, 4:8 0.58)";
constexpr std::string_view kSizesCameOut =
    "validation loss, mean of three seeds, plain / 2-DCA / DCA: 4 layers 2.721 / 2.714 / 2.721, 8 layers 2.729 / 2.743 "
    "/ 2.711, 12 layers 2.745 / 2.728 / 2.731; deviations 0.001 to 0.019: depth does not help in 500 steps";
constexpr std::string_view kC4CameOut =
    "validation loss, plain / 2-DCA: 4 layers of 96 2.722 / 2.720, 8 of 128 2.729 / 2.743, means of three seeds with "
    "deviations of 0.009 to 0.012; 8 of 96, one seed, 2.720 / 2.736: 2-DCA is not ahead";
constexpr std::string_view kOthersCameOut =
    "validation loss, mean of three seeds: plain 2.729, LAuReL-PA 2.722, DenseFormer 2.721, HC of 4 2.705, HC of 10 "
    "2.726, 2-DCA 2.743, DCA 2.711; deviations 0.003 to 0.015";
constexpr std::string_view kAncreCameOut =
    "validation loss, mean of three seeds, plain / ANCRe: AdamW 2.772 / 2.759, GaLore 2.761 / 2.776; deviations 0.004 "
    "to 0.009";
constexpr std::string_view kFigure4CameOut =
    "up to 48 layers: L^-0.35 to L^-0.39 for tau of 0 to 0.75, L^-0.65 for tau 1";

constexpr std::string_view kNoImages = "needs ImageNet and convolutional networks of its size";
constexpr std::string_view kNoUl2 = "needs a 1.6B decoder, the UL2 mixture and the tasks that judge it";

using Rows = std::vector<Reproduction>;

/// A sweep of an example, and the report that draws it.
std::vector<std::string_view> study(std::string_view sweep)
{
    return {sweep, kReport};
}

Reproduction drawing(std::string_view paper, std::string_view item, std::string_view about)
{
    return {paper, item, about, Coverage::Drawing, "nothing is measured in it", {}, {}, {}};
}

Reproduction missing(std::string_view paper, std::string_view item, std::string_view about, std::string_view needs,
                     std::string_view says)
{
    return {paper, item, about, Coverage::Missing, needs, {}, says, {}};
}

void addDcaFigures(Rows& rows)
{
    rows.push_back({kDca, "figure-1",
                    "low-rank linear layers learn (a) the identity and (b) a random map: ResNet against GRN-v1",
                    Coverage::Whole,
                    "10 layers of rank 3, 100 features, 1000 batches of 100 fresh examples by SGD; start and rate, "
                    "which the paper does not print, by panel",
                    study(R"(sweep example:dca-figure-1 "figure 1" -o OUT/runs)"),
                    "ResNet stays up after 1000 batches; GRN-v1 reaches extremely small losses with fewer examples",
                    kFigure1CameOut});
    rows.push_back(drawing(kDca, "figure-2", "two views of a residual network"));
    rows.push_back(drawing(kDca, "figure-3", "GRN-v3's computation"));
    rows.push_back(drawing(kDca, "figure-4", "a DCA decoder block"));
    rows.push_back(
        {kDca,
         "figure-5",
         "the gains G1 and G2 of GRN-v1 and -v2 over ResNet (theorem 4.3)",
         Coverage::Whole,
         "both panels, at widths 100, 300 and 1000, which the paper does not print",
         {"analyze theory --figure 5 -o OUT/figure-5.svg"},
         "the gain falls with the collective rank r*, is higher at larger d, and grows with lambda_min / lambda_max",
         "G1 for r* of 20 to 80: 1932 to -375 at d 100, 24,493 to 22,885 at d 1000; at r* 50 and d 100 it grows from "
         "-285 at "
         "kappa 0.2 to 5000 at 1"});
    rows.push_back({kDca, "figure-6", "perplexity over model size, by depth, on LM1B", Coverage::Small,
                    "4, 8 and 12 layers of width 128 on the synthetic language, 500 steps",
                    study(R"(sweep example:dca-language "DCA, figures 6 to 8" -o OUT/runs)"),
                    "30 layers of DCA are better than 42 of the transformer", kSizesCameOut});
    rows.push_back({kDca, "figure-7", "perplexity over time, transformer against 2-DCA, 24 to 42 layers",
                    Coverage::Small, "the runs of figure 6, whose report draws losses over time",
                    study(R"(sweep example:dca-language "DCA, figures 6 to 8" -o OUT/runs)"),
                    "2-DCA reaches the transformer's perplexity in a third of the time", kSizesCameOut});
    rows.push_back({kDca, "figure-8", "perplexity over time, transformer against DCA, 12 to 36 layers", Coverage::Small,
                    "the runs of figure 6, whose report draws losses over time",
                    study(R"(sweep example:dca-language "DCA, figures 6 to 8" -o OUT/runs)"),
                    "DCA is below the transformer at equal time", kSizesCameOut});
    rows.push_back({kDca, "figure-9", "perplexity over steps on C4, 75M to 449M", Coverage::Small,
                    "three sizes of at most 8 layers of width 128 on the synthetic language, 500 steps",
                    study(R"(sweep example:dca-language "DCA, table 3" -o OUT/runs)"),
                    "8-DCA is below the transformer throughout", kC4CameOut});
    rows.push_back({kDca,
                    "figure-10",
                    "learned weights b of a 30-layer GRN-v3, median and spread by layer",
                    Coverage::Small,
                    kLanguage8,
                    {"train example:grn-language --set topology=grn-v3 --run OUT/run --resume-or-start",
                     "analyze coefficients OUT/run --distribution -o OUT/figure-10.svg"},
                    "the input and the latest layers weigh most, middle layers often below 0",
                    kFigure10CameOut});
}

void addDcaTables(Rows& rows)
{
    rows.push_back({kDca, "table-1", "speed and perplexity of k-DCA, 24 layers on LM1B", Coverage::Small, kLanguage8,
                    study(R"(sweep example:dca-language "DCA, table 1" -o OUT/runs)"),
                    "perplexity: transformer 15.14; k = 1 14.48, 2 14.41, 4 14.50, 8 14.49, 16 14.35, 24 14.35",
                    "validation loss, mean of three seeds: plain 2.729; k = 1 2.728, 2 2.743, 4 2.707, 8 2.711; "
                    "deviations 0.009 to 0.024"});
    rows.push_back(
        {kDca, "table-2", "perplexity by width, 12 layers on LM1B", Coverage::Small,
         "8 layers of width 64, 96 and 128 on the synthetic language, 500 steps",
         study(R"(sweep example:dca-language "DCA, table 2" -o OUT/runs)"),
         "transformer / DCA: 64 45.75 / 42.94; 192 25.49 / 23.92; 384 18.86 / 17.83; 768 14.70 / 14.11; 1024 "
         "13.61 / 13.22",
         "validation loss, mean of three seeds, plain / DCA: 64 2.778 / 2.773, 96 2.734 / 2.717, 128 2.729 / 2.711; "
         "deviations 0.004 to 0.018"});
    rows.push_back(
        {kDca, "table-3", "perplexity on C4 by depth and width, transformer against 8-DCA", Coverage::Small,
         "three sizes of at most 8 layers of width 128 on the synthetic language, 500 steps, 2-DCA",
         study(R"(sweep example:dca-language "DCA, table 3" -o OUT/runs)"),
         "75M 27.876 / 26.443; 124M 23.013 / 21.810; 179M 21.570 / 20.461; 234M 19.756 / 18.824; 449M 17.166 "
         "/ 16.764",
         kC4CameOut});
    rows.push_back({kDca,
                    "table-4",
                    "DCA added to a trained transformer",
                    Coverage::Small,
                    "8 layers of width 128: 500 steps, then 100 more as they are and with DCA",
                    {"train example:plain-language --run OUT/plain --resume-or-start",
                     "retrofit OUT/plain --topology dca --steps 600 -o OUT/dca", "resume OUT/dca",
                     "resume OUT/plain --steps 600", "report OUT -o OUT/report.html"},
                    "after 60k further steps: transformer 18.96, DCA 18.79",
                    "validation loss after 100 further steps: plain 2.702, DCA 2.708"});
    rows.push_back({kDca, "table-5", "DCA against LAuReL-PA, DenseFormer and Hyper-Connections, 6 layers on LM1B",
                    Coverage::Small, kLanguage8, study(R"(sweep example:dca-language "DCA, tables 5 and 6" -o OUT/runs)"),
                    "transformer 18.98, LAuReL-PA 18.99, 1x1-DenseFormer 18.80, HC dynamic 18.65, DCA 18.06",
                    kOthersCameOut});
    rows.push_back({kDca, "table-6", "the same on C4, 13 layers of width 1111", Coverage::Small, kLanguage8,
                    study(R"(sweep example:dca-language "DCA, tables 5 and 6" -o OUT/runs)"),
                    "transformer 21.534, LAuReL-PA 20.951, DenseFormer 21.168, HC of 4 21.077, HC of 10 20.718, 8-DCA "
                    "20.392",
                    kOthersCameOut});
    rows.push_back({kDca, "table-7", "ablation: GRN-v1, -v2, -v3, DCA, 6 layers on LM1B", Coverage::Small, kLanguage8,
                    study(R"(sweep example:grn-language "DCA, table 7" -o OUT/runs)"),
                    "transformer 18.98, GRN-v1 18.80, -v2 18.43, -v3 18.41, DCA 18.06",
                    "validation loss, mean of three seeds: plain 2.729, GRN-v1 2.720, -v2 2.730, -v3 2.714, DCA 2.711; "
                    "deviations 0.008 to 0.016"});
    rows.push_back({kDca, "table-8", "ViT-S/16 on ImageNet, transformer against DCA", Coverage::Small,
                    "6 layers of width 64 on generated pictures, 2000 steps, three seeds",
                    study(R"(sweep example:small-vit "DCA, table 8" -o OUT/runs)"), "accuracy: 76.4 and 77.1",
                    "validation loss, mean of three seeds: plain 1.092, ANCRe 0.975, DCA 1.037, mHC 1.072; deviations "
                    "0.02 to 0.08; accuracy 0.536, 0.583, 0.556, 0.530"});
    rows.push_back(
        {kDca, "table-9", "GRN-v3 with and without the model's input", Coverage::Small, kLanguage8,
         study(R"(sweep example:dca-language "DCA, table 9" -o OUT/runs)"),
         "transformer 20.878, the last 4 20.301, the input and the last 3 20.227",
         "validation loss, mean of three seeds: transformer 2.729, the last 4 2.788, the input and the last 3 2.988; "
         "deviations 0.009 to 0.033: of 8 layers, more are out of sight than of the paper's 6"});
}

void addAncre(Rows& rows)
{
    rows.push_back(drawing(kAncre, "figure-1", "linear networks of three layers"));
    rows.push_back(
        {kAncre,
         "figure-2",
         "convergence of linear networks by depth, shortcut and set of shortcuts",
         Coverage::Whole,
         "2 to 4 layers of width 16 by full-batch gradient descent; sizes and rate are not in the paper",
         {R"(sweep example:linear-ancre "figure 2a" -o OUT/runs/a)", R"(sweep example:linear-ancre "figure 2b" -o OUT/runs/b)",
          R"(sweep example:linear-ancre "figure 2c" -o OUT/runs/c)", "report OUT/runs/a -o OUT/a.html",
          "report OUT/runs/b -o OUT/b.html", "report OUT/runs/c -o OUT/c.html"},
         "0:2 converges exponentially, 0:1 like a power of the step; ANCRe is as fast as the best",
         kFigure2CameOut});
    rows.push_back(drawing(kAncre, "figure-3", "ANCRe and its two normalisations"));
    rows.push_back(drawing(kAncre, "figure-4", "ANCRe in a transformer"));
    rows.push_back({kAncre, "figure-5", "perplexity over steps, LLaMA 60M to 1B", Coverage::Small,
                    "8 layers of width 128 on the synthetic language, 500 steps, three seeds",
                    study(R"(sweep example:ancre-language "ANCRe, table 2" -o OUT/runs)"),
                    "34.3 % fewer steps to an equal perplexity on average", kAncreCameOut});
    rows.push_back({kAncre,
                    "figure-6",
                    "heat maps of the learned coefficients",
                    Coverage::Small,
                    kLanguage8,
                    {"train example:ancre-language --run OUT/run --resume-or-start",
                     "analyze coefficients OUT/run -o OUT/coefficients.csv", "report OUT/run -o OUT/report.html"},
                    "few shortcuts carry each layer; many into distant layers",
                    kFigure6CameOut});
    rows.push_back(missing(kAncre, "figure-7", "FID while DiT models train",
                           "needs diffusion, ImageNet latents and FID", "ANCRe is below throughout"));
    rows.push_back(missing(kAncre, "figure-8", "reinforcement learning with networks of 16 and 64 layers",
                           "needs contrastive reinforcement learning and its simulators",
                           "ANCRe of 16 layers is at least as good as 64 plain ones"));
    rows.push_back(
        {kAncre, "table-1", "where shortcuts end: MHSA, FFN or both", Coverage::Small, kLanguage8,
         study(R"(sweep example:ancre-language "ANCRe, table 1" -o OUT/runs)"),
         "60M / 130M: none 30.39 / 25.07, MHSA 29.62 / 24.48, FFN 30.43 / 24.98, both 29.73 / 24.41",
         "validation loss, mean of three seeds: none (table 5) 2.729, MHSA 2.729, FFN 2.739, both 2.728; deviations "
         "0.002 to 0.009"});
    rows.push_back({kAncre, "table-2", "LLaMA 60M to 1B, with GaLore and without", Coverage::Small,
                    "8 layers of width 128 on the synthetic language, 500 steps, three seeds; GaLore of rank 32",
                    study(R"(sweep example:ancre-language "ANCRe, table 2" -o OUT/runs)"),
                    "cascaded / ANCRe: 60M 30.39 / 29.62, 130M 25.07 / 24.48, 350M 19.00 / 18.32, 1B 16.64 / 15.41",
                    kAncreCameOut});
    rows.push_back(missing(kAncre, "table-3", "DiT models", "needs diffusion, ImageNet latents and FID",
                           "FID at 400k steps: S/2 69.40 and 66.01, B/2 44.31 and 41.66"));
    rows.push_back({kAncre, "table-4", "the normalisation of the coefficients", Coverage::Small, kLanguage8,
                    study(R"(sweep example:ancre-language "ANCRe, table 4" -o OUT/runs)"),
                    "130M / 350M: none diverges, outgoing 25.03 / 18.63, ingoing 24.48 / 18.32",
                    "validation loss, mean of three seeds: none 2.710, outgoing 2.722, ingoing 2.729; deviations to "
                    "0.018: 8 layers do not diverge without a normalisation"});
    rows.push_back({kAncre, "table-5", "all shortcuts fixed, or the cascade alone learned", Coverage::Small, kLanguage8,
                    study(R"(sweep example:ancre-language "ANCRe, table 5" -o OUT/runs)"),
                    "130M / 350M: fixed 1/j diverges, cascade 27.18 / 21.72, ANCRe 24.48 / 18.32",
                    "validation loss, mean of three seeds: plain 2.729, fixed 1/j 2.728, cascade 2.729, ANCRe 2.729; "
                    "deviations to 0.020: 8 layers do not diverge with fixed weights"});
    rows.push_back(
        {kAncre,
         "table-6",
         "time and memory with ANCRe and without",
         Coverage::Small,
         kLanguage8,
         {"bench example:plain-language", "bench example:ancre-language"},
         "130M: 14 h 45 min and 14 h 46 min, 23.26 GB and 23.36 GB",
         "on two cores, twice each: ANCRe makes 3 % fewer steps a second; memory at its peak 243 and 244 MiB"});
    rows.push_back(drawing(kAncre, "table-7", "settings of the language models"));
    rows.push_back(drawing(kAncre, "table-8", "temperatures of the reinforcement learning"));
}

void addRaptrFigures(Rows& rows)
{
    rows.push_back(drawing(kRaptr, "figure-1", "layers skipped, fewer from stage to stage"));
    rows.push_back(
        {kRaptr, "figure-2", "a residual MLP learns a Boolean polynomial: loss, and error by degree", Coverage::Small,
         "degrees to 5 of 10 variables, width 32, 6000 steps; the sweep \"figure 2, the paper's size\" is the whole",
         study(R"(sweep example:boolean-polynomial "figure 2" -o OUT/runs)"),
         "RaPTr at four fifths of the FLOP is as good as the baseline, PLD is worse; RaPTr learns low degrees "
         "first",
         "validation loss: baseline 0.017, with as many FLOP as RaPTr 0.026, RaPTr 0.021, PLD 0.14, stacking "
         "0.024"});
    rows.push_back({kRaptr,
                    "figure-3",
                    "BERT under 6-8-10-12: loss; norms, Psi and loss gap by layer",
                    Coverage::Small,
                    kStaged12,
                    {"train example:staged-language --run OUT/run --resume-or-start",
                     "analyze stability OUT/run -o OUT/stability.csv", "report OUT/run -o OUT/report.html"},
                    "norms grow linearly in l, Psi falls as (L/l)^0.12, leaving out a layer raises the loss",
                    kFigure3CameOut});
    rows.push_back({kRaptr,
                    "figure-4",
                    "a linear residual network with norms: norms, Psi, and the bound by depth",
                    Coverage::Whole,
                    "100 features, 100 inputs, 6 to 96 layers, a shared matrix of Frobenius norm 1",
                    {"analyze stability --figure 4 -o OUT/figure-4.svg", "analyze stability --figure 4"},
                    "(c) falls as L^-0.4 for every tau",
                    kFigure4CameOut});
    rows.push_back({kRaptr,
                    "figure-5",
                    "training and evaluation loss of BERT-Base under RaPTr, 100k steps",
                    Coverage::Small,
                    kStaged12,
                    {"train example:staged-language --run OUT/run --resume-or-start", "report OUT/run -o OUT/report.html"},
                    "the evaluation loss of the whole network falls at every border",
                    kFigure5CameOut});
    rows.push_back(drawing(kRaptr, "figure-6", "RaPTr on several devices"));
    rows.push_back({kRaptr,
                    "figure-7",
                    "the scaling of kept layers, and the always-kept set",
                    Coverage::Small,
                    kStaged12,
                    {R"(sweep example:staged-language "RaPTr, figure 7" -o OUT/runs/scaling)",
                     R"(sweep example:staged-language "RaPTr, table 10" -o OUT/runs/kept)",
                     "report OUT/runs/scaling -o OUT/scaling.html", "report OUT/runs/kept -o OUT/kept.html"},
                    "the square root is best in early stages; the final effect is small",
                    "validation loss at the end, mean of three seeds: none 2.764, square root 2.786, linear 2.839; "
                    "deviations 0.010 to 0.013"});
}

void addRaptrTables(Rows& rows)
{
    constexpr std::string_view kMethods = "validation loss, mean of three seeds: baseline 2.830, RaPTr 2.786, LEMON "
                                          "2.734, MSG 2.737, bert2BERT 2.716, stacking 2.738, PLD 2.860; deviations "
                                          "0.010 to 0.020";
    const std::vector<std::string_view> methods = study("sweep example:staged-language methods -o OUT/runs");
    constexpr std::string_view kBert8 = "an encoder of 8 layers of width 128 on the synthetic language, 4-5-7-8";
    constexpr std::string_view kBertCameOut =
        "validation loss of hidden tokens, mean of three seeds, for as many FLOP: baseline 3.348, RaPTr 3.336, "
        "stacking "
        "3.324, PLD 3.348; deviations 0.002 to 0.012; baseline with 1.33 times the FLOP 3.332";
    const std::vector<std::string_view> encoder = study(R"(sweep example:small-bert "RaPTr, tables 1 and 8" -o OUT/runs)");
    rows.push_back({kRaptr, "table-1", "BERT-Base, 675k steps: baseline, PLD, stacking, RaPTr", Coverage::Part, kBert8,
                    encoder, "loss: baseline at 1.33 times the FLOP 1.76, PLD 1.80, stacking 1.78, RaPTr 1.75",
                    kBertCameOut});
    rows.push_back({kRaptr, "table-2", "BERT-Base, 300k steps: RaPTr against variants of stacking", Coverage::Part,
                    kStaged12, methods,
                    "loss: bert2BERT 1.85, MSG 1.84, LEMON 1.83, MSG between layers 1.84, stacking 1.84, RaPTr 1.83",
                    kMethods});
    rows.push_back(missing(kRaptr, "table-3", "UL2-1.6B: loss and 1-shot tasks", kNoUl2,
                           "loss: baseline 2.06, PLD 2.09, stacking 2.08, RaPTr 2.06"));
    rows.push_back({kRaptr, "table-4", "heads and MLPs of BERT-Base: RaPTr against MSG", Coverage::Part, kStaged12,
                    study(R"(sweep example:staged-language "RaPTr, table 4" -o OUT/runs)"),
                    "loss: heads MSG 2.07, RaPTr 1.84; MLP MSG 1.88, RaPTr 1.84",
                    "validation loss, mean of three seeds: heads MSG 2.759, RaPTr 2.829; MLP MSG 2.771, RaPTr 2.885; "
                    "deviations 0.004 to 0.021"});
    rows.push_back(missing(kRaptr, "table-5", "UL2-1.6B: all tasks", kNoUl2,
                           "1-shot average: baseline 33.8, stacking 31.1, RaPTr 35.3"));
    rows.push_back(
        missing(kRaptr, "table-6", "UL2-1.6B: more schedules", kNoUl2, "RaPTr without full steps first: 2.08"));
    rows.push_back(missing(kRaptr, "table-7", "UL2-1.6B: baseline at equal FLOP", kNoUl2, "2.07"));
    rows.push_back({kRaptr, "table-8", "BERT-Base and -Large at equal FLOP", Coverage::Part, kBert8, encoder,
                    "Base, 510k steps: baseline 1.74, stacking 1.75, RaPTr 1.73", kBertCameOut});
    rows.push_back(
        {kRaptr, "table-9", "schedules of average length 9", Coverage::Part, kStaged12,
         study(R"(sweep example:staged-language "RaPTr, table 9" -o OUT/runs)"),
         "loss: 3-6-9-12 1.76, 4-8-12 1.76, 6-9-12 1.75, 6-8-10-12 1.75, baseline 1.76",
         "validation loss, mean of three seeds: 3-6-9-12 2.776, 4-8-12 2.781, 6-9-12 2.785, 6-8-10-12 2.786, baseline "
         "2.782; deviations 0.004 to 0.014"});
    rows.push_back({kRaptr, "table-10", "the always-kept set, 6-8-10-12, 100k steps", Coverage::Part, kStaged12,
                    study(R"(sweep example:staged-language "RaPTr, table 10" -o OUT/runs)"),
                    "loss: none 2.12, {1} 2.13, {1, 12} 2.11, {1, 2, 12} 2.13, {1, 11, 12} 2.12, {1, 2, 11, 12} 2.14",
                    "validation loss, mean of three seeds: none 2.909, {1} 2.801, {1, 12} 2.786, {1, 2, 12} 2.793, {1, "
                    "11, 12} 2.779, {1, 2, 11, 12} 2.789; deviations 0.004 to 0.028"});
    rows.push_back(
        missing(kRaptr, "table-11", "steps a second of UL2 by stage", kNoUl2, "12 layers 2.0, 16 1.6, 20 1.4, 24 1.1"));
    rows.push_back({kRaptr,
                    "table-12",
                    "steps a second of BERT-Base by stage",
                    Coverage::Small,
                    "12 layers of width 96 on this machine: the run's record has the speed of every stage",
                    {"train example:staged-language --run OUT/run --resume-or-start", "report OUT/run -o OUT/report.html"},
                    "6 layers 17.9, 8 14.3, 10 11.8, 12 10.2",
                    "steps a second on two cores: 6 layers 18, 8 14, 10 11.0, 12 9.0"});
}

void addNlra(Rows& rows)
{
    constexpr std::string_view kOfLanguage = "4 layers of width 64 on the synthetic language at rank scales 0.1 and "
                                             "0.25, and an MLP (wide-relu), in place of "
                                             "EfficientNets";
    const std::vector<std::string_view> starts{"sweep example:low-rank-language initialisations -o OUT/runs/language",
                                               "sweep example:wide-relu initialisations -o OUT/runs/relu",
                                               "report OUT/runs/language -o OUT/language.html",
                                               "report OUT/runs/relu -o OUT/relu.html"};
    constexpr std::string_view kStarts =
        "wide-relu, validation loss: LFAI-WS 0.12, LFAI 0.13, ReLU-SVD 0.15, spectral 0.15, baseline 0.18, exact 0.20; "
        "low-rank-language: none ahead by more than its deviation";
    rows.push_back({kNlra,
                    "figure-1",
                    "growth of the gap between spectral and best start (corollary 3.7)",
                    Coverage::Whole,
                    "the bound, and what the solvers reach beside it; nothing trains",
                    {"analyze theory --figure 1 -o OUT/figure-1.svg"},
                    "the gap grows with n and with a falling rank scale",
                    "the gap at rank scale 0.1 is 0.9 at n 100 and 1.33 at n 300, above the bound; at 0.75 and n 300 "
                    "it is 0.009"});
    rows.push_back(
        {kNlra,
         "figure-2",
         "steps of LFAI-WS against accuracy, EfficientNet-b7 at 0.10",
         Coverage::Small,
         "small ReLU networks in place of an EfficientNet-b7",
         {"analyze theory --figure 2 -o OUT/figure-2.svg", R"(sweep example:wide-relu "figure 2" -o OUT/runs)", kReport},
         "the smaller the error of the fit, the higher the accuracy",
         "validation loss, mean of three seeds, by steps of the fit: 0 0.149, 1 0.170, 2 and 6 0.115; deviations 0.06 "
         "to "
         "0.12: two of the three seeds are best without a fit"});
    rows.push_back({kNlra,
                    "figure-3",
                    "sqrt h(rho) over rho",
                    Coverage::Whole,
                    "the function",
                    {"analyze theory --figure 3 -o OUT/figure-3.svg"},
                    "1/pi at 0, above rho, 1 at 1",
                    "0.318 at 0, 0.609 at 0.5, 1 at 1"});
    rows.push_back({kNlra,
                    "figure-4",
                    "mean of rho_SVD by shape and rank",
                    Coverage::Whole,
                    "as in the paper",
                    {"analyze theory --figure 4 -o OUT/figure-4.svg"},
                    "close to the square root of r/d",
                    "m/d 32: 0.326 at r/d 0.1, whose root is 0.316, and 0.894 at 0.75 (0.866); further apart at m/d 2: "
                    "0.450 and 0.971"});
    rows.push_back({kNlra, "table-1", "EfficientNets b0 to b9 by rank scale and start", Coverage::Part, kOfLanguage,
                    starts, "b9 at 0.05, top-1: baseline 66.36, spectral 66.64, LFAI 65.84, LFAI-WS 66.90", kStarts});
    for (const std::string_view item : {"table-2", "table-3", "table-4", "table-5"}) {
        rows.push_back(missing(kNlra, item, "rows of table 1 by network", kNoImages, "as table 1"));
    }
    rows.push_back(missing(kNlra, "table-6", "ResNet-50 with weight decay and Frobenius decay", kNoImages,
                           "at 0.05, top-1: baseline 56.92 / 57.73, LFAI-WS 57.37 / 58.22"));
    rows.push_back(
        missing(kNlra, "table-7", "ResNet-50, LFAI-WS by rank scale, weight decay", kNoImages, "as table 6"));
    rows.push_back(
        missing(kNlra, "table-8", "ResNet-50, LFAI-WS by rank scale, Frobenius decay", kNoImages, "as table 6"));
}

Rows makeRows()
{
    Rows rows;
    addDcaFigures(rows);
    addDcaTables(rows);
    addAncre(rows);
    addRaptrFigures(rows);
    addRaptrTables(rows);
    addNlra(rows);
    return rows;
}

} // namespace

std::span<const Paper> papers()
{
    static constexpr Paper kPapers[] = {
        {kDca, "DeepCrossAttention (both versions; where they differ, the proceedings')"},
        {kAncre, "ANCRe: adaptive neural connection reassignment"},
        {kRaptr, "RaPTr: progressive subnetworks"},
        {kNlra, "Nonlinear initialization methods for low-rank neural networks"},
    };
    return kPapers;
}

std::span<const Reproduction> reproductions()
{
    static const Rows rows = makeRows();
    return rows;
}

const Reproduction* findReproduction(std::string_view paper, std::string_view item)
{
    const auto found = std::ranges::find_if(
        reproductions(), [&](const Reproduction& row) { return row.paper == paper && row.item == item; });
    return found == reproductions().end() ? nullptr : &*found;
}

std::string_view nameOf(Coverage coverage)
{
    switch (coverage) {
    case Coverage::Whole:
        return "whole";
    case Coverage::Small:
        return "smaller";
    case Coverage::Part:
        return "part";
    case Coverage::Drawing:
        return "drawing";
    case Coverage::Missing:
        break;
    }
    return "missing";
}

} // namespace residua::resources
