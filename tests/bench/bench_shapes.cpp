// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/bench_shapes.h"

#include "engine/compute/runtime/device.h"
#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/token_dataset.h"
#include "projects/cost/cost.h"
#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "projects/shipped/examples.h"
#include "projects/shipped/recipes.h"
#include "projects/transfer/retrofit.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace residua::tests {
namespace {

const BenchShape kShapes[] = {
    {"small", "transformer", 8, 256, 4, 256, 256, false},
    {"llama130m", "transformer", 12, 768, 12, 32'000, 256, false},
    {"llama1b-2048", "transformer", 24, 2048, 32, 32'000, 2048, false},
    {"llama1b-8192", "transformer", 24, 2048, 32, 32'000, 8192, false},
    {"gpt2-124m", "gpt", 12, 768, 12, 50'304, 1024, true}, // the vocabulary is padded as nanoGPT and llm.c pad it
    {"small-vit", "gpt", 6, 64, 4, 10, 1, false, true},
    {"small-dit", "dit", 6, 64, 4, 10, 1, false, true},
    {"small-bert", "gpt", 8, 128, 4, 64, 64, true, true},
    {"small-ul2", "transformer", 8, 128, 4, 84, 64, true, true},
    {"small-resnet", "basic", 6, 32, 1, 10, 1, false, true},
    {"small-efficientnet", "mbconv", 6, 24, 1, 10, 1, false, true},
    {"point-maze", "mlp-normed", 4, 64, 1, 2, 1, false, true}, // the recipe
};

projects::Graph gptStem(std::int64_t length)
{
    return projects::GraphBuilder()
        .node("input", "input")
        .node("embedding", "token_embedding")
        .node("positions", "position_embedding", {{"length", length}})
        .node("output", "output")
        .wire("input", "embedding")
        .wire("embedding", "positions")
        .wire("positions", "output")
        .build();
}

projects::Graph headWith(const char* norm)
{
    return projects::GraphBuilder()
        .node("input", "input")
        .node("norm", norm)
        .node("logits", "linear", {{"out", std::string("vocab")}})
        .node("output", "output")
        .wire("input", "norm")
        .wire("norm", "logits")
        .wire("logits", "output")
        .build();
}

projects::Block blockOf(const BenchShape& shape)
{
    const auto preset = std::ranges::find(projects::blockPresets(), shape.block, &projects::BlockPreset::name);
    projects::Block block{preset->name, preset->title, preset->graph};
    for (projects::Node& node : block.graph.nodes) {
        if (node.kind == "attention") {
            node.params["heads"] = shape.heads;
        }
    }
    return block;
}

Result<std::unique_ptr<engine::Dataset>> randomTokens(const BenchShape& shape)
{
    constexpr std::int64_t kTokens = 1'000'000;
    std::mt19937_64 random(1);
    std::vector<std::uint32_t> tokens(kTokens);
    std::ranges::generate(tokens, [&] { return random() % static_cast<std::uint64_t>(shape.vocabulary); });
    engine::TokenSequence sequence;
    sequence.append(tokens, shape.vocabulary);
    projects::Project project;
    project.training.sequenceLength = shape.length;
    return engine::TokenDataset::create(engine::partOf({std::move(sequence)}, project, "random tokens"),
                                        engine::idCodec(shape.vocabulary), shape.vocabulary, project);
}

} // namespace

const BenchShape* findShape(const std::string& name)
{
    const auto* const found = std::ranges::find(kShapes, name, &BenchShape::name);
    return found == std::end(kShapes) ? nullptr : found;
}

Result<projects::Project> projectOf(const BenchShape& shape, const std::string& topology)
{
    const projects::Recipe* const recipe = projects::findRecipe(shape.name);
    projects::Project project = recipe != nullptr
                                    ? recipe->project
                                    : projects::findExample(shape.isExample ? shape.name : "plain-language")->project;
    project.training = {};
    project.training.sequenceLength = shape.length;
    if (!shape.isExample) {
        project.data.source = projects::SyntheticLanguage{.vocabulary = shape.vocabulary, .tokens = 1'000'000};
        project.stack().width = shape.width;
        project.network.tieHead = shape.tied;
        project.network.blocks = {blockOf(shape)};
        project.stack().segments = {{shape.block, shape.layers}};
        if (shape.block == "gpt") {
            project.network.stem = gptStem(shape.length);
            project.network.head = headWith("layer_norm");
        }
    }
    const auto presets = projects::topologyPresets(project.network);
    const auto preset = std::ranges::find(presets, topology, &projects::TopologyPreset::name);
    if (preset == presets.end()) {
        return Error{"", "unknown topology preset " + topology};
    }
    return projects::rewired(project, {topology, preset->wiring});
}

Result<engine::TrainerParts> openOnRandomTokens(const projects::Project& project, const BenchShape& shape,
                                                const std::string& device)
{
    const Result<c10::Device> opened = engine::openDevice(device);
    if (!opened) {
        return opened.error();
    }
    Result<std::unique_ptr<engine::Dataset>> dataset =
        shape.isExample ? engine::Dataset::open(project, {}) : randomTokens(shape);
    if (!dataset) {
        return dataset.error();
    }
    auto network = engine::CompiledNetwork::compile(project, (*dataset)->schema(), device);
    if (!network) {
        return network.error();
    }
    if (const Status started = (*network)->initialise({}, {}); !started) {
        return started.error();
    }
    return engine::TrainerParts{project, std::move(*dataset), std::move(*network), *opened};
}

double trainingFlopPerToken(const projects::Project& project, const BenchShape& shape)
{
    const projects::CostReport cost = projects::costOf(project).value();
    const std::int64_t parameters = cost.total.parameters - (shape.tied ? 0 : cost.stem.parameters);
    return 6.0 * static_cast<double>(parameters + shape.layers * shape.width * shape.length);
}

} // namespace residua::tests
