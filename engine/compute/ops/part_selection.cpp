// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/part_selection.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

namespace residua::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

/// Returns the runs of consecutive places, each as a beginning and a length.
std::vector<std::int64_t> runsOf(std::span<const std::size_t> places)
{
    std::vector<std::int64_t> runs;
    for (std::size_t begin = 0; begin < places.size();) {
        std::size_t end = begin + 1;
        while (end < places.size() && places[end] == places[end - 1] + 1) {
            ++end;
        }
        runs.insert(runs.end(), {static_cast<std::int64_t>(places[begin]), static_cast<std::int64_t>(end - begin)});
        begin = end;
    }
    return runs;
}

at::Tensor joinedRuns(const at::Tensor& tensor, std::int64_t dimension, const std::vector<std::int64_t>& runs)
{
    std::vector<at::Tensor> views;
    for (std::size_t i = 0; i < runs.size(); i += 2) {
        views.push_back(tensor.narrow(dimension, runs[i], runs[i + 1]));
    }
    return views.size() == 1 ? views.front() : at::cat(views, dimension);
}

/// Replaces autograd's backward of such a concatenation, which fills the whole tensor once per run.
class TakeParts : public torch::autograd::Function<TakeParts> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& tensor, std::int64_t dimension,
                            const PartRuns& runs)
    {
        context->saved_data["dimension"] = dimension;
        context->saved_data["size"] = tensor.size(dimension);
        context->saved_data["runs"] = runs.list();
        return runs.take(tensor, dimension);
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const PartRuns runs(context->saved_data["runs"].toIntVector());
        return {runs.putBack(grads[0], context->saved_data["dimension"].toInt(), context->saved_data["size"].toInt()),
                Variable(), Variable()};
    }
};

} // namespace

at::Tensor atPlaces(const at::Tensor& tensor, std::int64_t dimension, std::span<const std::size_t> places)
{
    const bool all = static_cast<std::int64_t>(places.size()) == tensor.size(dimension);
    return all ? tensor : joinedRuns(tensor, dimension, runsOf(places));
}

PartRuns::PartRuns(std::int64_t size, std::int64_t count, std::span<const std::size_t> parts)
{
    if (static_cast<std::int64_t>(parts.size()) < count) {
        m_list = runsOf(parts);
        for (std::int64_t& number : m_list) {
            number *= size / count;
        }
    }
}

PartRuns PartRuns::repeated(std::int64_t times, std::int64_t size) const
{
    std::vector<std::int64_t> list;
    for (std::int64_t time = 0; time < times; ++time) {
        for (std::size_t i = 0; i < m_list.size(); i += 2) {
            list.insert(list.end(), {m_list[i] + time * size, m_list[i + 1]});
        }
    }
    return PartRuns(std::move(list));
}

at::Tensor PartRuns::take(const at::Tensor& tensor, std::int64_t dimension) const
{
    return all() ? tensor : joinedRuns(tensor, dimension, m_list).contiguous();
}

at::Tensor PartRuns::putBack(const at::Tensor& taken, std::int64_t dimension, std::int64_t size) const
{
    if (all()) {
        return taken;
    }
    std::vector<std::int64_t> shape = taken.sizes().vec();
    shape[static_cast<std::size_t>(dimension)] = size;
    at::Tensor whole = at::zeros(shape, taken.options());
    std::int64_t at = 0;
    for (std::size_t i = 0; i < m_list.size(); i += 2) {
        whole.narrow(dimension, m_list[i], m_list[i + 1]).copy_(taken.narrow(dimension, at, m_list[i + 1]));
        at += m_list[i + 1];
    }
    return whole;
}

at::Tensor atParts(const at::Tensor& tensor, std::int64_t dimension, std::int64_t count,
                   std::span<const std::size_t> parts)
{
    const PartRuns runs(tensor.size(dimension), count, parts);
    if (runs.all()) {
        return tensor;
    }
    // The backward of a view fills the tensor only once.
    return runs.list().size() == 2 ? joinedRuns(tensor, dimension, runs.list())
                                   : TakeParts::apply(tensor, dimension, runs);
}

} // namespace residua::engine
