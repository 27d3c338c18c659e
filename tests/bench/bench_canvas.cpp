// SPDX-License-Identifier: GPL-3.0-or-later
// The cost of the canvases on the processor, without a window: building their pictures, hit tests and the vertices of a
// frame. Prints each figure with its target:
//   bench_canvas
#include "editor/block/block_canvas.h"
#include "editor/canvas/canvas.h"
#include "editor/scenes/block_scene.h"
#include "editor/scenes/depth_scene.h"
#include "tests/editor/canvas_driver.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace residua;
using namespace residua::editor;

/// `layers` layers that read the one before them and, spread over the depth, `shortcuts` others up to 96 layers back.
projects::Document sparseStack(std::int64_t layers, std::int64_t shortcuts)
{
    projects::Document document;
    document.project.network.blocks.push_back({"mlp", "mlp", {}});
    document.project.stack().segments = {{"mlp", layers}};
    projects::DepthMix mix;
    mix.weight = projects::WeightKind::Scalar;
    mix.finalMix = false;
    projects::ExplicitSources sources;
    const std::int64_t perLayer = std::max<std::int64_t>(shortcuts / layers, 1);
    for (std::int64_t target = 1; target <= layers; ++target) {
        for (std::int64_t i = perLayer - 1; i >= 0; --i) {
            const std::int64_t source = target - 1 - i * (7 + target % 13);
            if (source >= 0) {
                sources.shortcuts.push_back({source, target});
            }
        }
    }
    mix.sources = std::move(sources);
    document.project.stack().topology.wiring = std::move(mix);
    return document;
}

projects::Document fullStack(std::int64_t layers)
{
    projects::Document document = sparseStack(layers, layers);
    auto& mix = std::get<projects::DepthMix>(document.project.stack().topology.wiring);
    mix.sources = projects::AllSources{};
    return document;
}

/// Twelve towers of 64 layers, where each layer reads all before it.
projects::Document twelveTowers()
{
    projects::Document document = fullStack(64);
    for (int i = 1; i < 12; ++i) {
        document.project.towers.push_back({document.project.network});
        document.project.towers.back().network.name = "tower" + std::to_string(i);
    }
    return document;
}

/// A block of sums, each of the node before and of one further back.
projects::Document blockOfSums(std::uint32_t nodes)
{
    projects::Document document;
    projects::Graph graph;
    for (std::uint32_t i = 1; i <= nodes; ++i) {
        graph.nodes.push_back({projects::NodeId{i}, i == 1 ? "input" : "add", "n" + std::to_string(i), {}});
        if (i > 1) {
            const std::uint32_t further = std::min(i - 1, i % 8 == 0 ? 24U : 1 + i % 4);
            graph.wires.push_back({{projects::NodeId{i - 1}, "out"}, {projects::NodeId{i}, "in1"}});
            graph.wires.push_back({{projects::NodeId{i - further}, "out"}, {projects::NodeId{i}, "in2"}});
        }
    }
    std::sort(graph.wires.begin(), graph.wires.end());
    document.project.network.blocks.push_back({"b", "", std::move(graph)});
    document.project.stack().segments = {{"b", 1}};
    return document;
}

/// The 95th percentile, in milliseconds.
template <class Action>
double p95(int rounds, const Action& action)
{
    std::vector<double> milliseconds;
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        action(round);
        milliseconds.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    return milliseconds[milliseconds.size() * 95 / 100];
}

void print(const std::string& what, double milliseconds, double target)
{
    std::printf("%-58s %9.3f ms   target %g ms\n", what.c_str(), milliseconds, target);
}

