// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace residua::fuzz {

/// Data files of every kind that are nearly right, and projects that read them.
class DataMutator {
public:
    /// Files go to `folder`; `models` are the bytes of sound SentencePiece models, `parquets` of sound Parquet files
    /// with a column "text", of which there may be none.
    DataMutator(std::filesystem::path folder, std::vector<std::string> models, std::vector<std::string> parquets)
        : m_folder(std::move(folder)), m_models(std::move(models)), m_parquets(std::move(parquets))
    {
    }

    /// Writes the files of a round and gives the project that names them. `file` becomes the one that was changed.
    [[nodiscard]] projects::Project make(std::mt19937_64& random, std::filesystem::path& file) const;

private:
    [[nodiscard]] projects::Source makeText(std::mt19937_64& random, std::filesystem::path& file) const;
    [[nodiscard]] projects::Source makeLines(std::mt19937_64& random, std::filesystem::path& file) const;
    [[nodiscard]] projects::Source makeParquet(std::mt19937_64& random, std::filesystem::path& file) const;
    [[nodiscard]] projects::Source makeTokens(std::mt19937_64& random, std::filesystem::path& file) const;
    [[nodiscard]] projects::Source makeMixture(std::mt19937_64& random, std::filesystem::path& file) const;
    [[nodiscard]] projects::Source makeModel(std::mt19937_64& random, std::filesystem::path& file) const;

    std::filesystem::path m_folder;
    std::vector<std::string> m_models;
    std::vector<std::string> m_parquets;
};

/// One change of a file that another process might make at any moment: cut off, grown, rewritten in place, replaced.
void disturb(const std::filesystem::path& file, std::mt19937_64& random);

} // namespace residua::fuzz
