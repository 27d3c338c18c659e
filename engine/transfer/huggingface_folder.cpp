// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/transfer/huggingface_folder.h"

#include "engine/files/safetensors_header.h"
#include "engine/train/tensor_io.h"
#include "engine/transfer/file_tensors.h"
#include "engine/transfer/new_folder.h"
#include "projects/base/whole_file.h"
#include "projects/huggingface/custom_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include <algorithm>
#include <set>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// A type in config.json.
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

class HuggingFaceWriter {
public:
    explicit HuggingFaceWriter(HuggingFaceSource& source) : m_source(source) {}

    Result<HuggingFaceFolder> write(const fs::path& folder)
    {
        for (const auto stage : {&HuggingFaceWriter::pack, &HuggingFaceWriter::chooseTypes}) {
            if (const Status done = (this->*stage)(); !done) {
                return done.error();
            }
        }
        if (const Status written = writeFiles(folder); !written) {
            return written.error();
        }
        m_folder.architecture = m_source.found.decoder.kind;
        m_folder.parameters = m_source.run.parameters;
        m_folder.type = nameOf(m_type);
        return std::move(m_folder);
    }

private:
    /// The file's tensors in the checkpoint's own type; what is as it lies there is not copied.
    Status pack()
    {
        std::set<std::string> taken;
        for (const projects::FileTensor& tensor : projects::fileTensorsOf(m_source.found.decoder)) {
            std::vector<at::Tensor> parameters;
            std::vector<std::string> names;
            for (const std::string& parameter : tensor.parameters) {
                const auto stored = m_source.weights.find(m_source.found.parameter(parameter));
                if (stored != m_source.weights.end()) {
                    parameters.push_back(viewOf(stored->second));
                    names.push_back(stored->first);
                }
            }
            if (parameters.size() != tensor.parameters.size()) {
                continue;
            }
            taken.insert(names.begin(), names.end());
            m_tensors.emplace_back(tensor.name, packed(tensor, parameters));
            m_source.run.parameters += m_tensors.back().second.numel();
        }
        return leftOut(taken);
    }

    /// Refuses to leave out what the checkpoint has.
    [[nodiscard]] Status leftOut(const std::set<std::string>& taken) const
    {
        constexpr std::size_t kMostListed = 6;
        std::string names;
        std::size_t count = 0;
        for (const auto& [name, tensor] : m_source.weights) {
            if (!taken.contains(name) && ++count <= kMostListed) {
                names += (count == 1 ? "" : ", ") + name;
            }
        }
        return count == 0
                   ? Status(Done{})
                   : Error{"checkpoint", "of its " + std::to_string(m_source.weights.size()) + " tensors " +
                                             std::to_string(count) + " have no place in a " +
                                             m_source.found.decoder.kind + ": " + names +
                                             (count > kMostListed ? ", …" : "") + "; --to pytorch exports all of them"};
    }

    [[nodiscard]] StoredType recordedType(const std::string& tensor) const
    {
        const auto own = m_source.imported->types.find(tensor);
        return own == m_source.imported->types.end() ? m_source.imported->type : own->second;
    }

    Status chooseTypes()
    {
        const StoredType kept = *storedTypeOf(m_tensors.front().second.scalar_type());
        m_type = m_source.type.value_or(kept);
        const bool asImported = !m_source.type && m_source.imported && m_source.imported->type != StoredType::F64;
        if (asImported && losesNothing()) {
            m_type = m_source.imported->type;
            for (auto& [name, tensor] : m_tensors) {
                tensor = tensor.to(scalarTypeOf(recordedType(name)));
            }
            return Done{};
        }
        if (asImported && m_source.imported->type != kept) {
            m_folder.notes.push_back("the weights are " + std::string(nameOf(kept)) +
                                     ": what was trained here has more "
                                     "digits than the " +
                                     nameOf(m_source.imported->type) + " that was imported; --type rounds them");
        }
        for (auto& [name, tensor] : m_tensors) {
            tensor = tensor.to(scalarTypeOf(m_type));
        }
        return Done{};
    }

    [[nodiscard]] bool losesNothing() const
    {
        return std::ranges::all_of(m_tensors, [this](const auto& named) {
            const at::Tensor& tensor = named.second;
            const at::ScalarType type = scalarTypeOf(recordedType(named.first));
            return type == tensor.scalar_type() || at::equal(tensor.to(type).to(tensor.scalar_type()), tensor);
        });
    }

    Status writeFiles(const fs::path& folder)
    {
        HostTensors tensors;
        for (const auto& [name, tensor] : m_tensors) {
            tensors.add(name, tensor);
        }
        Status done = writeSafetensors(folder / "model.safetensors", tensors.stored(), {{"format", "pt"}});
        const std::string original = m_source.imported ? m_source.imported->config : std::string();
        const std::string config = projects::configOf(m_source.found.decoder, original, configWordOf(m_type));
        done = done ? writeFileAtomically(folder / "config.json", config) : done;
        done = done ? writeFileAtomically(folder / "README.md", readme()) : done;
        return done ? addCompanions(folder, m_source.companions) : done;
    }

    [[nodiscard]] std::string readme() const
    {
        return projects::modelReadme(m_source.project, m_source.found.decoder, m_source.run, configWordOf(m_type),
                                     m_source.companions.tokeniser);
    }

    HuggingFaceSource& m_source;
    HuggingFaceFolder m_folder;
    std::vector<std::pair<std::string, at::Tensor>> m_tensors;
    StoredType m_type = StoredType::F32;
};

} // namespace

Result<HuggingFaceFolder> writeHuggingFaceFolder(const fs::path& folder, HuggingFaceSource source)
{
    return HuggingFaceWriter(source).write(folder);
}

} // namespace residua::engine
