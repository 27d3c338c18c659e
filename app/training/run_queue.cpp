// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/training/run_queue.h"

#include "app/engine/background.h"
#include "projects/base/ranges.h"
#include "projects/base/whole_file.h"
#include "projects/file/json.h"
#include "projects/file/store.h"
#include "projects/studies/membership.h"

#include <QDateTime>

#include <algorithm>
#include <optional>
#include <utility>

namespace residua::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kQueueFolder = ".queue";
constexpr const char* kProjectExtension = ".json";
constexpr const char* kMembershipExtension = ".membership";

fs::path folderIn(const fs::path& projectDirectory)
{
    return projectDirectory / projects::kRunsFolder / kQueueFolder;
}

/// Returns a file that sorts after earlier ones, including those of an earlier session.
fs::path nextFile(const fs::path& projectDirectory)
{
    static std::int64_t last = 0;
    last = std::max<std::int64_t>(last + 1, QDateTime::currentMSecsSinceEpoch());
    return folderIn(projectDirectory) / (std::to_string(last) + kProjectExtension);
}

/// Returns the file with the membership of a waiting run, whose project is in `file`.
fs::path membershipFile(fs::path file)
{
    return file.replace_extension(kMembershipExtension);
}

Status writeWaiting(const fs::path& file, const projects::Project& project,
                    const std::optional<projects::Membership>& membership)
{
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) {
        return Error{file.parent_path().string(), "cannot be made: " + error.message()};
    }
    RESIDUA_TRY(writeFileAtomically(membershipFile(file), projects::textOf(membership)));
    return writeFileAtomically(file, projects::toJson(project));
}

struct LeftRun {
    fs::path file;
    projects::Project project;
    std::optional<projects::Membership> membership;
};
struct Left {
    std::vector<LeftRun> runs;
    Status status = Done{};
};

Result<LeftRun> readRun(const fs::path& file)
{
    const auto text = readFile(file);
    auto project = text ? projects::projectFromJson(*text) : Result<projects::Project>(text.error());
    if (!project) {
        return Error{file.string(), project.error().text()};
    }
    const fs::path beside = membershipFile(file);
    std::error_code unknown; // after an error, reading the file reports the reason
    if (!fs::exists(beside, unknown) && !unknown) {
        // Earlier versions had no membership file; there a member is identified by its project's name.
        auto guess = projects::membershipFromName(project->name);
        return LeftRun{file, std::move(*project), std::move(guess)};
    }
    const auto kept = readFile(beside);
    auto membership =
        kept ? projects::membershipFrom(*kept) : Result<std::optional<projects::Membership>>(kept.error());
    if (!membership) {
        return Error{beside.string(), membership.error().text()};
    }
    return LeftRun{file, std::move(*project), std::move(*membership)};
}

/// Removes memberships without a project, which a process leaves if it dies while a run is stored or removed.
void removeStray(const std::vector<fs::path>& memberships)
{
    for (fs::path file : memberships) {
        const fs::path membership = file;
        std::error_code unknown;
        if (!fs::exists(file.replace_extension(kProjectExtension), unknown) && !unknown) {
            std::error_code ignored; // a file that cannot be removed is found again in the next session
            fs::remove(membership, ignored);
            fs::remove(membership.parent_path(), ignored); // if it is empty
        }
    }
}

Left readLeft(const fs::path& folder)
{
    std::vector<fs::path> files;
    std::vector<fs::path> memberships;
    std::error_code ignored; // there is no folder if no run was left
    for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
        if (entry->path().extension() == kProjectExtension) {
            files.push_back(entry->path());
        } else if (entry->path().extension() == kMembershipExtension) {
            memberships.push_back(entry->path());
        }
    }
    removeStray(memberships);
    std::ranges::sort(files);
    Left left;
    for (const fs::path& file : files) {
        if (Result<LeftRun> run = readRun(file)) {
            left.runs.push_back(std::move(*run));
        } else {
            left.status = run.error();
        }
    }
    return left;
}

} // namespace

RunQueue::RunQueue(QObject* parent) : QObject(parent)
{
    m_files.setMaxThreadCount(1);
}

RunQueue::~RunQueue()
{
    m_files.waitForDone();
}

std::vector<std::string> RunQueue::names() const
{
    return mapped<std::vector<std::string>>(m_waiting,
                                            [](const Waiting& waiting) { return waiting.command.project.name; });
}

std::vector<engine::StartRun> RunQueue::waiting() const
{
    return mapped<std::vector<engine::StartRun>>(m_waiting, &Waiting::command);
}

void RunQueue::push(engine::StartRun command)
{
    fs::path file = nextFile(command.projectDirectory);
    m_waiting.push_back({std::move(command), std::move(file), Begins::InTurn});
    keep(m_waiting.back());
}

void RunQueue::keep(const Waiting& waiting)
{
    inBackground(
        m_files, this,
        [file = waiting.file, project = waiting.command.project, membership = waiting.command.membership] {
            return writeWaiting(file, project, membership);
        },
        [this](const Status& kept) {
            if (!kept) {
                emit failed(kept.error());
            }
        });
}

engine::StartRun RunQueue::pop()
{
    m_popped = std::move(m_waiting.front());
    m_waiting.pop_front();
    forget(m_popped.file);
    return m_popped.command;
}

void RunQueue::putBack()
{
    m_waiting.push_front(std::move(m_popped));
    keep(m_waiting.front());
}

void RunQueue::clear()
{
    for (const Waiting& waiting : std::exchange(m_waiting, {})) {
        forget(waiting.file);
    }
}

bool RunQueue::hasTakenUp(const fs::path& projectDirectory) const
{
    return std::ranges::any_of(m_waiting,
                               [&](const Waiting& waiting) { return waiting.isTakenUpFrom(projectDirectory); });
}

void RunQueue::release()
{
    for (Waiting& waiting : m_waiting) {
        waiting.begins = Begins::InTurn;
    }
}

void RunQueue::forgetTakenUp(const fs::path& projectDirectory)
{
    std::erase_if(m_waiting, [&](const Waiting& waiting) {
        const bool gone = waiting.isTakenUpFrom(projectDirectory);
        if (gone) {
            forget(waiting.file);
        }
        return gone;
    });
}

void RunQueue::forget(const fs::path& file)
{
    startOn(m_files, [file] {
        std::error_code ignored; // a file that cannot be removed is queued again in the next session
        fs::remove(file, ignored);
        fs::remove(membershipFile(file), ignored);
        fs::remove(file.parent_path(), ignored); // if it is empty
    });
}

void RunQueue::takeUp(const fs::path& projectDirectory, const std::string& device)
{
    inBackground(
        m_files, this, [folder = folderIn(projectDirectory)] { return readLeft(folder); },
        [this, projectDirectory, device](Left left) {
            const std::size_t before = m_waiting.size();
            for (auto& [file, project, membership] : left.runs) {
                if (std::ranges::find(m_waiting, file, &Waiting::file) == m_waiting.end()) {
                    engine::StartRun command;
                    command.project = std::move(project);
                    command.membership = std::move(membership);
                    command.projectDirectory = projectDirectory;
                    command.device = device;
                    m_waiting.push_back({std::move(command), file, Begins::WhenAsked});
                }
            }
            if (m_waiting.size() > before) {
                emit takenUp(static_cast<int>(m_waiting.size() - before), projectDirectory);
            }
            if (!left.status) {
                emit failed(left.status.error());
            }
        });
}

} // namespace residua::app
