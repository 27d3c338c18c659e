// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/streams.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <ATen/record_function.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace residua::engine {
namespace {

using kernels::StreamNorm;
using kernels::StreamRead;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;
using Shape = std::vector<std::int64_t>;

/// The tensors of a site that it may lack.
using SiteTensor = at::Tensor StreamSite::*;
constexpr SiteTensor kSiteTensors[] = {&StreamSite::weights, &StreamSite::tokenWeights, &StreamSite::rows,
                                       &StreamSite::base,    &StreamSite::bias,         &StreamSite::factor,
                                       &StreamSite::gain};

const void* pointerTo(const at::Tensor& tensor)
{
    return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

void* pointerInto(const at::Tensor& tensor)
{
    return tensor.defined() ? tensor.mutable_data_ptr() : nullptr;
}

std::int64_t countOf(const std::vector<at::Tensor>& tensors)
{
    return static_cast<std::int64_t>(tensors.size());
}

/// Returns the number of logits of a norm, M.
std::int64_t logitsOf(const StreamSite& site)
{
    return site.rows.defined() ? site.rows.size(-2) : 0;
}

bool hasStreamKernels(const Compute& compute, const StreamSite& site)
{
    return (compute.device.is_cpu() || compute.cuda != nullptr) &&
           kernels::fitsStreams(countOf(site.streams), logitsOf(site), site.norm);
}

/// Returns the site in the kernels' form; its tensors are contiguous.
kernels::StreamSite kernelSite(const StreamSite& site)
{
    const at::Tensor& first = site.streams.front();
    kernels::StreamSite call;
    call.dataType = kernelType(first.scalar_type());
    call.width = first.size(-1);
    call.tokens = first.numel() / call.width;
    call.streams = static_cast<std::int32_t>(site.streams.size());
    call.branches = static_cast<std::int32_t>(site.branches.size());
    call.reads = static_cast<std::int32_t>(site.reads);
    call.logits = static_cast<std::int32_t>(logitsOf(site));
    for (std::size_t s = 0; s < site.streams.size(); ++s) {
        call.old[s] = pointerTo(site.streams[s]);
    }
    for (std::size_t b = 0; b < site.branches.size(); ++b) {
        call.branch[b] = pointerTo(site.branches[b]);
    }
    call.weights = pointerTo(site.weights);
    call.tokenWeights = pointerTo(site.tokenWeights);
    call.norm = site.norm;
    call.eps = site.eps;
    call.rows = pointerTo(site.rows);
    call.read = site.read;
    call.base = pointerTo(site.base);
    call.bias = pointerTo(site.bias);
    call.factor = pointerTo(site.factor);
    call.gain = pointerTo(site.gain);
    call.constant = site.constant;
    return call;
}

/// Returns what LibTorch's observers get of a site: φ, a stream and the number of streams, whose sizes give its
/// products.
std::vector<c10::IValue> observedOf(const StreamSite& site)
{
    return {site.rows, site.streams.front(), countOf(site.streams)};
}

/// Returns an uninitialised array of numbers of each token, [..., N], in the type of `like`.
at::Tensor numbersOf(const kernels::StreamSite& site, const at::Tensor& like, Shape shape)
{
    shape.push_back(site.tokens);
    return at::empty(shape, like.options());
}

/// Returns an empty tensor in the type of the site's numbers.
at::Tensor numbersLike(const StreamSite& site)
{
    const at::Tensor& first = site.streams.front();
    return at::empty({0}, first.options().dtype(first.scalar_type() == at::kDouble ? at::kDouble : at::kFloat));
}

/// Sets `pointers` to so many new tensors like `like`.
std::vector<at::Tensor> makeLike(const at::Tensor& like, std::int64_t count, void* (&pointers)[kernels::kMaxStreams])
{
    std::vector<at::Tensor> made;
    for (std::int64_t i = 0; i < count; ++i) {
        made.push_back(at::empty_like(like));
        pointers[i] = pointerInto(made.back());
    }
    return made;
}

/// Returns the logits of the read of n streams [R, n, N].
at::Tensor readLogits(const StreamSite& site, std::int64_t n, const at::Tensor& y)
{
    return site.norm == StreamNorm::all ? y.narrow(0, 0, n).unsqueeze(0) : y.narrow(1, 0, site.reads).transpose(0, 1);
}

/// Returns act(gain·y + bias) of the logits [R, n, N].
at::Tensor activated(const StreamSite& site, at::Tensor logits)
{
    if (site.gain.defined()) {
        logits = logits * site.gain;
    }
    if (site.bias.defined()) {
        logits = logits + site.bias.unsqueeze(2);
    }
    return site.read == StreamRead::tanh ? at::tanh(logits) : at::sigmoid(logits);
}

/// A site without its tensors, for its backward. The inputs of its function are those that it has of kSiteTensors, then
/// the streams, then the branches.
struct SiteForm : torch::CustomClassHolder {
    SiteForm(const Compute& with, const StreamSite& whole) : compute(with), site(whole), streams(whole.streams.size())
    {
        for (const SiteTensor tensor : kSiteTensors) {
            if ((site.*tensor).defined()) {
                given.push_back(tensor);
                (site.*tensor).reset();
            }
        }
        inputs = given.size() + streams + site.branches.size();
        site.streams.clear();
        site.branches.clear();
    }

    /// Returns the inputs of a site of this form.
    [[nodiscard]] variable_list inputsOf(const StreamSite& whole) const
    {
        variable_list tensors;
        for (const SiteTensor tensor : given) {
            tensors.push_back(whole.*tensor);
        }
        tensors.insert(tensors.end(), whole.streams.begin(), whole.streams.end());
        tensors.insert(tensors.end(), whole.branches.begin(), whole.branches.end());
        return tensors;
    }
    /// Returns the site of the first tensors of `from`, contiguous.
    [[nodiscard]] StreamSite with(at::TensorList from) const
    {
        StreamSite whole = site;
        for (std::size_t i = 0; i < inputs; ++i) {
            const at::Tensor tensor = from[i].contiguous();
            if (i < given.size()) {
                whole.*given[i] = tensor;
            } else {
                (i < given.size() + streams ? whole.streams : whole.branches).push_back(tensor);
            }
        }
        return whole;
    }
    /// Returns the place of an input's gradient; null if the site lacks it, or if it needs none.
    [[nodiscard]] at::Tensor* gradientOf(SiteTensor tensor, const AutogradContext& context, variable_list& all) const
    {
        const auto place = static_cast<std::size_t>(std::ranges::find(given, tensor) - given.begin());
        return place < given.size() && context.needs_input_grad(place) ? &all[place] : nullptr;
    }

    Compute compute;
    StreamSite site;
    std::vector<SiteTensor> given;
    std::size_t streams = 0;
    std::size_t inputs = 0; ///< their number
};

class StreamsFunction : public Function<StreamsFunction> {
public:
    /// Returns the new streams if there is a write, the logits if there are any, and the reads.
    static variable_list forward(AutogradContext* context, at::TensorList inputs,
                                 const c10::intrusive_ptr<SiteForm>& form)
    {
        const StreamSite site = form->with(inputs);
        RECORD_FUNCTION("residua::streams", observedOf(site));
        const Compute& compute = form->compute;
        kernels::StreamsForward call;
        call.site = kernelSite(site);
        const at::Tensor& first = site.streams.front();
        variable_list results;
        if (site.branches.empty()) {
            for (std::size_t s = 0; s < site.streams.size(); ++s) {
                call.stream[s] = pointerInto(site.streams[s]); // is only read
            }
        } else {
            results = makeLike(first, countOf(site.streams), call.stream);
        }
        variable_list saved = form->inputsOf(site);
        saved.insert(saved.end(), results.begin(), results.end());
        at::Tensor y;
        at::Tensor rstd;
        at::Tensor mean;
        if (const std::int64_t logits = logitsOf(site); logits > 0) {
            const std::int64_t norms = kernels::streamNorms(call.site);
            y = numbersOf(call.site, site.rows, site.norm == StreamNorm::all ? Shape{logits} : Shape{norms, logits});
            rstd = numbersOf(call.site, site.rows, {norms});
            mean = site.norm == StreamNorm::centred ? at::empty_like(rstd) : at::Tensor();
            results.push_back(y);
        }
        call.y = pointerInto(y);
        call.rstd = pointerInto(rstd);
        call.mean = pointerInto(mean);
        saved.insert(saved.end(), {y, rstd, mean});
        const std::vector<at::Tensor> reads = makeLike(first, site.reads, call.out);
        results.insert(results.end(), reads.begin(), reads.end());
        const c10::DeviceGuard current(compute.device); // kernels run on the current device
        checkKernel(compute.device.is_cpu() ? kernels::streamsForward(call, torchThreads())
                                            : compute.cuda->streamsForward(call, currentStream(compute.device)),
                    "streamsForward", compute.cuda);
        context->save_for_backward(std::move(saved));
        context->saved_data["form"] = c10::IValue::make_capsule(form);
        context->set_materialize_grads(false);
        return results;
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        TORCH_CHECK(!at::GradMode::is_enabled(), "parallel streams have no second derivative");
        const variable_list saved = context->get_saved_variables();
        const auto form = c10::static_intrusive_pointer_cast<SiteForm>(context->saved_data["form"].toCapsule());
        const StreamSite site = form->with(saved);
        RECORD_FUNCTION("residua::streams_backward", observedOf(site));
        kernels::StreamsBackward call;
        call.site = kernelSite(site);
        const variable_list kept = setResults(call, site, at::TensorList(saved).slice(form->inputs), grads);
        variable_list result(form->inputs + 1);
        for (std::size_t s = 0; s < site.streams.size(); ++s) {
            at::Tensor& grad = result[form->given.size() + s];
            grad = at::empty_like(site.streams[s]);
            call.oldGrad[s] = pointerInto(grad);
        }
        const std::size_t firstBranch = form->given.size() + site.streams.size();
        for (std::size_t b = 0; b < site.branches.size(); ++b) {
            result[firstBranch + b] = at::empty_like(site.branches[b]);
            call.branchGrad[b] = pointerInto(result[firstBranch + b]);
        }
        if (at::Tensor* const grad = form->gradientOf(&StreamSite::rows, *context, result)) {
            *grad = at::empty_like(site.rows);
            call.rowsGrad = pointerInto(*grad);
        }
        const at::Tensor like = numbersLike(site);
        const std::int64_t n = countOf(site.streams);
        const at::Tensor weightGrad =
            site.branches.empty() ? at::Tensor() : numbersOf(call.site, like, {n, n + countOf(site.branches)});
        const at::Tensor readGrad = site.reads > 0 ? numbersOf(call.site, like, {site.reads, n}) : at::Tensor();
        call.weightGrad = pointerInto(weightGrad);
        call.readGrad = pointerInto(readGrad);
        run(form->compute, call, like);
        if (at::Tensor* const grad = form->gradientOf(&StreamSite::weights, *context, result)) {
            *grad = weightGrad.sum(2);
        }
        if (at::Tensor* const grad = form->gradientOf(&StreamSite::tokenWeights, *context, result)) {
            *grad = weightGrad;
        }
        if (readGrad.defined()) {
            const at::Tensor& y = saved[form->inputs + (site.branches.empty() ? 0 : site.streams.size())];
            setReadGradients(site, y, readGrad,
                             [&](SiteTensor tensor) { return form->gradientOf(tensor, *context, result); });
        }
        return result;
    }

private:
    /// Sets what forward left, `left`: the new streams if there is a write, logits, rstd and mean. Then sets the
    /// gradients of the results. Returns the tensors that the call points to.
    static variable_list setResults(kernels::StreamsBackward& call, const StreamSite& site, at::TensorList left,
                                    const variable_list& grads)
    {
        const bool writes = !site.branches.empty();
        const std::size_t n = site.streams.size();
        const auto* const numbers = left.begin() + (writes ? n : 0);
        call.y = pointerTo(numbers[0]);
        call.rstd = pointerTo(numbers[1]);
        call.mean = pointerTo(numbers[2]);
        variable_list kept;
        std::size_t at = 0;
        const auto gradient = [&](const at::Tensor& like) -> const void* {
            const at::Tensor& grad = grads[at++];
            if (!grad.defined()) {
                return nullptr;
            }
            kept.push_back(grad.to(like.scalar_type()).contiguous());
            return pointerTo(kept.back());
        };
        for (std::size_t s = 0; s < n; ++s) {
            call.stream[s] = pointerTo(writes ? left[s] : site.streams[s]);
            call.streamGrad[s] = writes ? gradient(site.streams[s]) : nullptr;
        }
        if (numbers[0].defined()) {
            call.yGrad = gradient(numbers[0]);
            kept.push_back(at::empty_like(numbers[0]));
            call.productGrad = pointerInto(kept.back());
        }
        for (std::int64_t r = 0; r < site.reads; ++r) {
            call.outGrad[r] = gradient(site.streams.front());
            if (call.outGrad[r] == nullptr) {
                kept.push_back(at::zeros_like(site.streams.front()));
                call.outGrad[r] = pointerTo(kept.back());
            }
        }
        return kept;
    }

    static void run(const Compute& compute, kernels::StreamsBackward& call, const at::Tensor& like)
    {
        const c10::DeviceGuard current(compute.device); // kernels run on the current device
        const bool cpu = compute.device.is_cpu();
        call.workspaceBytes =
            cpu ? kernels::streamsBackwardWorkspace(call) : compute.cuda->streamsBackwardWorkspace(call);
        const at::Tensor workspace =
            at::empty({static_cast<std::int64_t>(call.workspaceBytes)}, like.options().dtype(at::kByte));
        call.workspace = pointerInto(workspace);
        checkKernel(cpu ? kernels::streamsBackward(call, torchThreads())
                        : compute.cuda->streamsBackward(call, currentStream(compute.device)),
                    "streamsBackward", compute.cuda);
    }

    /// Sets the gradients of the numbers that all tokens' reads share, at their places. `readGrad` is that of the
    /// weights.
    static void setReadGradients(const StreamSite& site, const at::Tensor& y, const at::Tensor& readGrad,
                                 const std::function<at::Tensor*(SiteTensor)>& placeOf)
    {
        if (at::Tensor* const base = placeOf(&StreamSite::base)) {
            *base = readGrad.sum(2);
        }
        if (site.read == StreamRead::fixed) {
            return;
        }
        const at::Tensor logits = readLogits(site, countOf(site.streams), y);
        const at::Tensor active = activated(site, logits);
        if (at::Tensor* const factor = placeOf(&StreamSite::factor)) {
            *factor = (readGrad * active).sum();
        }
        at::Tensor grad = readGrad * (site.read == StreamRead::tanh ? 1 - active * active : active * (1 - active));
        if (site.factor.defined()) {
            grad = grad * site.factor;
        }
        if (at::Tensor* const bias = placeOf(&StreamSite::bias)) {
            *bias = grad.sum(2);
        }
        if (at::Tensor* const gain = placeOf(&StreamSite::gain)) {
            *gain = (grad * logits).sum();
        }
    }
};

/// The site by ATen's operators, which record its gradient.
StreamResults composed(const Compute& compute, const StreamSite& site)
{
    const auto rows = [&](const at::Tensor& x) { return x.reshape({-1, x.size(-1)}).to(compute.parameterType); };
    /// Returns Σ weights[i]·sources[i] over weights [count, N] or [count, 1].
    const auto mixed = [&](const at::Tensor& weights, const std::vector<at::Tensor>& sources) {
        at::Tensor sum;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            const at::Tensor part = rows(sources[i]) * weights[static_cast<std::int64_t>(i)].unsqueeze(1);
            sum = sum.defined() ? sum + part : part;
        }
        return sum.to(sources.front().scalar_type()).view(sources.front().sizes());
    };
    StreamResults results;
    results.streams = site.streams;
    if (!site.branches.empty()) {
        std::vector<at::Tensor> sources = site.streams;
        sources.insert(sources.end(), site.branches.begin(), site.branches.end());
        at::Tensor weights = site.weights.defined() ? site.weights.unsqueeze(2) : site.tokenWeights;
        if (site.weights.defined() && site.tokenWeights.defined()) {
            weights = weights + site.tokenWeights;
        }
        for (std::size_t t = 0; t < site.streams.size(); ++t) {
            results.streams[t] = mixed(weights[static_cast<std::int64_t>(t)], sources);
        }
    }
    if (site.rows.defined()) {
        const bool all = site.norm == StreamNorm::all;
        std::vector<at::Tensor> products;
        std::vector<at::Tensor> variances;
        for (std::size_t s = 0; s < site.streams.size(); ++s) {
            const at::Tensor x = rows(results.streams[s]);
            products.push_back(at::mm(all ? site.rows[static_cast<std::int64_t>(s)] : site.rows, x.t()));
            const at::Tensor square = (x * x).mean(1);
            const at::Tensor mean = x.mean(1);
            variances.push_back(site.norm == StreamNorm::centred ? (square - mean * mean).clamp_min(0) : square);
        }
        const at::Tensor variance = at::stack(variances); // [n, N]
        results.y = all ? at::stack(products).sum(0) * at::rsqrt(variance.mean(0) + site.eps)
                        : at::stack(products) * at::rsqrt(variance + site.eps).unsqueeze(1);
    }
    const at::Tensor weights = site.reads > 0 ? readWeights(site, countOf(site.streams), results.y) : at::Tensor();
    for (std::int64_t r = 0; r < site.reads; ++r) {
        results.reads.push_back(mixed(weights[r], results.streams));
    }
    return results;
}

} // namespace

at::Tensor readWeights(const StreamSite& site, std::int64_t n, const at::Tensor& y)
{
    at::Tensor weights = site.base.defined() ? site.base.unsqueeze(2) : at::Tensor();
    if (site.read != StreamRead::fixed) {
        at::Tensor active = activated(site, readLogits(site, n, y));
        active = site.factor.defined() ? active * site.factor : active;
        weights = weights.defined() ? weights + active : active;
    }
    return site.constant == 0 ? weights : weights + site.constant;
}

StreamResults streamSite(const Compute& compute, const StreamSite& site)
{
    if (!hasStreamKernels(compute, site)) {
        return composed(compute, site);
    }
    const auto form = c10::make_intrusive<SiteForm>(compute, site);
    const variable_list inputs = form->inputsOf(site);
    variable_list made = StreamsFunction::apply(at::TensorList(inputs), form);
    StreamResults results;
    auto next = made.begin();
    if (site.branches.empty()) {
        results.streams = site.streams;
    } else {
        results.streams.assign(next, next + countOf(site.streams));
        next += countOf(site.streams);
    }
    if (site.rows.defined()) {
        results.y = *next++;
    }
    results.reads.assign(next, made.end());
    return results;
}

} // namespace residua::engine
