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

/// A new folder that becomes visible only when complete: it is written beside its place and then renamed. Unless keep()
/// was called, the destructor removes it and the parents that were made for it.
class NewFolder {
public:
    /// Begins a folder and creates its parents. Returns an error if `folder` exists and is not an empty folder.
    [[nodiscard]] static Result<NewFolder> begin(const std::filesystem::path& folder);
    NewFolder(NewFolder&& other) noexcept;
    NewFolder& operator=(NewFolder&&) = delete;
    ~NewFolder();

    /// Returns the folder to write to until keep().
    [[nodiscard]] const std::filesystem::path& path() const { return m_scratch->path(); }
    /// Moves the folder to its place and flushes the names to the disk.
    [[nodiscard]] Status keep();

private:
    explicit NewFolder(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    [[nodiscard]] Status makeParents();
    [[nodiscard]] std::filesystem::path parent() const;

    std::filesystem::path m_folder;
    std::optional<ScratchFolder> m_scratch;
    std::vector<std::filesystem::path> m_made; ///< new parents, the innermost last
};

/// The files beside a model in its folder: its tokeniser.
struct Companions {
    std::map<std::string, std::filesystem::path> files;                        ///< files to copy, by their new names
    std::map<std::string, std::string> written;                                ///< files to write: contents by name
    projects::ExportedTokeniser tokeniser = projects::ExportedTokeniser::None; ///< the kind of tokeniser
};
[[nodiscard]] Status addCompanions(const std::filesystem::path& folder, const Companions& companions);

/// Copies files of any size into a folder under their names.
[[nodiscard]] Status copyInto(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& files);

} // namespace residua::engine
