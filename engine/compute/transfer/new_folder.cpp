// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/transfer/new_folder.h"

#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace residua::engine {

namespace fs = std::filesystem;

namespace {

/// Copies in pieces, because a tokeniser's file may exceed the limit for reading a text.
Status copyFile(const fs::path& from, const fs::path& to)
{
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
    const InputFile input = RESIDUA_TRY(InputFile::open(from));
    OutputFile output = RESIDUA_TRY(OutputFile::create(to));
    std::vector<std::byte> piece;
    for (std::uint64_t at = 0; at < input.size(); at += piece.size()) {
        piece.resize(std::min(kPiece, input.size() - at));
        RESIDUA_TRY(input.read(at, piece));
        RESIDUA_TRY(output.write(piece));
    }
    return output.sync();
}

} // namespace

Result<NewFolder> NewFolder::begin(const fs::path& folder)
{
    std::error_code code;
    const fs::file_status status = fs::symlink_status(folder, code);
    const bool free = status.type() == fs::file_type::not_found ||
                      (status.type() == fs::file_type::directory && fs::is_empty(folder, code) && !code);
    if (!free) {
        return Error{folder.string(), "exists, expected a folder that does not, or an empty one"};
    }
    NewFolder made(folder.has_filename() ? folder : folder.parent_path()); // "name/" is "name"
    RESIDUA_TRY(made.makeParents());
    auto scratch = RESIDUA_TRY(ScratchFolder::beside(made.m_folder));
    made.m_scratch.emplace(std::move(scratch));
    return made;
}

NewFolder::NewFolder(NewFolder&& other) noexcept
    : m_folder(std::move(other.m_folder)),
      m_scratch(std::move(other.m_scratch)),
      m_made(std::exchange(other.m_made, {}))
{
}

NewFolder::~NewFolder()
{
    std::error_code ignored;
    m_scratch.reset(); // before the parents that were made for it
    for (auto parent = m_made.rbegin(); parent != m_made.rend(); ++parent) {
        fs::remove(*parent, ignored); // removes only empty folders
    }
}

fs::path NewFolder::parent() const
{
    return m_folder.has_parent_path() ? m_folder.parent_path() : fs::path(".");
}

Status NewFolder::makeParents()
{
    fs::path above;
    for (const fs::path& name : parent()) {
        above /= name;
        std::error_code code;
        if (fs::create_directory(above, code)) {
            m_made.push_back(above);
        } else if (code && !fs::is_directory(above)) {
            return systemError(above, "cannot be made", code.value());
        }
    }
    return Done{};
}

Status NewFolder::keep()
{
    std::error_code code;
    fs::rename(path(), m_folder, code); // replaces an empty folder
    if (code) {
        return systemError(m_folder, "cannot be written", code.value());
    }
    m_scratch->keep();
    m_made.clear();
    return syncDirectory(parent());
}

Status addCompanions(const fs::path& folder, const Companions& companions)
{
    for (const auto& [name, content] : companions.written) {
        RESIDUA_TRY(writeFileAtomically(folder / name, content));
    }
    for (const auto& [name, file] : companions.files) {
        RESIDUA_TRY(copyFile(file, folder / name));
    }
    return Done{};
}

Status copyInto(const fs::path& folder, const std::vector<fs::path>& files)
{
    for (const fs::path& file : files) {
        RESIDUA_TRY(copyFile(file, folder / file.filename()));
    }
    return Done{};
}

} // namespace residua::engine
