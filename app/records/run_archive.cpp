// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/records/run_archive.h"

#include "app/engine/background.h"
#include "app/report/report.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"

#include <utility>

namespace residua::app {

RunArchive::RunArchive(QObject* parent) : QObject(parent)
{
    m_thread.setMaxThreadCount(1);
}

void RunArchive::refuse(const Status& status)
{
    if (!status) {
        emit refused(QString::fromStdString(status.error().text()));
    }
}

void RunArchive::rename(const std::string& run, const std::string& name)
{
    inBackground(
        m_thread, this, [run, name] { return engine::renameRun(run, name); },
        [this](const Status& kept) { refuse(kept); });
}

void RunArchive::annotate(const std::string& run, const std::vector<std::string>& tags, const std::string& notes)
{
    inBackground(
        m_thread, this, [run, tags, notes] { return engine::annotateRun(run, tags, notes); },
        [this](const Status& kept) { refuse(kept); });
}

void RunArchive::compare(const std::string& first, const std::string& second)
{
    inBackground(
        m_thread, this, [first, second] { return compareRuns(first, second); },
        [this](Result<RunComparison> comparison) {
            if (comparison) {
                emit compared(std::make_shared<const RunComparison>(std::move(*comparison)));
            } else {
                refuse(comparison.error());
            }
        });
}

void RunArchive::writeReport(const std::string& run, const QString& path)
{
    inBackground(
        this, // takes long, and nothing waits for it
        [run, path] { return report::writeReport(run, path.toStdString()); },
        [this, path](const Status& written) {
            if (written) {
                emit reportWritten(path);
            }
            refuse(written);
        });
}

void RunArchive::trash(const std::vector<std::string>& runs)
{
    struct Outcome {
        std::vector<TrashedRun> done;
        Status last = Done{};
    };
    inBackground(
        m_thread, this,
        [runs] {
            Outcome outcome;
            for (const std::string& run : runs) {
                auto place = engine::trashRun(run);
                if (place) {
                    outcome.done.push_back({run, std::move(*place)});
                } else {
                    outcome.last = place.error();
                }
            }
            return outcome;
        },
        [this](const Outcome& outcome) {
            if (!outcome.done.empty()) {
                emit trashed(outcome.done);
            }
            refuse(outcome.last);
        });
}

void RunArchive::restore(const std::vector<TrashedRun>& runs)
{
    inBackground(
        m_thread, this,
        [runs]() -> Status {
            Status last = Done{};
            for (const TrashedRun& run : runs) {
                if (const auto back = engine::restoreRun(run.place); !back) {
                    last = back.error();
                }
            }
            return last;
        },
        [this](const Status& last) {
            refuse(last);
            emit restored();
        });
}

} // namespace residua::app
