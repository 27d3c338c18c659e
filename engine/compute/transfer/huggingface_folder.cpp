// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/transfer/huggingface_folder.h"

#include "engine/base/files/safetensors.h"
#include "engine/base/files/safetensors_header.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/transfer_plan.h"
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/huggingface/custom_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include <cstddef>
#include <iterator>
#include <ranges>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// Returns the name of a type in config.json.
const char* configWordOf(StoredType type)
{
    switch (type) {
    case StoredType::Bf16:
        return "bfloat16";
    case StoredType::F16:
        return "float16";
    case StoredType::F64:
        return "float64";
    default:
        return "float32";
    }
}

/// Returns the shape of the tensor in the file, from those of its parameters.
std::vector<std::int64_t> shapeOf(const projects::FileTensor& tensor, const std::vector<TensorFiles::Tensor>& stored)
{
    const auto shapes = mapped(stored, [](const TensorFiles::Tensor& each) { return each.place.shape; });
    return packedShape(tensor, shapes);
}

} // namespace

Status HuggingFaceWriter::advance()
{
    if (m_entries.empty()) {
        return gather();
    }
    if (m_compared < m_entries.size()) {
        return compareNext();
    }
    if (!m_file) {
        return begin();
    }
    return m_file->next() != nullptr ? writeNext() : end();
}

/// Lists the tensors without reading them.
Status HuggingFaceWriter::gather()
{
    std::set<std::string> taken;
    for (projects::FileTensor& tensor : projects::fileTensorsOf(m_source.found.model)) {
        Entry entry;
        std::vector<std::string> names;
        for (const std::string& parameter : tensor.parameters) {
            const auto stored = m_source.weights.tensors().find(m_source.found.parameter(parameter));
            if (stored != m_source.weights.tensors().end() && !stored->second.place.shape.empty()) {
                entry.stored.push_back(stored->second);
                names.push_back(stored->first);
            }
        }
        if (entry.stored.size() != tensor.parameters.size()) {
            continue;
        }
        taken.insert(names.begin(), names.end());
        for (const TensorFiles::Tensor& stored : entry.stored) { // by their bytes, which have been checked
            m_source.run.parameters += static_cast<std::int64_t>(stored.place.bytes) / bytesOf(stored.place.type);
        }
        m_kept = m_entries.empty() ? entry.stored.front().place.type : m_kept;
        const std::string name = tensor.name;
        entry.tensor = std::move(tensor);
        m_entries.emplace(name, std::move(entry));
    }
    if (m_entries.empty()) {
        return Error{"checkpoint", "has no tensor of a " + m_source.found.model.kind};
    }
    return leftOut(taken);
}

/// Returns an error if tensors of the checkpoint are not exported.
Status HuggingFaceWriter::leftOut(const std::set<std::string>& taken) const
{
    constexpr std::size_t kMostListed = 6;
    std::vector<std::string> names;
    for (const auto& [name, tensor] : m_source.weights.tensors()) {
        if (!taken.contains(name)) {
            names.push_back(name);
        }
    }
    return names.empty() ? Status(Done{})
                         : Error{"checkpoint",
                                 "of its " + std::to_string(m_source.weights.tensors().size()) + " tensors " +
                                     std::to_string(names.size()) + " have no place in a " + m_source.found.model.kind +
                                     ": " + joinedText(names | std::views::take(kMostListed)) +
                                     (names.size() > kMostListed ? ", …" : "") + "; --to pytorch exports all of them"};
}

/// True if the types of the import should be tried.
bool HuggingFaceWriter::asImported() const
{
    return !m_source.type && m_source.imported && m_source.imported->type != StoredType::F64;
}

StoredType HuggingFaceWriter::recordedType(const std::string& tensor) const
{
    const auto own = m_source.imported->types.find(tensor);
    return own == m_source.imported->types.end() ? m_source.imported->type : own->second;
}

Result<at::Tensor> HuggingFaceWriter::read(const Entry& entry) const
{
    std::vector<at::Tensor> parameters;
    for (const std::string& name : entry.tensor.parameters) {
        at::Tensor tensor = RESIDUA_TRY(readTensor(m_source.weights, m_source.found.parameter(name)));
        parameters.push_back(std::move(tensor));
    }
    return packed(entry.tensor, parameters);
}

/// Checks whether the next tensor is unchanged in the imported type; after the first that is not, skips the rest.
Status HuggingFaceWriter::compareNext()
{
    const auto entry = std::next(m_entries.begin(), static_cast<std::ptrdiff_t>(m_compared));
    const StoredType wanted = asImported() ? recordedType(entry->first) : m_kept;
    if (!asImported() || m_lossy) {
        m_compared = m_entries.size();
        return Done{};
    }
    ++m_compared;
    if (wanted == entry->second.stored.front().place.type) {
        return Done{};
    }
    const at::Tensor tensor = RESIDUA_TRY(read(entry->second));
    m_lossy = !at::equal(tensor.to(scalarTypeOf(wanted)).to(tensor.scalar_type()), tensor);
    return Done{};
}

/// Chooses the types and creates the file.
Status HuggingFaceWriter::begin()
{
    const bool imported = asImported() && !m_lossy;
    m_type = imported ? m_source.imported->type : m_source.type.value_or(m_kept);
    if (m_lossy && m_source.imported->type != m_kept) {
        m_folder.notes.push_back("the weights are " + std::string(nameOf(m_kept)) +
                                 ": what was trained here has more digits than the " + nameOf(m_source.imported->type) +
                                 " that was imported; --type rounds them");
    }
    std::map<std::string, TensorForm> forms;
    for (auto& [name, entry] : m_entries) {
        entry.type = imported ? recordedType(name) : m_type;
        forms[name] = {entry.type, shapeOf(entry.tensor, entry.stored)};
    }
    SafetensorsWriter file =
        RESIDUA_TRY(SafetensorsWriter::begin(m_path / "model.safetensors", forms, {{"format", "pt"}}));
    m_file.emplace(std::move(file));
    return Done{};
}

Status HuggingFaceWriter::writeNext()
{
    const Entry& entry = m_entries.at(*m_file->next());
    const at::Tensor tensor = RESIDUA_TRY(read(entry));
    ++m_written;
    const at::Tensor typed = tensor.to(scalarTypeOf(entry.type)).contiguous();
    return m_file->write({static_cast<const std::byte*>(typed.const_data_ptr()), typed.nbytes()});
}

Status HuggingFaceWriter::end()
{
    RESIDUA_TRY(m_file->end());
    const std::string original = m_source.imported ? m_source.imported->config : std::string();
    const std::string config =
        projects::configOf(m_source.found.model, original, configWordOf(m_type), m_source.run.classes);
    Status done = writeFileAtomically(m_path / "config.json", config);
    done = done ? writeFileAtomically(m_path / "README.md", readme()) : done;
    done = done ? addCompanions(m_path, m_source.companions) : done;
    m_folder.architecture = m_source.found.model.kind;
    m_folder.parameters = m_source.run.parameters;
    m_folder.type = nameOf(m_type);
    m_ended = true;
    return done;
}

std::string HuggingFaceWriter::readme() const
{
    return projects::modelReadme(m_source.project, m_source.found.model, m_source.run, configWordOf(m_type),
                                 m_source.companions.tokeniser);
}

} // namespace residua::engine
