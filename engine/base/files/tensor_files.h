// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/safetensors_header.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// Returns the path of the file with this name in an untrusted folder; empty if it does not exist. Returns an error if
/// it is a link, except for the links of a model cache, which keeps the files of a folder <snapshots>/<revision> in
/// <blobs> beside <snapshots>.
[[nodiscard]] Result<std::filesystem::path> fileOf(const std::filesystem::path& folder, const std::string& name);

/// The tensors of one safetensors file, or of the files in a model's index. Reads the headers first and tensors on
/// request; keeps no tensor in memory. A single file stays open, so that its tensors can be read after its name is
/// removed: a run that trains removes its older checkpoints.
class TensorFiles {
public:
    /// Opens model.safetensors of a folder, or the files in its model.safetensors.index.json, which must be in that
    /// folder. Errors name the file.
    [[nodiscard]] static Result<TensorFiles> openFolder(const std::filesystem::path& folder);
    [[nodiscard]] static Result<TensorFiles> openFile(const std::filesystem::path& path);

    struct Tensor {
        std::size_t file = 0;
        TensorPlace place;
    };
    [[nodiscard]] const std::map<std::string, Tensor>& tensors() const { return m_tensors; }
    /// Returns the tensors that the index names and its files lack, each with its file.
    [[nodiscard]] const std::map<std::string, std::filesystem::path>& absent() const { return m_absent; }
    /// Reads the bytes of a tensor into `out`, which must have the tensor's size. Returns an error if the file has
    /// changed since it was opened.
    [[nodiscard]] Status read(const Tensor& tensor, std::span<std::byte> out) const;
    /// Gives the tensors the names `nameOf` returns for theirs, which must differ; those with an empty one are left
    /// out.
    void rename(const std::function<std::string(const std::string&)>& nameOf);
    /// Replaces each tensor NAME by the tensor NAME + `ending` of `other`, if that exists.
    void replaceBy(TensorFiles other, std::string_view ending);

private:
    /// Adds a file's tensors. If `wanted` is given, adds only these.
    [[nodiscard]] Status add(const std::filesystem::path& path, const std::vector<std::string>* wanted);
    [[nodiscard]] Status addIndexed(const std::filesystem::path& folder, const std::filesystem::path& index);

    std::vector<InputFile> m_files;
    std::map<std::string, Tensor> m_tensors;
    std::map<std::string, std::filesystem::path> m_absent;
};

} // namespace residua::engine
