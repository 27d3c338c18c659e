// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/tensor_io.h"

#include "engine/compute/runtime/rounded_weights.h"
#include "projects/base/text.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/all.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/isfinite.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <new>
#include <optional>
#include <ranges>
#include <set>

namespace residua::engine {
namespace {

struct TypePair {
    StoredType stored;
    at::ScalarType scalar;
};

constexpr TypePair kTypes[] = {
    {StoredType::F64, at::kDouble},    {StoredType::F32, at::kFloat}, {StoredType::F16, at::kHalf},
    {StoredType::Bf16, at::kBFloat16}, {StoredType::I64, at::kLong},  {StoredType::I32, at::kInt},
    {StoredType::U8, at::kByte},       {StoredType::Bool, at::kBool},
};

std::optional<StoredType> storedTypeOf(at::ScalarType type)
{
    const auto* const found = std::ranges::find(kTypes, type, &TypePair::scalar);
    return found == std::end(kTypes) ? std::nullopt : std::optional(found->stored);
}

Error isMissing(const std::string& name)
{
    return {"checkpoint", "tensor " + name + " is missing; it belongs to another network"};
}

Status checkForm(const std::string& name, const TensorPlace& place, const at::Tensor& tensor)
{
    if (at::IntArrayRef(place.shape) == tensor.sizes() && scalarTypeOf(place.type) == tensor.scalar_type()) {
        return Done{};
    }
    const std::optional<StoredType> expected = storedTypeOf(tensor.scalar_type());
    return Error{"checkpoint · " + name, "got " + typeText(place) + " " + shapeText(place.shape) + ", expected " +
                                             (expected ? nameOf(*expected) : "another type") + " " +
                                             shapeText(tensor.sizes())};
}

/// Returns an error if `stored` has tensors that are not parameters. Precondition: it has all parameters.
Status checkAllKnown(const TensorFiles& stored, const std::vector<NamedParameter>& parameters)
{
    std::set<std::string> known;
    for (const NamedParameter& parameter : parameters) {
        known.insert(parameter.name);
    }
    for (const auto& [name, tensor] : stored.tensors()) {
        if (!known.contains(name)) {
            return Error{"checkpoint", "tensor " + name + " is not part of this network"};
        }
    }
    return Done{};
}

} // namespace

void HostTensors::add(const std::string& name, const at::Tensor& tensor)
{
    const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
    const std::optional<StoredType> type = storedTypeOf(host.scalar_type());
    TORCH_CHECK(type, "tensor ", name, " has the type ", host.scalar_type(), ", which no checkpoint holds");
    StoredTensor& stored = m_stored[name];
    stored.type = *type;
    stored.shape = host.sizes().vec();
    stored.bytes = {static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()};
    m_memory.push_back(host);
}

at::ScalarType scalarTypeOf(StoredType type)
{
    const auto* const found = std::ranges::find(kTypes, type, &TypePair::stored);
    return found == std::end(kTypes) ? at::ScalarType::Undefined : found->scalar;
}

HostTensors hostTensors(const std::vector<NamedParameter>& parameters)
{
    HostTensors tensors;
    for (const NamedParameter& parameter : parameters) {
        tensors.add(parameter.name, parameter.tensor);
    }
    return tensors;
}

at::Tensor viewOf(const StoredTensor& stored)
{
    // from_blob needs a mutable pointer; the view is only read.
    void* const bytes = const_cast<std::byte*>(stored.bytes.data());
    return at::from_blob(bytes, stored.shape, at::TensorOptions().dtype(scalarTypeOf(stored.type)));
}

Status loadTensor(const TensorFiles& stored, const std::string& name, at::Tensor tensor)
{
    const auto found = stored.tensors().find(name);
    if (found == stored.tensors().end()) {
        return isMissing(name);
    }
    const TensorPlace& place = found->second.place;
    RESIDUA_TRY(checkForm(name, place, tensor));
    const at::NoGradGuard noGrad;
    if (tensor.is_cpu() && tensor.is_contiguous()) {
        return readInto(stored, found->second, tensor);
    }
    const at::Tensor read = RESIDUA_TRY(readTensor(stored, name));
    tensor.copy_(read);
    return Done{};
}

Status readInto(const TensorFiles& files, const TensorFiles::Tensor& stored, const at::Tensor& tensor)
{
    Status read = files.read(stored, {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()});
    noteWrite(tensor);
    return read;
}

Result<at::Tensor> readTensor(const TensorFiles& stored, const std::string& name)
{
    const auto found = stored.tensors().find(name);
    if (found == stored.tensors().end()) {
        return isMissing(name);
    }
    const TensorPlace& place = found->second.place;
    auto* const bytes = new (std::nothrow) std::byte[place.bytes];
    if (bytes == nullptr) {
        return Error{name, "there is no memory for its " + std::to_string(place.bytes) + " bytes"};
    }
    at::Tensor tensor = at::from_blob(
        bytes, place.shape, [bytes](void*) { delete[] bytes; }, at::TensorOptions().dtype(scalarTypeOf(place.type)));
    RESIDUA_TRY(stored.read(found->second, {bytes, place.bytes}));
    return tensor;
}

Status loadParameters(const TensorFiles& stored, std::vector<NamedParameter>& parameters)
{
    for (NamedParameter& parameter : parameters) {
        RESIDUA_TRY(loadTensor(stored, parameter.name, parameter.tensor));
    }
    return checkAllKnown(stored, parameters);
}

void noteNotFinite(const std::vector<NamedParameter>& parameters, std::vector<std::string>& notes)
{
    constexpr std::size_t kNamed = 6;
    std::vector<std::string> names;
    for (const NamedParameter& parameter : parameters) {
        if (!parameter.tensor.isfinite().all().item<bool>()) {
            names.push_back(parameter.name);
        }
    }
    if (!names.empty()) {
        notes.push_back(countText(names.size(), "weight") + " of " + std::to_string(parameters.size()) +
                        " with numbers that are not finite: " + joinedText(names | std::views::take(kNamed)) +
                        (names.size() > kNamed ? ", …" : ""));
    }
}

} // namespace residua::engine
