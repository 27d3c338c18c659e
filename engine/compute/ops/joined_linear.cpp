// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/joined_linear.h"

#include "engine/compute/runtime/host_path.h"
#include "kernels/transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <typeinfo>

namespace residua::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;
using OptionalTensor = std::optional<at::Tensor>;

/// Returns [..., features] as a contiguous [N, features].
at::Tensor asRows(const at::Tensor& x)
{
    return reshaped(x.contiguous(), {-1, x.size(-1)});
}

/// Returns the left or the right half of the columns of y [N, 2h].
at::Tensor half(const at::Tensor& y, std::int64_t index)
{
    const std::int64_t width = y.size(1) / 2;
    return y.narrow(1, index * width, width);
}

Products productsOf(AutogradContext* context)
{
    return static_cast<Products>(context->saved_data["products"].toInt());
}

class GatedLinearFunction : public Function<GatedLinearFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& gate,
                            const at::Tensor& /*up*/, const at::Tensor& joined, Products products, const PartRuns& kept)
    {
        const at::Tensor x = asRows(input);
        const at::Tensor weight = kept.repeated(2, joined.size(0) / 2).take(joined, 0).to(x.scalar_type());
        const at::Tensor y = timesTransposed(x, weight, products);
        std::vector<std::int64_t> shape = input.sizes().vec();
        shape.back() = weight.size(0) / 2;
        context->saved_data["rows"] = gate.size(0);
        context->saved_data["padded"] = joined.size(0) / 2;
        context->saved_data["products"] = static_cast<std::int64_t>(products);
        context->saved_data["kept"] = kept.list();
        context->saved_data["shape"] = input.sizes();
        context->saved_data["type"] = gate.scalar_type();
        context->save_for_backward({x, y, weight});
        const at::Tensor largest = products == Products::EightBit ? largestOfRows(y) : at::Tensor();
        const at::Tensor out = gated(half(y, 0), half(y, 1), largest);
        if (largest.defined()) {
            noteLargest(out, largest);
        }
        return reshaped(out, shape);
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& y = saved[1];
        const at::Tensor yGrad = at::empty_like(y);
        const at::Tensor largest = productsOf(context) == Products::EightBit ? largestOfRows(y) : at::Tensor();
        gatedBackward(half(y, 0), half(y, 1), asRows(grads[0]), half(yGrad, 0), half(yGrad, 1), largest);
        if (largest.defined()) {
            noteLargest(yGrad, largest);
        }
        const std::int64_t width = context->saved_data["rows"].toInt();
        const std::int64_t padded = context->saved_data["padded"].toInt();
        const PartRuns kept = PartRuns(context->saved_data["kept"].toIntVector()).repeated(2, padded);
        variable_list result(6);
        if (context->needs_input_grad(0)) {
            result[0] = times(yGrad, saved[2], productsOf(context)).view(context->saved_data["shape"].toIntVector());
        }
        if (context->needs_input_grad(1) || context->needs_input_grad(2)) { // not if the tower is frozen
            const at::Tensor taken = weightGradient(yGrad, saved[0], context->saved_data["type"].toScalarType());
            const at::Tensor weightGrad = kept.putBack(taken, 0, 2 * padded);
            result[1] = weightGrad.narrow(0, 0, width);
            result[2] = weightGrad.narrow(0, padded, width);
        }
        return result;
    }
};

/// The geometry of q, k and v, concatenated in y [N, 3·heads·headDim].
struct HeadLayout {
    std::int64_t batch;
    std::int64_t time;
    std::int64_t heads;
    std::int64_t headDim;

    [[nodiscard]] std::int64_t width() const { return heads * headDim; }
    /// Returns part 0, 1 or 2 of y as [batch, heads, time, headDim].
    [[nodiscard]] at::Tensor part(const at::Tensor& y, std::int64_t index) const
    {
        return y.view({batch, time, 3 * heads, headDim}).narrow(2, index * heads, heads).transpose(1, 2);
    }
};

