// SPDX-License-Identifier: GPL-3.0-or-later
// Files of a test in a folder that goes with it, and the datasets on them.
#pragma once

#include "engine/data/sets/dataset.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace residua::tests {

inline constexpr std::size_t kTime = 8; ///< tokens of a sequence

/// The values as they lie in memory.
template <class T>
std::string packed(const std::vector<T>& values)
{
    std::string bytes(values.size() * sizeof(T), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

inline void writeAll(const std::filesystem::path& path, const std::string& bytes)
{
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::remove(path); // some file systems wait for the disk when a file is overwritten
    std::ofstream(path, std::ios::binary) << bytes;
}

/// The values of the two fields of text, and of vectors.
inline const std::vector<std::int64_t>& tokensIn(const engine::Batch& batch)
{
    return batch.values<std::int64_t>(0);
}
inline const std::vector<std::int64_t>& targetsIn(const engine::Batch& batch)
{
    return batch.values<std::int64_t>(1);
}
inline const std::vector<double>& inputsIn(const engine::Batch& batch)
{
    return batch.values<double>(0);
}
inline const std::vector<double>& outputsIn(const engine::Batch& batch)
{
    return batch.values<double>(1);
}

/// All tokens of a split in order.
inline std::vector<std::int64_t> tokensOf(const engine::Dataset& dataset, engine::Split split)
{
    std::vector<std::int64_t> tokens;
    engine::Batch batch;
    for (std::int64_t index = 0; dataset.fillSequential(batch, split, index, 3) && batch.batch > 0; ++index) {
        tokens.insert(tokens.end(), tokensIn(batch).begin(), tokensIn(batch).end());
    }
    return tokens;
}

/// Derive the test class from it; every test function has a folder of its own.
class DatasetHarness : public QObject {
protected:
    void newFolder()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
    }

    [[nodiscard]] Result<std::unique_ptr<engine::Dataset>> open(projects::Source source) const
    {
        projects::Project project;
        project.data = {std::move(source), 0.2, 0.1};
        project.training.sequenceLength = kTime;
        return engine::Dataset::open(project, m_folder);
    }

    [[nodiscard]] projects::Project projectOn(const std::string& text, const projects::Tokeniser& tokeniser) const
    {
        writeAll(m_folder / "text.txt", text);
        projects::Project project;
        project.data = {projects::TextData{"text.txt", tokeniser}, 0.2, 0.1};
        project.training.sequenceLength = kTime;
        return project;
    }

    [[nodiscard]] std::unique_ptr<engine::Dataset> openText(const std::string& text,
                                                            const projects::Tokeniser& tokeniser) const
    {
        auto dataset = engine::Dataset::open(projectOn(text, tokeniser), m_folder);
        if (!dataset) {
            qWarning("%s", dataset.error().text().c_str());
            return nullptr;
        }
        return std::move(*dataset);
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    std::filesystem::path m_folder;
};

} // namespace residua::tests
