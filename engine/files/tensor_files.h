// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/safetensors_header.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// A file of a folder that others have made: what bears this name in it. Refused where it is a link, but for the links
/// of a cache of models, which keeps the files of a folder <snapshots>/<revision> in <blobs> beside <snapshots>. An
/// empty path where there is none.
[[nodiscard]] Result<std::filesystem::path> fileOf(const std::filesystem::path& folder, const std::string& name);

/// The tensors of one safetensors file, or of the several that a model's index names. Headers are read, and tensors
/// when they are asked for: nothing is held in memory. A single file stays open, so that its tensors can be read after
/// its name is gone: a run that trains removes its older checkpoints.
class TensorFiles {
public:
    /// model.safetensors of a folder, or what its model.safetensors.index.json names: files of that folder alone, each
    /// with the tensors that the index says. Errors name the file.
    [[nodiscard]] static Result<TensorFiles> openFolder(const std::filesystem::path& folder);
    [[nodiscard]] static Result<TensorFiles> openFile(const std::filesystem::path& path);

    struct Tensor {
        std::size_t file = 0;
        TensorPlace place;
    };
    [[nodiscard]] const std::map<std::string, Tensor>& tensors() const { return m_tensors; }
    /// The bytes of a tensor into `out`, which has their number; an error where the file has changed since.
    [[nodiscard]] Status read(const Tensor& tensor, std::span<std::byte> out) const;

private:
    /// Adds a file's tensors, those in `wanted` alone where it is given; each must then be there.
    [[nodiscard]] Status add(const std::filesystem::path& path, const std::vector<std::string>* wanted);
    [[nodiscard]] Status addIndexed(const std::filesystem::path& folder, const std::filesystem::path& index);

    std::vector<InputFile> m_files;
    std::map<std::string, Tensor> m_tensors;
};

} // namespace residua::engine
