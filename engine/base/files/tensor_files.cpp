// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/tensor_files.h"

#include "projects/base/json_tree.h"
#include "projects/base/whole_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr int kDeepestIndex = 8;

/// True if the link leads to the blobs of a model cache that has this folder as a snapshot.
bool leadsIntoCache(const fs::path& folder, const fs::path& link)
{
    std::error_code code;
    const fs::path snapshot = fs::canonical(folder, code);
    const fs::path target = code ? fs::path() : fs::canonical(link, code);
    return !code && snapshot.parent_path().filename() == "snapshots" &&
           target.parent_path() == snapshot.parent_path().parent_path() / "blobs";
}

/// True if the name denotes a file directly in the folder.
bool isPlainName(const std::string& name)
{
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
           name.find('\0') == std::string::npos;
}

/// Returns the files that an index names, each with its tensors.
Result<std::map<std::string, std::vector<std::string>>> filesIn(const fs::path& index)
{
    const std::string text = RESIDUA_TRY(readFile(index));
    if (const auto deep = tooDeep(text, kDeepestIndex)) {
        return Error{index.string(), deep->message};
    }
    // An ordered object would search a hundred thousand names one by one.
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) {
        return Error{index.string(), "is not a JSON object, expected an index of tensors by file"};
    }
    const auto map = json.find("weight_map");
    if (map == json.end() || !map->is_object() || map->empty()) {
        return Error{index.string() + " · weight_map", "is missing, expected an object of files by tensor"};
    }
    std::map<std::string, std::vector<std::string>> files;
    for (const auto& [tensor, file] : map->items()) {
        const std::string name = file.is_string() ? file.get<std::string>() : std::string();
        if (!isPlainName(name)) {
            return Error{index.string() + " · weight_map · " + tensor,
                         "got " + (file.is_string() ? "\"" + name + "\"" : std::string(file.type_name())) +
                             ", expected the name of a file in the same folder"};
        }
        files[name].push_back(tensor);
    }
    return files;
}

} // namespace

Result<fs::path> fileOf(const fs::path& folder, const std::string& name)
{
    const fs::path path = folder / name;
    std::error_code code;
    const fs::file_status status = fs::symlink_status(path, code);
    if (status.type() == fs::file_type::not_found) {
        return fs::path();
    }
    if (status.type() == fs::file_type::symlink && !leadsIntoCache(folder, path)) {
        return Error{path.string(), "is a link, which may lead anywhere; expected the file itself"};
    }
    return path;
}

Result<TensorFiles> TensorFiles::openFolder(const fs::path& folder)
{
    TensorFiles files;
    const Result<fs::path> single = fileOf(folder, kSingleFile);
    const Result<fs::path> index = fileOf(folder, kIndexFile);
    if (!single || !index) {
        return single ? index.error() : single.error();
    }
    if (single->empty() && index->empty()) {
        const bool pickled = isThere(folder / "pytorch_model.bin") || isThere(folder / "pytorch_model.bin.index.json");
        return Error{folder.string(), std::string("has no ") + kSingleFile + " and no " + kIndexFile +
                                          (pickled ? "; pytorch_model.bin is a program rather than data and is not "
                                                     "read: save the model as safetensors"
                                                   : "")};
    }
    const Status added = single->empty() ? files.addIndexed(folder, *index) : files.add(*single, nullptr);
    return added ? Result<TensorFiles>(std::move(files)) : Result<TensorFiles>(added.error());
}

Result<TensorFiles> TensorFiles::openFile(const fs::path& path)
{
    TensorFiles files;
    const Status added = files.add(path, nullptr);
    return added ? Result<TensorFiles>(std::move(files)) : Result<TensorFiles>(added.error());
}

Status TensorFiles::addIndexed(const fs::path& folder, const fs::path& index)
{
    const auto files = RESIDUA_TRY(filesIn(index));
    for (const auto& [name, tensors] : files) {
        const fs::path path = RESIDUA_TRY(fileOf(folder, name));
        if (path.empty()) {
            return Error{(folder / name).string(), "is missing; " + index.filename().string() + " names it for " +
                                                       std::to_string(tensors.size()) + " tensors, " + tensors.front() +
                                                       " among them"};
        }
        RESIDUA_TRY(add(path, &tensors));
        m_files.back().release(); // closes it: the number of files may exceed the limit of open files
    }
    return Done{};
}

Status TensorFiles::add(const fs::path& path, const std::vector<std::string>* wanted)
{
    InputFile file = RESIDUA_TRY(InputFile::open(path));
    SafetensorsHeader header = RESIDUA_TRY(readSafetensorsHeader(file));
    const std::size_t number = m_files.size();
    if (wanted == nullptr) {
        for (auto& [name, place] : header.tensors) {
            m_tensors[name] = {number, std::move(place)};
        }
    } else {
        for (const std::string& name : *wanted) {
            const auto found = header.tensors.find(name);
            if (found == header.tensors.end()) {
                m_absent[name] = path;
            } else {
                m_tensors[name] = {number, std::move(found->second)};
            }
        }
    }
    m_files.push_back(std::move(file));
    return Done{};
}

Status TensorFiles::read(const Tensor& tensor, std::span<std::byte> out) const
{
    return m_files[tensor.file].read(tensor.place.begin, out);
}

void TensorFiles::rename(const std::function<std::string(const std::string&)>& nameOf)
{
    std::map<std::string, Tensor> renamed;
    for (auto& [name, tensor] : m_tensors) {
        if (std::string other = nameOf(name); !other.empty()) {
            renamed.emplace(std::move(other), std::move(tensor));
        }
    }
    m_tensors = std::move(renamed);
}

void TensorFiles::replaceBy(TensorFiles other, std::string_view ending)
{
    const std::size_t first = m_files.size();
    for (auto& [name, tensor] : m_tensors) {
        if (const auto found = other.m_tensors.find(name + std::string(ending)); found != other.m_tensors.end()) {
            tensor = {first + found->second.file, std::move(found->second.place)};
        }
    }
    std::ranges::move(other.m_files, std::back_inserter(m_files));
}

} // namespace residua::engine
