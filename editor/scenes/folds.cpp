// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/folds.h"

#include <algorithm>
#include <string>

namespace residua::editor {
namespace {

bool isLoop(const projects::Stack& stack, const LayerRun& run)
{
    return stack.loopOf(run.first) != nullptr;
}

} // namespace

std::vector<LayerRun> foldableRuns(const projects::Network& network)
{
    const projects::Stack& stack = network.stack();
    std::vector<LayerRun> runs;
    std::int64_t layer = 0;
    const std::string* block = nullptr;
    for (const projects::StackSegment& segment : stack.segments) {
        const std::int64_t end = layer + std::max<std::int64_t>(segment.repeat, 0);
        while (layer < end) {
            const projects::Loop* const loop = stack.loopOf(++layer);
            const bool joins = !runs.empty() && (loop != nullptr ? runs.back().first == loop->first
                                                                 : !isLoop(stack, runs.back()) && block != nullptr &&
                                                                       *block == segment.block);
            if (joins) {
                runs.back().last = layer;
            } else {
                runs.push_back({layer, layer});
            }
            block = &segment.block;
        }
    }
    std::erase_if(runs, [&stack](const LayerRun& run) { return run.first == run.last && !isLoop(stack, run); });
    return runs;
}

std::vector<LayerRun> stillFolded(const projects::Network& network, std::vector<LayerRun> folds)
{
    const auto runs = foldableRuns(network);
    std::erase_if(folds, [&](LayerRun& fold) {
        const auto around = std::ranges::find_if(
            runs, [&fold](const LayerRun& run) { return run.first <= fold.first && fold.last <= run.last; });
        if (around != runs.end() && isLoop(network.stack(), *around)) {
            fold = *around;
        }
        return around == runs.end() || fold.first > fold.last;
    });
    folds.erase(std::ranges::unique(folds).begin(), folds.end());
    return folds;
}

std::vector<LayerRun> toggled(const projects::Network& network, std::vector<LayerRun> folds,
                              const std::set<std::int64_t>& layers)
{
    const projects::Stack& stack = network.stack();
    std::set<std::int64_t> stored;
    for (const std::int64_t layer : layers) {
        stored.insert(stack.visitAt(layer).layer);
    }
    const auto unfolded = std::erase_if(folds, [&stored](const LayerRun& run) {
        const auto from = stored.lower_bound(run.first);
        return stored.empty() || (from != stored.end() && *from <= run.last);
    });
    if (unfolded > 0) {
        return folds;
    }
    for (const LayerRun& run : foldableRuns(network)) {
        const bool loop = isLoop(stack, run);
        const auto within = stored.lower_bound(run.first);
        if (loop && (stored.empty() || (within != stored.end() && *within <= run.last))) {
            folds.push_back(run);
        }
        const auto chosen = [&](std::int64_t layer) { return !loop && (stored.empty() || stored.contains(layer)); };
        for (std::int64_t first = run.first; first <= run.last; ++first) {
            std::int64_t last = first;
            while (chosen(first) && last < run.last && chosen(last + 1)) {
                ++last;
            }
            if (first < last) {
                folds.push_back({first, last});
            }
            first = last;
        }
    }
    std::sort(folds.begin(), folds.end());
    return folds;
}

} // namespace residua::editor
