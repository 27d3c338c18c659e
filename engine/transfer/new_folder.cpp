// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/transfer/new_folder.h"

#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

namespace residua::engine {

namespace fs = std::filesystem;

Result<NewFolder> NewFolder::begin(const fs::path& folder)
{
    std::error_code code;
    const fs::file_status status = fs::symlink_status(folder, code);
    const bool free = status.type() == fs::file_type::not_found ||
                      (status.type() == fs::file_type::directory && fs::is_empty(folder, code) && !code);
    if (!free) {
        return Error{folder.string(), "exists, expected a folder that does not, or an empty one"};
    }
    const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
    code.clear();
    fs::create_directories(parent, code);
    if (code) {
        return systemError(parent, "cannot be made", code.value());
    }
    const fs::path scratch = parent / ("." + folder.filename().string() + "." + std::to_string(::getpid()));
    fs::create_directory(scratch, code);
    if (code) {
        return systemError(scratch, "cannot be made", code.value());
    }
    return NewFolder(folder, scratch);
}

NewFolder::NewFolder(fs::path folder, fs::path scratch) : m_folder(std::move(folder)), m_scratch(std::move(scratch)) {}

NewFolder::NewFolder(NewFolder&& other) noexcept
    : m_folder(std::move(other.m_folder)), m_scratch(std::exchange(other.m_scratch, {}))
{
}

NewFolder::~NewFolder()
{
    std::error_code ignored;
    if (!m_scratch.empty()) {
        fs::remove_all(m_scratch, ignored);
    }
}

Status NewFolder::keep()
{
    std::error_code code;
    fs::rename(m_scratch, m_folder, code); // takes the place of an empty folder
    if (code) {
        return systemError(m_folder, "cannot be written", code.value());
    }
    m_scratch.clear();
    return syncDirectory(m_folder.has_parent_path() ? m_folder.parent_path() : fs::path("."));
}

Status addCompanions(const fs::path& folder, const Companions& companions)
{
    for (const auto& [name, content] : companions.written) {
        if (Status written = writeFileAtomically(folder / name, content); !written) {
            return written;
        }
    }
    return copyInto(folder, companions.files);
}

Status copyInto(const fs::path& folder, const std::vector<fs::path>& files)
{
    for (const fs::path& file : files) {
        const Result<std::string> bytes = readFile(file);
        if (!bytes) {
            return bytes.error();
        }
        if (Status copied = writeFileAtomically(folder / file.filename(), *bytes); !copied) {
            return copied;
        }
    }
    return Done{};
}

} // namespace residua::engine