void benchFrames(const std::string& name, Canvas& canvas, const projects::Document& document, double target)
{
    canvas.setDocument(std::make_shared<const projects::Document>(document));
    CanvasDriver driver(canvas);
    print(name + ": frame, everything in sight", p95(40, [&](int) { driver.frame(); }), target);
    driver.moveTo({CanvasDriver::kWidth / 2, CanvasDriver::kHeight * 0.8F});
    double slowest = 0;
    for (int zoom = 0; zoom < 10; ++zoom) {
        driver.wheel(5);
        slowest = std::max(slowest, p95(20, [&](int) { driver.frame(); }));
    }
    print(name + ": frame, the slowest of ten zooms", slowest, target);
}

void benchHitTest(const std::string& name, const projects::Document& document)
{
    DepthScene scene;
    scene.rebuild(document.project);
    const Rect area = scene.bounds();
    print(name + ": hit test",
          p95(2000,
              [&](int round) {
                  const float x = static_cast<float>(round * 7919 % 2000) / 2000;
                  const float y = static_cast<float>(round * 104729 % 2000) / 2000;
                  (void)scene.hitTest({area.left + x * (area.right - area.left), area.top * y}, 6);
              }),
          0.2);
}

void benchTowers()
{
    projects::Document towers = twelveTowers();
    const auto canvas = makeDepthCanvas();
    canvas->setState({.selection = {}, .hovered = {}, .folds = {}, .tower = 0});
    benchFrames("depth, 12 towers of 64 layers", *canvas, towers, 16.7);
    print("depth, 12 towers of 64 layers: take up an edit",
          p95(20,
              [&](int round) {
                  towers.project.stack().width = 256 + round;
                  canvas->setDocument(std::make_shared<const projects::Document>(towers));
              }),
          16);
}

void benchBlock()
{
    const projects::Document hundred = blockOfSums(100);
    print("block, 100 nodes: open, ways of all wires",
          p95(10,
              [&](int) {
                  BlockScene scene;
                  scene.rebuild(hundred, projects::GraphRef::block("b"));
              }),
          50);
    BlockScene scene;
    scene.rebuild(hundred, projects::GraphRef::block("b"));
    print("block, 100 nodes: take up a change of words",
          p95(40, [&](int) { scene.rebuild(hundred, projects::GraphRef::block("b")); }), 16);
    const Rect area = scene.bounds();
    print("block, 100 nodes: hit test",
          p95(2000,
              [&](int round) {
                  const float x = static_cast<float>(round * 7919 % 2000) / 2000;
                  const float y = static_cast<float>(round * 104729 % 2000) / 2000;
                  (void)scene.hitTest({area.left + x * area.width(), area.top + y * area.height()}, 6);
              }),
          0.2);
    const auto canvas = makeBlockCanvas();
    benchFrames("block, 100 nodes", *canvas, hundred, 16.7);
    scene.rebuild(blockOfSums(1000), projects::GraphRef::block("b"));
    print("block, 1,000 nodes: layout", p95(10, [&](int) { (void)scene.tidied(); }), 200);
}

} // namespace

int main()
{
    const projects::Document large = sparseStack(3000, 15000);
    const projects::Document dense = fullStack(172); // 15,051 arcs that cover each other
    const projects::Document thousand = sparseStack(1000, 5000);
    const projects::Document huge = sparseStack(10000, 50000);
    DepthScene scene;
    print("depth, 1,000 layers: layout", p95(20, [&](int) { scene.rebuild(thousand.project); }), 200);
    benchHitTest("depth, 3,000 layers and 15,000 arcs", large);
    benchHitTest("depth, 172 layers and all their arcs", dense);
    const auto depth = makeDepthCanvas();
    benchFrames("depth, 3,000 layers and 15,000 arcs", *depth, large, 16.7);
    benchFrames("depth, 172 layers and all their arcs", *depth, dense, 16.7);
    benchFrames("depth, 10,000 layers", *depth, huge, 33.3);
    benchTowers();
    const auto matrix = makeMatrixCanvas();
    benchFrames("matrix, 1,000 layers", *matrix, fullStack(1000), 16.7);
    benchBlock();
    return 0;
}
