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
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

struct TypeWords {
    StoredType type;
    at::ScalarType scalar;
    const char* word; ///< in config.json
};
constexpr TypeWords kTypes[] = {{StoredType::F32, at::kFloat, "float32"},
                                {StoredType::Bf16, at::kBFloat16, "bfloat16"},
                                {StoredType::F16, at::kHalf, "float16"},
                                {StoredType::F64, at::kDouble, "float64"}};

const TypeWords& wordsOf(StoredType type)
{
    return *std::ranges::find(kTypes, type, &TypeWords::type);
}

class HuggingFaceWriter {
public:
    explicit HuggingFaceWriter(HuggingFaceSource& source) : m_source(source) {}

    Result<HuggingFaceFolder> write(const fs::path& folder)
    {
        Result<NewFolder> place = NewFolder::begin(folder);
        if (!place) {
            return place.error();
        }
        for (const auto stage : {&HuggingFaceWriter::pack, &HuggingFaceWriter::chooseTypes}) {
            if (const Status done = (this->*stage)(); !done) {
                return done.error();
            }
        }
        if (const Status written = writeFiles(place->path()); !written) {
            return written.error();
        }
        if (const Status kept = place->keep(); !kept) {
            return kept.error();
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
        std::size_t taken = 0;
        for (const projects::FileTensor& tensor : projects::fileTensorsOf(m_source.found.decoder)) {
            std::vector<at::Tensor> parameters;
            for (const std::string& own : tensor.parameters) {
                const auto stored = m_source.weights.find(m_source.found.parameter(own));
                if (stored != m_source.weights.end()) {
                    parameters.push_back(viewOf(stored->second));
                }
            }
            if (parameters.size() != tensor.parameters.size()) {
                continue;
            }
            taken += parameters.size();
            m_tensors.emplace_back(tensor.name, packed(tensor, parameters));
            m_source.run.parameters += m_tensors.back().second.numel();
        }
        if (taken != m_source.weights.size()) {
            return Error{"export", "the model takes " + std::to_string(taken) + " of the checkpoint's " +
                                       std::to_string(m_source.weights.size()) + " tensors"};
        }
        return Done{};
    }

    [[nodiscard]] StoredType recordedType(const std::string& tensor) const
    {
        const auto own = m_source.imported->types.find(tensor);
        return own == m_source.imported->types.end() ? m_source.imported->type : own->second;
    }

    Status chooseTypes()
    {
        const StoredType kept = storedTypeOf(m_tensors.front().second);
        m_type = m_source.type.value_or(kept);
        const bool asImported = !m_source.type && m_source.imported && m_source.imported->type != StoredType::F64;
        if (asImported && losesNothing()) {
            m_type = m_source.imported->type;
            for (auto& [name, tensor] : m_tensors) {
                tensor = tensor.to(wordsOf(recordedType(name)).scalar);
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
            tensor = tensor.to(wordsOf(m_type).scalar);
        }
        return Done{};
    }

    [[nodiscard]] bool losesNothing() const
    {
        return std::ranges::all_of(m_tensors, [this](const auto& named) {
            const at::Tensor& tensor = named.second;
            const at::ScalarType type = wordsOf(recordedType(named.first)).scalar;
            return type == tensor.scalar_type() || at::equal(tensor.to(type).to(tensor.scalar_type()), tensor);
        });
    }

    static StoredType storedTypeOf(const at::Tensor& tensor)
    {
        return std::ranges::find(kTypes, tensor.scalar_type(), &TypeWords::scalar)->type;
    }

    Status writeFiles(const fs::path& folder)
    {
        HostTensors tensors;
        for (const auto& [name, tensor] : m_tensors) {
            tensors.add(name, tensor);
        }
        Status done = writeSafetensors(folder / "model.safetensors", tensors.stored(), {{"format", "pt"}});
        const std::string original = m_source.imported ? m_source.imported->config : std::string();
        const std::string config = projects::configOf(m_source.found.decoder, original, wordsOf(m_type).word);
        done = done ? writeFileAtomically(folder / "config.json", config) : done;
        done = done ? writeFileAtomically(folder / "README.md", readme()) : done;
        return done ? addCompanions(folder, m_source.companions) : done;
    }

    [[nodiscard]] std::string readme() const
    {
        return projects::modelReadme(m_source.project, m_source.found.decoder, m_source.run, wordsOf(m_type).word,
                                     !m_source.companions.files.empty());
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