class ProjectedAttentionFunction : public Function<ProjectedAttentionFunction> {
public:
    /// Inputs for k and v are given unless they are the one for q; angles are given if there is a rotation.
    static Variable forward(AutogradContext* context, const at::Tensor& forQ, const OptionalTensor& forK,
                            const OptionalTensor& forV, const at::Tensor& q, const at::Tensor& /*k*/,
                            const at::Tensor& /*v*/, const at::Tensor& joined, const OptionalTensor& cosine,
                            const OptionalTensor& sine, std::int64_t heads, bool causal, Products products,
                            const PartRuns& kept)
    {
        const at::Tensor weight = kept.repeated(3, q.size(0)).take(joined, 0).to(forQ.scalar_type());
        const HeadLayout layout{forQ.size(0), forQ.size(1), heads, weight.size(0) / 3 / heads};
        const std::int64_t width = layout.width();
        variable_list saved = {asRows(forQ), forK ? asRows(*forK) : at::Tensor(), forV ? asRows(*forV) : at::Tensor()};
        at::Tensor y;
        // In double precision, a network with one input for q, k and v must give the bits of one with three equal
        // inputs, which one wide product does not guarantee.
        if (forK || forQ.scalar_type() == at::kDouble) {
            y = at::empty({layout.batch * layout.time, 3 * width}, forQ.options());
            for (std::size_t part = 0; part < 3; ++part) {
                const std::int64_t row = static_cast<std::int64_t>(part) * width;
                at::Tensor out = y.narrow(1, row, width);
                const at::Tensor& x = saved[part].defined() ? saved[part] : saved[0];
                const at::Tensor by = weight.narrow(0, row, width);
                const bool copies = products != Products::Own || multipliesAsFloat(x);
                copies ? out.copy_(timesTransposed(x, by, products)) : at::mm_out(out, x, by.t());
            }
        } else {
            y = timesTransposed(saved[0], weight, products);
        }
        if (cosine) {
            for (const std::int64_t part : {0, 1}) {
                const at::Tensor byTime = layout.part(y, part).transpose(1, 2);
                rotate(byTime, byTime, {*cosine, *sine}, kernels::Rotation::forward);
            }
        }
        const auto [out, logSumExp] = at::_scaled_dot_product_flash_attention_for_cpu(
            layout.part(y, 0), layout.part(y, 1), layout.part(y, 2), 0.0, causal);
        saved.insert(saved.end(),
                     {y, weight, out, logSumExp, cosine.value_or(at::Tensor()), sine.value_or(at::Tensor())});
        context->saved_data["heads"] = heads;
        context->saved_data["rows"] = q.size(0);
        context->saved_data["kept"] = kept.list();
        context->saved_data["causal"] = causal;
        context->saved_data["products"] = static_cast<std::int64_t>(products);
        context->saved_data["shape"] = forQ.sizes();
        context->saved_data["type"] = q.scalar_type();
        context->save_for_backward(saved);
        return out.transpose(1, 2).reshape({layout.batch, layout.time, width});
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& weight = saved[4];
        const std::vector<std::int64_t> shape = context->saved_data["shape"].toIntVector();
        const std::int64_t heads = context->saved_data["heads"].toInt();
        const HeadLayout layout{shape[0], shape[1], heads, weight.size(0) / 3 / heads};
        const at::Tensor yGrad = projectionGrad(context, saved, layout, grads[0]);
        const at::ScalarType type = context->saved_data["type"].toScalarType();
        const std::int64_t width = layout.width();
        const std::int64_t whole = context->saved_data["rows"].toInt();
        const PartRuns kept(context->saved_data["kept"].toIntVector());
        variable_list result(13);
        const bool shared = !saved[1].defined();
        // Absent inputs are not counted.
        const auto trains = [&](std::size_t part) { return context->needs_input_grad((shared ? 1 : 3) + part); };
        for (std::size_t part = 0; part < 3; ++part) {
            const auto at = static_cast<std::int64_t>(part) * width;
            if (!shared) {
                const at::Tensor grad = yGrad.narrow(1, at, width);
                result[part] = times(grad, weight.narrow(0, at, width), productsOf(context)).view(shape);
                if (trains(part)) {
                    result[3 + part] = kept.putBack(weightGradient(grad, saved[part], type), 0, whole);
                }
            }
        }
        if (shared) {
            result[0] = times(yGrad, weight, productsOf(context)).view(shape);
        }
        if (shared && (trains(0) || trains(1) || trains(2))) {
            const at::Tensor taken = weightGradient(yGrad, saved[0], type);
            const at::Tensor weightGrad = kept.repeated(3, whole).putBack(taken, 0, 3 * whole);
            for (std::size_t part = 0; part < 3; ++part) {
                result[3 + part] = weightGrad.narrow(0, static_cast<std::int64_t>(part) * whole, whole);
            }
        }
        return result;
    }

private:
    /// Returns the concatenated gradient of q, k and v, before their rotation.
    static at::Tensor projectionGrad(AutogradContext* context, const variable_list& saved, const HeadLayout& layout,
                                     const at::Tensor& grad)
    {
        const at::Tensor& y = saved[3];
        const at::Tensor outGrad =
            grad.contiguous().view({layout.batch, layout.time, layout.heads, layout.headDim}).transpose(1, 2);
        const auto [q, k, v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
            outGrad, layout.part(y, 0), layout.part(y, 1), layout.part(y, 2), saved[5], saved[6], 0.0,
            context->saved_data["causal"].toBool());
        at::Tensor yGrad = at::empty_like(y);
        std::int64_t part = 0;
        for (const at::Tensor& from : {q, k, v}) {
            const at::Tensor to = layout.part(yGrad, part);
            if (part < 2 && saved[7].defined()) {
                rotate(from.transpose(1, 2), to.transpose(1, 2), {saved[7], saved[8]}, kernels::Rotation::backward);
            } else {
                to.copy_(from);
            }
            ++part;
        }
        return yGrad;
    }
};

