// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/tensor_files.h"
#include "engine/compute/network/network.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// Tensors in the form that engine/base/files writes, with the host memory of their bytes.
class HostTensors {
public:
    /// Adds a view of the tensor if it is contiguous on the host, else a copy.
    void add(const std::string& name, const at::Tensor& tensor);
    [[nodiscard]] const std::map<std::string, StoredTensor>& stored() const { return m_stored; }

private:
    std::map<std::string, StoredTensor> m_stored;
    std::vector<at::Tensor> m_memory;
};

[[nodiscard]] HostTensors hostTensors(const std::vector<NamedParameter>& parameters);

/// Returns the type; undefined for StoredType::Other.
[[nodiscard]] at::ScalarType scalarTypeOf(StoredType type);

/// Returns a view of the stored numbers, which must outlive the tensor and must not be written to.
[[nodiscard]] at::Tensor viewOf(const StoredTensor& stored);

/// Reads the tensor `name` into `tensor`, directly if that is on the host. Returns an error if it is missing, or has
/// another shape or type.
[[nodiscard]] Status loadTensor(const TensorFiles& stored, const std::string& name, at::Tensor tensor);

/// Reads `stored`, which has the type and shape of `tensor`, into the memory of `tensor`: contiguous, on the host.
[[nodiscard]] Status readInto(const TensorFiles& files, const TensorFiles::Tensor& stored, const at::Tensor& tensor);

/// Returns the tensor `name` in its stored type, on the host. Returns an error if it is missing, or if memory is
/// insufficient.
[[nodiscard]] Result<at::Tensor> readTensor(const TensorFiles& stored, const std::string& name);

/// Loads every parameter, one tensor at a time. Also returns an error if a stored tensor is not a parameter, because it
/// then belongs to another network.
[[nodiscard]] Status loadParameters(const TensorFiles& stored, std::vector<NamedParameter>& parameters);

/// Adds a note that names and counts the parameters with values that are not finite, if there are any.
void noteNotFinite(const std::vector<NamedParameter>& parameters, std::vector<std::string>& notes);

/// Returns the type of the network's parameters and of vector inputs. Under bf16 both are fp32; the network rounds the
/// values between its nodes.
[[nodiscard]] at::ScalarType parameterType(projects::Precision precision);

/// Sets the process's choice of algorithms; cheap enough to call for every step.
void applyDeterminism(projects::Determinism determinism);

/// Restarts the random generators of the device and the host for one step (RandomStreams::key), so that a
/// resumed run draws the same numbers as an uninterrupted one, whatever else ran in between.
void seedGenerators(c10::Device device, std::uint64_t seed);

} // namespace residua::engine
