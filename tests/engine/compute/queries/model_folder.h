// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/safetensors.h"

#include <QJsonObject>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace residua::tests {

/// The cases of model_cases.json by name: a small model with what transformers computes of it.
[[nodiscard]] QJsonObject modelCases();

/// The numbers of values() in model_cases.py.
[[nodiscard]] std::vector<float> valuesOf(const std::string& name, const std::vector<std::int64_t>& shape);

/// The folder of a model as transformers saves it, whose numbers are those of valuesOf().
class ModelFolder {
public:
    explicit ModelFolder(const QJsonObject& modelCase);

    QJsonObject config;
    std::map<std::string, std::vector<std::int64_t>> shapes;
    engine::StoredType type = engine::StoredType::F32;
    int shards = 1;

    /// Adds a tokenizer.json of words for a classifier of texts. An error of the writer is a failed test.
    void write(const std::filesystem::path& folder) const;

private:
    void writeTensors(const std::filesystem::path& file, const std::vector<std::string>& names) const;
};

} // namespace residua::tests