/// Returns x [batch, time, n] as heads [batch, time, n / headDim, headDim].
at::Tensor splitHeads(const at::Tensor& x, std::int64_t headDim)
{
    return x.view({x.size(0), x.size(1), -1, headDim});
}

/// Rotates q and k in place, as one tensor with the heads of both.
class ProjectedHeadsFunction : public Function<ProjectedHeadsFunction> {
public:
    static variable_list forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& q,
                                 const at::Tensor& k, const at::Tensor& v, const OptionalTensor& qBias,
                                 const OptionalTensor& /*kBias*/, const OptionalTensor& /*vBias*/,
                                 const at::Tensor& joined, const OptionalTensor& joinedBias,
                                 const OptionalTensor& cosine, const OptionalTensor& sine, std::int64_t headDim,
                                 Products products)
    {
        const at::Tensor x = asRows(input);
        const at::Tensor weight = joined.to(x.scalar_type());
        const bool addsBias = joinedBias && products == Products::Own;
        at::Tensor rows =
            addsBias ? at::addmm(joinedBias->to(x.scalar_type()), x, weight.t()) : timesTransposed(x, weight, products);
        if (joinedBias && !addsBias) {
            rows.add_(joinedBias->to(x.scalar_type()));
        }
        // The results must not be views of a tensor that autograd knows.
        const at::AutoDispatchBelowADInplaceOrView noViews;
        const at::Tensor y = rows.view({input.size(0), input.size(1), -1});
        if (cosine) {
            const at::Tensor turning = splitHeads(y.narrow(2, 0, q.size(0) + k.size(0)), headDim);
            rotate(turning, turning, {*cosine, *sine}, kernels::Rotation::forward);
        }
        context->saved_data["rows"] = std::vector<std::int64_t>{q.size(0), k.size(0), v.size(0)};
        context->saved_data["headDim"] = headDim;
        context->saved_data["products"] = static_cast<std::int64_t>(products);
        context->saved_data["type"] = q.scalar_type();
        context->saved_data["biased"] = qBias.has_value();
        context->save_for_backward({x, weight, cosine.value_or(at::Tensor()), sine.value_or(at::Tensor())});
        return {y.narrow(2, 0, q.size(0)), y.narrow(2, q.size(0), k.size(0)),
                y.narrow(2, q.size(0) + k.size(0), v.size(0))};
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const variable_list saved = context->get_saved_variables();
        const std::vector<std::int64_t> rows = context->saved_data["rows"].toIntVector();
        const at::Tensor yGrad = gradientOf(context, saved, grads, rows);
        const at::Tensor flat = yGrad.view({-1, yGrad.size(2)});
        const at::ScalarType type = context->saved_data["type"].toScalarType();
        variable_list result(13);
        if (context->needs_input_grad(0)) {
            result[0] =
                times(flat, saved[1], productsOf(context)).view({yGrad.size(0), yGrad.size(1), saved[1].size(1)});
        }
        if (!context->needs_input_grad(1) && !context->needs_input_grad(2) && !context->needs_input_grad(3)) {
            return result; // the tower is frozen
        }
        const at::Tensor weightGrad = weightGradient(flat, saved[0], type);
        const bool biased = context->saved_data["biased"].toBool();
        const at::Tensor biasGrad = biased ? at::sum(flat, 0, false, type) : at::Tensor();
        std::int64_t first = 0;
        for (std::size_t part = 0; part < 3; ++part) {
            result[1 + part] = weightGrad.narrow(0, first, rows[part]);
            if (biased) {
                result[4 + part] = biasGrad.narrow(0, first, rows[part]);
            }
            first += rows[part];
        }
        return result;
    }

