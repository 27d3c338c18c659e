// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/base/scratch_folder.h"
#include "projects/huggingface/custom_model.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// A folder that comes to be as a whole: it is filled beside its place and then renamed. What was not kept is removed,
/// with the parents that were made for it.
class NewFolder {
public:
    /// Refused where `folder` exists and is not an empty folder. Its parents are made.
    [[nodiscard]] static Result<NewFolder> begin(const std::filesystem::path& folder);
    NewFolder(NewFolder&& other) noexcept;
    NewFolder& operator=(NewFolder&&) = delete;
    ~NewFolder();

    /// Where to write meanwhile.
    [[nodiscard]] const std::filesystem::path& path() const { return m_scratch->path(); }
    /// Brings it to its place, and the names to the disk.
    [[nodiscard]] Status keep();

private:
    explicit NewFolder(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    [[nodiscard]] Status makeParents();
    [[nodiscard]] std::filesystem::path parent() const;

    std::filesystem::path m_folder;
    std::optional<ScratchFolder> m_scratch;
    std::vector<std::filesystem::path> m_made; ///< parents that were not there, the innermost last
};

/// What comes beside a model in its folder: its tokeniser.
struct Companions {
    std::map<std::string, std::filesystem::path> files; ///< that are copied, by the names that they get
    std::map<std::string, std::string> written;         ///< others: their content by their name
    projects::ExportedTokeniser tokeniser = projects::ExportedTokeniser::None; ///< what they are
};
[[nodiscard]] Status addCompanions(const std::filesystem::path& folder, const Companions& companions);

/// Copies files of any size into a folder under their names.
[[nodiscard]] Status copyInto(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& files);

} // namespace residua::engine
