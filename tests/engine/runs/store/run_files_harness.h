// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runs/store/run_writer.h"

#include <QObject>
#include <QTemporaryDir>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

/// Runs to write, and processes that write them at once.
namespace residua::tests {

inline engine::RunInfo exampleInfo()
{
    engine::RunInfo info;
    info.name = "first";
    info.device = "cpu";
    info.steps = 1000;
    info.tags = {"ancre", "π"};
    info.notes = "two\nlines";
    return info;
}

inline projects::Project exampleProject()
{
    projects::Project project;
    project.name = "Nested agreement";
    project.seeds.data = 77;
    return project;
}

/// Runs `body` in a process of its own; what it returns is the process's exit status.
template <class Body>
pid_t inChild(Body body)
{
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(body());
    }
    return child;
}

inline int exitOf(pid_t child)
{
    int result = -1;
    ::waitpid(child, &result, 0);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

inline void write(const std::filesystem::path& path, const std::string& text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::trunc) << text;
}

inline std::string contentOf(const std::filesystem::path& path)
{
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

inline bool isIn(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

/// A pipe on which one process tells another that it has come so far.
class Signal {
public:
    Signal() { require(::pipe(m_ends) == 0); }
    ~Signal()
    {
        ::close(m_ends[0]);
        ::close(m_ends[1]);
    }
    void give() const { require(::write(m_ends[1], "x", 1) == 1); }
    void await() const
    {
        char byte = 0;
        require(::read(m_ends[0], &byte, 1) == 1);
    }

private:
    static void require(bool done)
    {
        if (!done) {
            std::abort();
        }
    }
    int m_ends[2] = {-1, -1};
};

/// Derive the test class from it; every test function has a folder of runs of its own.
class RunFilesHarness : public QObject {
protected:
    void newFolder()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = std::filesystem::path(m_temporary->path().toStdString()) / "project" / "runs";
        m_run = m_folder / "a";
    }

    [[nodiscard]] Result<engine::RunWriter> create() const
    {
        return engine::RunWriter::create(m_run, exampleInfo(), exampleProject(), m_folder.parent_path());
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    std::filesystem::path m_folder; ///< in a project's folder; is not there before a run is
    std::filesystem::path m_run;    ///< in m_folder, for create()
};

} // namespace residua::tests
