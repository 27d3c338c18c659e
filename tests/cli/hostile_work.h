// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/support/forked_program.h"

#include <QDir>
#include <QTemporaryDir>

#include <filesystem>
#include <stdexcept>

namespace residua::cli {

/// A folder in which programs are started with words that nobody types on purpose: with the files that these name, a
/// project "tiny", and a run "run" of it. Goes with all that is in it.
class HostileWork {
public:
    /// Trains the project; throws what went wrong.
    explicit HostileWork(const projects::Document& tiny)
    {
        // Nested, so that ".." is within it too.
        if (!QDir(m_folder.path()).mkpath("a/b")) {
            throw std::runtime_error("no folder can be made");
        }
        m_path = m_folder.filePath("a/b").toStdString();
        makeHostileFiles(m_path);
        if (const Status saved = projects::saveProject(m_path / "tiny", tiny); !saved) {
            throw std::runtime_error(saved.error().text());
        }
        giveAway(m_folder.path().toStdString());
        if (const Forked trained = runForked({"train", "tiny", "--run", "run"}, m_path); trained.code != 0) {
            throw std::runtime_error(trained.errors);
        }
    }
    ~HostileWork()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored); // also what is read-only in it
    }
    HostileWork(const HostileWork&) = delete;
    HostileWork& operator=(const HostileWork&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Another folder of such files in it.
    [[nodiscard]] std::filesystem::path makeFolder(const char* name) const
    {
        const std::filesystem::path folder = m_path / name;
        std::filesystem::create_directory(folder);
        makeHostileFiles(folder);
        giveAway(folder);
        return folder;
    }

private:
    QTemporaryDir m_folder;
    std::filesystem::path m_path;
};

} // namespace residua::cli