private:
    /// Returns the concatenated gradients of the three results, rotated back.
    static at::Tensor gradientOf(AutogradContext* context, const variable_list& saved, const variable_list& grads,
                                 const std::vector<std::int64_t>& rows)
    {
        const std::int64_t headDim = context->saved_data["headDim"].toInt();
        const at::Tensor yGrad =
            at::empty({grads[0].size(0), grads[0].size(1), rows[0] + rows[1] + rows[2]}, saved[0].options());
        std::int64_t first = 0;
        for (std::size_t part = 0; part < 3; ++part) {
            const at::Tensor to = yGrad.narrow(2, first, rows[part]);
            if (part < 2 && saved[2].defined()) {
                const at::Tensor from = grads[part].stride(2) == 1 ? grads[part] : grads[part].contiguous();
                rotate(splitHeads(from, headDim), splitHeads(to, headDim), {saved[2], saved[3]},
                       kernels::Rotation::backward);
            } else {
                to.copy_(grads[part]);
            }
            first += rows[part];
        }
        return yGrad;
    }
};

} // namespace

std::array<at::Tensor, 3> projectedHeads(const ProjectedHeads& heads)
{
    const auto given = [](const at::Tensor& tensor) {
        return tensor.defined() ? OptionalTensor(tensor) : OptionalTensor();
    };
    const RotaryTable::Angles angles = heads.angles == nullptr ? RotaryTable::Angles{} : *heads.angles;
    variable_list made = ProjectedHeadsFunction::apply(
        heads.input, heads.weights[0], heads.weights[1], heads.weights[2], given(heads.biases[0]),
        given(heads.biases[1]), given(heads.biases[2]), heads.joined, given(heads.joinedBias), given(angles.cosine),
        given(angles.sine), heads.headDim, heads.products);
    return {made[0], made[1], made[2]};
}

at::Tensor gatedLinear(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& up, const at::Tensor& joined,
                       Products products, const PartRuns& kept)
{
    return GatedLinearFunction::apply(x, gate, up, joined, products, kept);
}

at::Tensor projectedAttention(const ProjectedAttention& attention)
{
    const auto& [q, k, v] = attention.inputs;
    const auto unless = [](bool absent, const at::Tensor& tensor) {
        return absent ? OptionalTensor() : OptionalTensor(tensor);
    };
    const bool same = q.is_same(k) && q.is_same(v);
    const bool still = attention.angles == nullptr;
    const RotaryTable::Angles angles = still ? RotaryTable::Angles{} : *attention.angles;
    return ProjectedAttentionFunction::apply(q, unless(same, k), unless(same, v), attention.weights[0],
                                             attention.weights[1], attention.weights[2], attention.joined,
                                             unless(still, angles.cosine), unless(still, angles.sine), attention.heads,
                                             attention.causal, attention.products, attention.kept);
}

at::Tensor joinRows(std::vector<at::Tensor>& matrices, std::int64_t multiple)
{
    const at::NoGradGuard noGrad;
    const auto padded = [multiple](std::int64_t rows) { return (rows + multiple - 1) / multiple * multiple; };
    std::vector<std::int64_t> shape = matrices.front().sizes().vec();
    shape[0] = 0;
    for (const at::Tensor& matrix : matrices) {
        shape[0] += padded(matrix.size(0));
    }
    at::Tensor joined = at::zeros(shape, matrices.front().options().requires_grad(false));
    std::int64_t row = 0;
    for (at::Tensor& matrix : matrices) {
        const std::int64_t rows = matrix.size(0);
        joined.narrow(0, row, rows).copy_(matrix);
        matrix.set_data(joined.narrow(0, row, rows));
        row += padded(rows);
    }
    return joined;
}

bool readsCopies(const torch::autograd::Node& node)
{
    using torch::autograd::CppNode;
    const std::type_info& type = typeid(node);
    return readsRounded(node) || type == typeid(CppNode<GatedLinearFunction>) ||
           type == typeid(CppNode<ProjectedAttentionFunction>) || type == typeid(CppNode<ProjectedHeadsFunction>);
}

} // namespace residua::engine
