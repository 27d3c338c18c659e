// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/folds.h"

#include <algorithm>
#include <string>

namespace residua::editor {

std::vector<LayerRun> identicalRuns(const projects::Network& network)
{
    std::vector<LayerRun> runs;
    std::int64_t layer = 0;
    const std::string* block = nullptr;
    for (const projects::StackSegment& segment : network.stack().segments) {
        if (segment.repeat < 1) {
            continue;
        }
        if (block != nullptr && *block == segment.block) {
            runs.back().last += segment.repeat;
        } else {
            runs.push_back({layer + 1, layer + segment.repeat});
        }
        block = &segment.block;
        layer += segment.repeat;
    }
    std::erase_if(runs, [](const LayerRun& run) { return run.first == run.last; });
    return runs;
}

std::vector<LayerRun> stillFolded(const projects::Network& network, std::vector<LayerRun> folds)
{
    const auto runs = identicalRuns(network);
    std::erase_if(folds, [&runs](const LayerRun& fold) {
        return std::none_of(runs.begin(), runs.end(),
                            [&fold](const LayerRun& run) { return run.first <= fold.first && fold.last <= run.last; });
    });
    return folds;
}

std::vector<LayerRun> toggled(const projects::Network& network, std::vector<LayerRun> folds,
                              const std::set<std::int64_t>& layers)
{
    const auto chosen = [&layers](std::int64_t layer) { return layers.empty() || layers.contains(layer); };
    const auto unfolded = std::erase_if(folds, [&layers](const LayerRun& run) {
        const auto from = layers.lower_bound(run.first);
        return layers.empty() || (from != layers.end() && *from <= run.last);
    });
    if (unfolded > 0) {
        return folds;
    }
    for (const LayerRun& run : identicalRuns(network)) {
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
