// SPDX-License-Identifier: GPL-3.0-or-later
// How long a large project takes to open, save, edit and undo:
//   bench_document [nodes]
// Prints the median of several rounds; opening 1,000 nodes should take 300 ms at most.
#include "projects/check/validate.h"
#include "projects/diff/diff.h"
#include "projects/edit/history.h"
#include "projects/file/store.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <unistd.h>

namespace {

using namespace residua;
using namespace residua::projects;

/// Blocks of a hundred linear nodes in a row, each with a position.
Document largeDocument(int nodes)
{
    constexpr int kPerBlock = 100;
    Document document;
    Network& network = document.project.network;
    for (int made = 0; made < nodes;) {
        Block block{"block" + std::to_string(network.blocks.size()), "", {}};
        auto& positions = document.layout.positions[GraphRef::block(block.name)];
        for (std::uint32_t id = 1; id <= kPerBlock && made < nodes; ++id, ++made) {
            block.graph.nodes.push_back(
                {NodeId{id}, "linear", "linear" + std::to_string(id), {{"out", std::string("4*d")}}});
            positions[NodeId{id}] = {120.0 * id, 0};
            if (id > 1) {
                block.graph.wires.push_back({{NodeId{id - 1}, "out"}, {NodeId{id}, "in"}});
            }
        }
        network.stack().segments.push_back({block.name, 1});
        network.blocks.push_back(std::move(block));
    }
    return document;
}

template <class Action>
void report(const char* what, const Action& action)
{
    constexpr int kRounds = 15;
    std::vector<double> milliseconds;
    for (int round = 0; round < kRounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        action();
        milliseconds.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(milliseconds.begin(), milliseconds.begin() + kRounds / 2, milliseconds.end());
    std::printf("%-28s %9.3f ms\n", what, milliseconds[kRounds / 2]);
}

/// A bench that measures failures would please everyone.
template <class T>
T sure(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "%s\n", result.error().text().c_str());
        std::exit(1);
    }
    return std::move(*result);
}

} // namespace

int main(int argc, char** argv)
{
    const int nodes = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
    const Document document = largeDocument(nodes);
    const auto directory = std::filesystem::temp_directory_path() / ("bench_document-" + std::to_string(::getpid()));
    sure(saveProject(directory, document));
    std::printf("%d nodes\n", nodes);

    report("save", [&] { sure(saveProject(directory, document)); });
    report("open", [&] { sure(loadProject(directory)); });
    report("open and validate", [&] { (void)validate(sure(loadProject(directory)).project); });

    History history(document);
    const MoveNode move{GraphRef::block("block0"), NodeId{1}, Position{7, 7}};
    report("move a node, undo", [&] {
        sure(history.perform(move));
        history.undo();
    });
    const RemoveNode remove{GraphRef::block("block0"), NodeId{1}};
    report("remove a node, undo", [&] {
        sure(history.perform(remove));
        history.undo();
    });
    report("1,000 edits, all undone", [&] {
        for (std::int64_t width = 1; width <= 1'000; ++width) {
            sure(history.perform(SetField{"/network/width", {std::to_string(1000 + width)}}));
        }
        while (history.canUndo()) {
            history.undo();
        }
    });
    Document changed = document;
    sure(applyEdit(changed, remove));
    report("diff", [&] { (void)diff(document.project, changed.project); });
    std::filesystem::remove_all(directory);
}
