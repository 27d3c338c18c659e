// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/new_run.h"

#include "projects/base/files.h"

#include <utility>

namespace residua::engine {

namespace fs = std::filesystem;

Result<NewRun> NewRun::begin(const fs::path& directory)
{
    return in(claimRunDirectory(directory));
}

Result<NewRun> NewRun::beginIn(const fs::path& folder, const std::string& name)
{
    sweepRuns(folder);
    return in(claimRunDirectoryIn(folder, name));
}

Result<NewRun> NewRun::in(Result<HeldDirectory> claimed)
{
    if (!claimed) {
        return claimed.error();
    }
    auto scratch = ScratchFolder::beside(claimed->path);
    if (!scratch) {
        discard(claimed->path);
        return scratch.error();
    }
    return NewRun(*std::move(claimed), *std::move(scratch));
}

NewRun::~NewRun()
{
    if (m_claimed.lock.isOpen()) {
        discard(m_claimed.path);
    }
}

Status NewRun::keep()
{
    // Exchanges the scratch folder with the claimed directory, which holds only a lock and is removed afterwards.
    RESIDUA_TRY(replaceFolder(m_scratch.path(), m_claimed.path));
    m_claimed.lock.close();
    return syncDirectory(m_claimed.path.parent_path());
}

} // namespace residua::engine
