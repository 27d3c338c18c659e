// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/tensor_io.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <cstddef>
#include <optional>
#include <set>

namespace residua::engine {
namespace {

struct TypePair {
    StoredType stored;
    at::ScalarType scalar;
    const char* name;
};

constexpr TypePair kTypes[] = {
    {StoredType::F64, at::kDouble, "F64"}, {StoredType::F32, at::kFloat, "F32"},
    {StoredType::F16, at::kHalf, "F16"},   {StoredType::Bf16, at::kBFloat16, "BF16"},
    {StoredType::I64, at::kLong, "I64"},   {StoredType::I32, at::kInt, "I32"},
    {StoredType::U8, at::kByte, "U8"},     {StoredType::Bool, at::kBool, "BOOL"},
};

const TypePair* typeOf(at::ScalarType scalar)
{
    for (const TypePair& pair : kTypes) {
        if (pair.scalar == scalar) {
            return &pair;
        }
    }
    return nullptr;
}

const TypePair& typeOf(StoredType stored)
{
    for (const TypePair& pair : kTypes) {
        if (pair.stored == stored) {
            return pair;
        }
    }
    return kTypes[0];
}

std::string shapeText(at::IntArrayRef shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + "]";
}

Error isMissing(const std::string& name)
{
    return {"checkpoint", "tensor " + name + " is missing; it belongs to another network"};
}

Status checkForm(const std::string& name, StoredType stored, const std::vector<std::int64_t>& shape,
                 const at::Tensor& tensor)
{
    const TypePair& type = typeOf(stored);
    if (at::IntArrayRef(shape) == tensor.sizes() && type.scalar == tensor.scalar_type()) {
        return Done{};
    }
    const TypePair* const expected = typeOf(tensor.scalar_type());
    return Error{"checkpoint · " + name, std::string("got ") + type.name + " " + shapeText(shape) + ", expected " +
                                             (expected != nullptr ? expected->name : "another type") + " " +
                                             shapeText(tensor.sizes())};
}

Status copyTensor(const std::map<std::string, StoredTensor>& stored, const std::string& name, at::Tensor tensor)
{
    const auto found = stored.find(name);
    if (found == stored.end()) {
        return isMissing(name);
    }
    if (Status fits = checkForm(name, found->second.type, found->second.shape, tensor); !fits) {
        return fits;
    }
    const at::NoGradGuard noGrad;
    tensor.copy_(viewOf(found->second));
    return Done{};
}

/// `stored` has all of the parameters.
template <class Stored>
Status checkAllKnown(const std::map<std::string, Stored>& stored, const std::vector<NamedParameter>& parameters)
{
    std::set<std::string> known;
    for (const NamedParameter& parameter : parameters) {
        known.insert(parameter.name);
    }
    for (const auto& [name, tensor] : stored) {
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
    const TypePair* const type = typeOf(host.scalar_type());
    TORCH_CHECK(type != nullptr, "tensor ", name, " has the type ", host.scalar_type(), ", which no checkpoint holds");
    StoredTensor& stored = m_stored[name];
    stored.type = type->stored;
    stored.shape = host.sizes().vec();
    stored.bytes = {static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()};
    m_memory.push_back(host);
}

at::ScalarType scalarTypeOf(StoredType type)
{
    return typeOf(type).scalar;
}

std::optional<StoredType> storedTypeOf(at::ScalarType type)
{
    const TypePair* const found = typeOf(type);
    return found == nullptr ? std::nullopt : std::optional(found->stored);
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
    // from_blob wants a mutable pointer; the view is only read.
    void* const bytes = const_cast<std::byte*>(stored.bytes.data());
    return at::from_blob(bytes, stored.shape, at::TensorOptions().dtype(typeOf(stored.type).scalar));
}

Status loadTensor(const TensorFiles& stored, const std::string& name, at::Tensor tensor)
{
    const auto found = stored.tensors().find(name);
    if (found == stored.tensors().end()) {
        return isMissing(name);
    }
    const TensorPlace& place = found->second.place;
    if (Status fits = checkForm(name, place.type, place.shape, tensor); !fits) {
        return fits;
    }
    const at::NoGradGuard noGrad;
    if (tensor.is_cpu() && tensor.is_contiguous()) {
        return stored.read(found->second, {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()});
    }
    std::vector<std::byte> bytes(place.bytes);
    if (Status read = stored.read(found->second, bytes); !read) {
        return read;
    }
    tensor.copy_(viewOf({place.type, place.shape, bytes}));
    return Done{};
}

Status loadParameters(const std::map<std::string, StoredTensor>& stored, std::vector<NamedParameter>& parameters)
{
    for (NamedParameter& parameter : parameters) {
        if (Status loaded = copyTensor(stored, parameter.name, parameter.tensor); !loaded) {
            return loaded;
        }
    }
    return checkAllKnown(stored, parameters);
}

Status loadParameters(const TensorFiles& stored, std::vector<NamedParameter>& parameters)
{
    for (NamedParameter& parameter : parameters) {
        if (Status loaded = loadTensor(stored, parameter.name, parameter.tensor); !loaded) {
            return loaded;
        }
    }
    return checkAllKnown(stored.tensors(), parameters);
}

} // namespace residua::engine
