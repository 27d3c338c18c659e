// SPDX-License-Identifier: GPL-3.0-or-later
// EfficientNets (Tan and Le, 2019). Each stage is a tower whose stem reads the states of the stage before and ends with
// its first block; the others are the layers of its stack. A stage of one block belongs to the stem of the next one, or
// to the head.
#include "projects/library/convolution_graph.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/recipes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {
namespace {

/// A stage of b0.
struct Stage0 {
    std::int64_t expansion;
    std::int64_t kernel;
    std::int64_t stride;
    std::int64_t width;
    std::int64_t blocks;
};
constexpr std::array kStages{Stage0{1, 3, 1, 16, 1}, Stage0{6, 3, 2, 24, 2},  Stage0{6, 5, 2, 40, 2},
                             Stage0{6, 3, 2, 80, 3}, Stage0{6, 5, 1, 112, 3}, Stage0{6, 5, 2, 192, 4},
                             Stage0{6, 3, 1, 320, 1}};
constexpr std::int64_t kStemWidth = 32;
constexpr std::int64_t kTopWidth = 1280;
constexpr double kDropPath = 0.2; ///< towards which the rates of stochastic depth rise

/// A network of the family by its multipliers of widths and depths.
struct EfficientNet {
    double width;
    double depth;
    std::int64_t side;
    double dropout; ///< 0: no stochastic depth either
};
/// b0 to b9; the last is NLRA's, at its side.
constexpr std::array kNetworks{EfficientNet{1.0, 1.0, 224, 0.2}, EfficientNet{1.0, 1.1, 240, 0.2},
                               EfficientNet{1.1, 1.2, 260, 0.3}, EfficientNet{1.2, 1.4, 300, 0.3},
                               EfficientNet{1.4, 1.8, 380, 0.4}, EfficientNet{1.6, 2.2, 456, 0.4},
                               EfficientNet{1.8, 2.6, 528, 0.5}, EfficientNet{2.0, 3.1, 600, 0.5},
                               EfficientNet{2.2, 3.6, 672, 0.5}, EfficientNet{3.0, 3.2, 224, 0.5}};

/// Rounds a width to a multiple of 8 that is at least nine tenths of it.
std::int64_t widened(std::int64_t width, double factor)
{
    constexpr std::int64_t kUnit = 8;
    const double wanted = static_cast<double>(width) * factor;
    const std::int64_t rounded = std::max(kUnit, static_cast<std::int64_t>(wanted + kUnit / 2.0) / kUnit * kUnit);
    return static_cast<double>(rounded) < 0.9 * wanted ? rounded + kUnit : rounded;
}

std::int64_t deepened(std::int64_t blocks, double factor)
{
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(blocks) * factor));
}

/// Builds the stages of a network in order.
class StageBuilder {
public:
    explicit StageBuilder(const EfficientNet& net) : m_net(net), m_width(widened(kStemWidth, net.width))
    {
        for (const Stage0& stage : kStages) {
            m_blocks += deepened(stage.blocks, net.depth);
        }
        m_graph.picture(net.side).convolution("_picture", m_width, 3, 2).activation("silu_picture", "silu");
    }

    /// Returns the project.
    [[nodiscard]] Project build()
    {
        for (std::size_t i = 0; i < kStages.size(); ++i) {
            add(kStages[i], i + 1);
        }
        m_graph.convolution("_top", widened(kTopWidth, m_net.width), 1)
            .activation("silu_top", "silu")
            .then("mean", "mean_pool", {});
        if (m_net.dropout > 0) {
            m_graph.then("drop", "dropout", {{"rate", m_net.dropout}});
        }
        m_graph.then("classes", "linear", {{"out", std::string("out")}, {"bias", true}});
        return chainOf(std::move(m_stages), m_graph.end());
    }

private:
    void add(const Stage0& stage, std::size_t number)
    {
        const std::int64_t width = widened(stage.width, m_net.width);
        const std::int64_t layers = deepened(stage.blocks, m_net.depth) - 1;
        addMbConv(m_graph, {.in = m_width,
                            .out = width,
                            .expansion = stage.expansion,
                            .kernel = stage.kernel,
                            .stride = stage.stride,
                            .suffix = layers > 0 ? "" : "_" + std::to_string(number)});
        m_width = width;
        const double first = static_cast<double>(m_made + 1);
        m_made += layers + 1;
        if (layers == 0) {
            return;
        }
        ConvolutionGraph layer;
        addMbConv(layer, {.in = {}, .expansion = stage.expansion, .kernel = stage.kernel});
        if (m_net.dropout > 0) {
            layer.then("drop", "dropout",
                       {{"rate", rateAt(first)},
                        {kDropUnitParam, std::string(kDropExamples)},
                        {kLastRateParam, rateAt(static_cast<double>(m_made - 1))}});
        }
        m_stages.push_back(
            {"stage" + std::to_string(number), width, m_graph.end(), {"mbconv", {}, layer.end()}, layers});
        m_graph = ConvolutionGraph();
    }

