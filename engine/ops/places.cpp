// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ops/places.h"

#include <ATen/ops/cat.h>

#include <vector>

namespace residua::engine {

at::Tensor atPlaces(const at::Tensor& tensor, std::int64_t dimension, std::span<const std::size_t> places)
{
    if (static_cast<std::int64_t>(places.size()) == tensor.size(dimension)) {
        return tensor;
    }
    // Runs of neighbours, as views.
    std::vector<at::Tensor> runs;
    for (std::size_t begin = 0; begin < places.size();) {
        std::size_t end = begin + 1;
        while (end < places.size() && places[end] == places[end - 1] + 1) {
            ++end;
        }
        runs.push_back(
            tensor.narrow(dimension, static_cast<std::int64_t>(places[begin]), static_cast<std::int64_t>(end - begin)));
        begin = end;
    }
    return runs.size() == 1 ? runs.front() : at::cat(runs, dimension);
}

at::Tensor atUnits(const at::Tensor& tensor, std::int64_t dimension, std::int64_t count,
                   std::span<const std::size_t> units)
{
    if (static_cast<std::int64_t>(units.size()) == count) {
        return tensor;
    }
    const std::int64_t length = tensor.size(dimension) / count;
    return atPlaces(tensor.unflatten(dimension, {count, length}), dimension, units).flatten(dimension, dimension + 1);
}

} // namespace residua::engine
