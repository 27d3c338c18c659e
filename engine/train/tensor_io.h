// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/tensor_files.h"
#include "engine/network/network.h"
#include "engine/runs/checkpoint.h"
#include "projects/base/result.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// Tensors as engine/files writes them, with the host memory that their bytes view.
class HostTensors {
public:
    /// Views the tensor where it lies on the host and is contiguous, else copies it there.
    void add(const std::string& name, const at::Tensor& tensor);
    [[nodiscard]] const std::map<std::string, StoredTensor>& stored() const { return m_stored; }

private:
    std::map<std::string, StoredTensor> m_stored;
    std::vector<at::Tensor> m_memory;
};

[[nodiscard]] HostTensors hostTensors(const std::vector<NamedParameter>& parameters);

/// Undefined for StoredType::Other.
[[nodiscard]] at::ScalarType scalarTypeOf(StoredType type);

/// The stored numbers where they lie, which must outlive the tensor; they must not be written to.
[[nodiscard]] at::Tensor viewOf(const StoredTensor& stored);

/// Reads the tensor named `name` into `tensor`, straight to where it lies if that is the host. An error where it is
/// absent, or of another shape or type.
[[nodiscard]] Status loadTensor(const TensorFiles& stored, const std::string& name, at::Tensor tensor);

/// The tensor named `name`, of the type that it is stored in, on the host. An error where it is absent, or where there
/// is no memory for it.
[[nodiscard]] Result<at::Tensor> readTensor(const TensorFiles& stored, const std::string& name);

/// Every parameter, a tensor at a time; what is stored and is no parameter is an error too, for it belongs to another
/// network.
[[nodiscard]] Status loadParameters(const TensorFiles& stored, std::vector<NamedParameter>& parameters);

/// Adds a note that names and counts the parameters with numbers that are not finite, if there are any.
void noteNotFinite(const std::vector<NamedParameter>& parameters, std::vector<std::string>& notes);

} // namespace residua::engine