    /// Returns the rate at which a step leaves out block `block`, counted from 0.
    [[nodiscard]] double rateAt(double block) const { return kDropPath * block / static_cast<double>(m_blocks); }

    const EfficientNet& m_net;
    std::int64_t m_width;      ///< of the last block
    std::int64_t m_blocks = 0; ///< of the whole network
    std::int64_t m_made = 0;   ///< blocks so far
    ConvolutionGraph m_graph;
    std::vector<ImageStage> m_stages;
};

/// Returns the network with the constants of TensorFlow's batch norms.
Project networkOf(const EfficientNet& net)
{
    Project project = StageBuilder(net).build();
    for (Graph* const graph : graphsOf(project)) {
        setParam(*graph, "batch_norm", "epsilon", 1e-3);
        setParam(*graph, "batch_norm", "momentum", 0.01);
    }
    project.data = imageNetOf(net.side);
    trainAsNlra(project);
    std::get<Sgd>(project.training.optimiser).weightDecay = 1e-5;
    return project;
}

Recipe efficientNet(std::size_t number)
{
    const EfficientNet& net = kNetworks.at(number);
    Project project = networkOf(net);
    project.training.weightAverage = 0.9999;
    project.training.evaluatedWeights = EvaluatedWeights::Averaged;
    const std::string side = std::to_string(net.side);
    return {"efficientnet-b" + std::to_string(number),
            "EfficientNet-B" + std::to_string(number),
            "pictures of " + side + " × " + side + " in 1,000 classes, 62,000 steps of 4,096",
            std::move(project),
            kPlainPreset,
            {},
            {"SGD along a cosine without AutoAugment, as NLRA trains; the paper's optimiser is RMSProp",
             "weights are drawn by their inputs; the paper's by their outputs",
             "zeros are added on all sides alike, as in torchvision; TensorFlow adds more of them at the end"}};
}

/// NLRA's EfficientNets: no dropout, and all ordinary convolutions but the last one in factors (section 4, tables 1 to
/// 5).
Recipe lowRankEfficientNet(std::size_t number)
{
    constexpr std::int64_t kSide = 224;
    EfficientNet net = kNetworks.at(number);
    net.side = kSide;
    net.dropout = 0;
    Project project = networkOf(net);
    factorAsNlra(project);
    for (Node& node : project.network.head.nodes) {
        if (node.name == "conv_top") {
            node.params.erase("rank");
            node.params.erase(kUnfoldingParam);
        }
    }
    return {"nlra-efficientnet-b" + std::to_string(number),
            "NLRA: EfficientNet-B" + std::to_string(number),
            "convolutions in two factors, share 0.2, on pictures of 224 × 224, 62,000 steps of 4,096 (tables 1 to 5)",
            std::move(project),
            kPlainPreset,
            {},
            {"the convolutions of blocks and picture are in factors, 107 in B7; the paper prints that number alone",
             "there is no dropout; the paper does not say"}};
}

} // namespace

std::vector<Recipe> efficientNetRecipes()
{
    std::vector<Recipe> recipes;
    for (std::size_t number = 0; number < kNetworks.size(); ++number) {
        recipes.push_back(efficientNet(number));
    }
    for (std::size_t number = 0; number < kNetworks.size(); ++number) {
        recipes.push_back(lowRankEfficientNet(number));
    }
    return recipes;
}

} // namespace residua::projects
