// SPDX-License-Identifier: GPL-3.0-or-later
// Residual networks of convolutions (He et al., 2016). Each stage is a tower whose stem reads the states of the stage
// before and holds the block that shrinks the picture; the others are the layers of its stack. The states are the sums
// before their ReLU, so that a layer adds f(relu(x)) + relu(x) − x.
#include "projects/library/convolution_graph.h"
#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/recipes.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {
namespace {

enum class ResidualBlock { Basic, Bottleneck };
/// The shortcut of a block that shrinks the picture.
enum class Shrinking {
    Projection, ///< a 1×1 convolution and a norm
    Padding,    ///< every second pixel, with zeros as the further channels
};

struct ResNet {
    ResidualBlock block = ResidualBlock::Basic;
    Shrinking shrinking = Shrinking::Projection;
    std::vector<std::int64_t> widths; ///< of the stages
    std::vector<std::int64_t> blocks; ///< of each stage, at least two
    std::int64_t side = 224;          ///< of a picture
};

constexpr const char* kNarrow = "max(1, floor(d/4))";

/// Adds the branch f of a block, which reads the last node.
ConvolutionGraph& addBranch(ConvolutionGraph& graph, ResidualBlock block, std::int64_t stride = 1)
{
    if (block == ResidualBlock::Basic) {
        return graph.convolution("1", std::string("d"), 3, stride)
            .activation("relu1", "relu")
            .convolution("2", std::string("d"), 3);
    }
    return graph.convolution("1", std::string(kNarrow), 1)
        .activation("relu1", "relu")
        .convolution("2", std::string(kNarrow), 3, stride)
        .activation("relu2", "relu")
        .convolution("3", std::string("d"), 1);
}

Graph layerGraph(ResidualBlock block)
{
    ConvolutionGraph graph;
    graph.then("negative", "scale", {{"value", -1.0}}).from("input").activation("relu", "relu");
    addBranch(graph, block);
    return graph.sumOf({graph.last(), "relu", "negative"});
}

/// Adds the first block of a stage, whose shortcut changes the width, and returns the stem that ends with it.
Graph shrunk(ConvolutionGraph& graph, const ResNet& net, std::int64_t stride)
{
    const std::string read = graph.last();
    addBranch(graph, net.block, stride);
    const std::string branch = graph.last();
    if (net.shrinking == Shrinking::Projection) {
        graph.from(read).convolution("_shortcut", std::string("d"), 1, stride);
        return graph.sumOf({branch, "norm_shortcut"});
    }
    graph.from(read)
        .then("every_second", "pool2d",
              {{"kernel", std::int64_t{1}}, {"stride", stride}, {kLayoutParam, std::string(kFeaturesLast)}})
        .then("zeros", "scale", {{"value", 0.0}})
        .concatenate("padded", "every_second", "zeros");
    return graph.sumOf({branch, "padded"});
}

/// Returns the stem of the first stage: the picture, a convolution and, if the side is above 64, the maximum over
/// windows.
Graph pictureStem(const ResNet& net)
{
    const bool isLarge = net.side > 64;
    ConvolutionGraph graph;
    graph.picture(net.side);
    const bool widens = net.block == ResidualBlock::Bottleneck;
    const ParamValue out = widens ? ParamValue(std::string(kNarrow)) : ParamValue(std::string("d"));
    graph.convolution("_picture", out, isLarge ? 7 : 3, isLarge ? 2 : 1);
    if (isLarge) {
        graph.activation("relu_picture", "relu")
            .then("pool", "pool2d",
                  {{"kernel", std::int64_t{3}},
                   {"stride", std::int64_t{2}},
                   {"padding", std::int64_t{1}},
                   {kLayoutParam, std::string(kFeaturesLast)}});
    }
    return widens ? shrunk(graph, net, 1) : graph.end();
}

Graph stageStem(const ResNet& net)
{
    ConvolutionGraph graph;
    return shrunk(graph.activation("relu", "relu"), net, 2);
}

Graph classesOf()
{
    return GraphBuilder::fromInput()
        .then("relu", "activation", {{"function", std::string("relu")}})
        .then("mean", "mean_pool")
        .then("classes", "linear", {{"out", std::string("out")}, {"bias", true}})
        .toOutput();
}

Project chained(const ResNet& net)
{
    const std::string block = net.block == ResidualBlock::Basic ? "basic" : "bottleneck";
    std::vector<ImageStage> stages;
    for (std::size_t index = 0; index < net.widths.size(); ++index) {
        const bool isFirst = index == 0;
        const bool hasShrinking = !isFirst || net.block == ResidualBlock::Bottleneck;
        stages.push_back({"stage" + std::to_string(index + 1),
                          net.widths[index],
                          isFirst ? pictureStem(net) : stageStem(net),
                          {block, {}, layerGraph(net.block)},
                          net.blocks[index] - (hasShrinking ? 1 : 0)});
    }
    return chainOf(std::move(stages), classesOf());
}

/// ResNet-20 to -110 for CIFAR: three stages of n blocks, 6n + 2 weighted layers (section 4.2).
Recipe cifarResNet(std::int64_t layers)
{
    constexpr std::int64_t kSide = 32;
    const std::int64_t blocks = (layers - 2) / 6;
    Project project = chained(
        {.shrinking = Shrinking::Padding, .widths = {16, 32, 64}, .blocks = {blocks, blocks, blocks}, .side = kSide});
    project.data.source = picturesOf(kSide, 10);
    project.data.validationFraction = 0.1;
    project.data.augmentation = {.padding = 4, .flip = true};
    TrainingPlan& plan = project.training;
    plan.precision = Precision::Fp32;
    plan.batch = 128;
    plan.steps = 64'000;
    plan.optimiser = Sgd{.momentum = 0.9, .weightDecay = 1e-4};
    plan.learningRate = {.peak = 0.1, .warmupSteps = 400, .curve = RateCurve::Cosine, .finalFraction = 0.01};
    const std::string number = std::to_string(layers);
    return {"resnet-" + number,
            "ResNet-" + number + ", CIFAR",
            "three stages of " + std::to_string(blocks) +
                " blocks on pictures of 32 × 32 in 10 classes, 64,000 steps of 128",
            std::move(project),
            kPlainPreset,
            {},
            {"the rate falls along a cosine; the paper's is divided by ten at 32,000 and 48,000 steps",
             "weights of norms and biases do not decay; the paper's do"}};
}

/// ImageNet's networks with the rate of torchvision's reference training: 90 epochs of 256 pictures.
Project imageResNet(ResidualBlock block, std::vector<std::int64_t> widths, std::vector<std::int64_t> blocks)
{
    constexpr std::int64_t kSide = 224;
    Project project =
        chained({.block = block, .widths = std::move(widths), .blocks = std::move(blocks), .side = kSide});
    project.data = imageNetOf(kSide);
    TrainingPlan& plan = project.training;
    plan.batch = 256;
    plan.steps = 450'450;
    plan.optimiser = Sgd{.momentum = 0.9, .weightDecay = 1e-4};
    plan.learningRate = {.peak = 0.1, .warmupSteps = 0, .curve = RateCurve::Cosine, .finalFraction = 0};
    return project;
}

Project resNet50()
{
    return imageResNet(ResidualBlock::Bottleneck, {256, 512, 1024, 2048}, {3, 4, 6, 3});
}

Recipe imageRecipe(const std::string& layers, const std::string& blocks, Project project)
{
    return {"resnet-" + layers,
            "ResNet-" + layers,
            blocks + " on pictures of 224 × 224 in 1,000 classes, 90 epochs of ImageNet",
            std::move(project),
            kPlainPreset,
            {},
            {"the rate falls along a cosine; torchvision's reference training divides it by ten every 30 epochs",
             "weights of norms and biases do not decay; torchvision's do"}};
}

/// NLRA's ResNet-50. Every convolution is in two factors, which read one side of the kernel each (section 4, table 6).
Recipe lowRankResNet50()
{
    Project project = resNet50();
    for (Graph* const graph : graphsOf(project)) {
        setParam(*graph, "activation", "function", std::string("silu"));
    }
    trainAsNlra(project);
    factorAsNlra(project);
    return {"nlra-resnet-50",
            "NLRA: ResNet-50",
            "convolutions in two factors, share 0.2, on pictures of 224 × 224, 62,000 steps of 4,096 (table 6)",
            std::move(project),
            kPlainPreset,
            {},
            {"all 53 convolutions are in factors, that of the picture too; the paper does not say which"}};
}

} // namespace

std::vector<Recipe> resnetRecipes()
{
    return {cifarResNet(20),
            cifarResNet(32),
            cifarResNet(44),
            cifarResNet(56),
            cifarResNet(110),
            imageRecipe("18", "four stages of 2 blocks",
                        imageResNet(ResidualBlock::Basic, {64, 128, 256, 512}, {2, 2, 2, 2})),
            imageRecipe("50", "stages of 3, 4, 6 and 3 bottlenecks", resNet50()),
            lowRankResNet50()};
}

} // namespace residua::projects
