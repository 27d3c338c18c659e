// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/document/data_check.h"

#include "app/engine/background.h"
#include "engine/base/api/data_summary.h"
#include "projects/model/data_source.h"

#include <QGuiApplication>

#include <functional>
#include <string>
#include <utility>

namespace residua::app {

namespace {

constexpr int kSoonMilliseconds = 300; ///< delay, because several fields may be set in a row

struct Found {
    DataCheck::State state = DataCheck::State::Done;
    std::vector<projects::Problem> problems;
};

Found problemsIn(const projects::Project& project, const std::filesystem::path& directory,
                 const std::function<bool()>& wanted)
{
    engine::DataJudgement judgement = engine::judgeData(project, directory, engine::CheckedData::Small, wanted);
    return {judgement.whole ? DataCheck::State::Done : DataCheck::State::TooLarge, std::move(judgement.problems)};
}

} // namespace

DataCheck::DataCheck(QObject* parent) : QObject(parent), m_soon(this)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMilliseconds);
    connect(&m_soon, &QTimer::timeout, this, &DataCheck::read);
    // The files may have been mended in another program.
    connect(qGuiApp, &QGuiApplication::applicationStateChanged, this, [this](Qt::ApplicationState state) {
        if (state == Qt::ApplicationActive && !m_problems.empty()) {
            m_soon.start();
        }
    });
}

DataCheck::~DataCheck()
{
    clear();
}

void DataCheck::check(const projects::Project& project, const std::filesystem::path& directory)
{
    Subject subject{project.data, project.network.objective, project.training.sequenceLength, project.training.batch,
                    directory};
    if (m_known && subject == m_subject) {
        return;
    }
    clear();
    m_subject = std::move(subject);
    m_known = true;
    m_project = project;
    bool isRead = false; // generated data have no paths
    projects::forEachPath(project.data.source, [&](const std::string& /*path*/) { isRead = true; });
    m_state = isRead ? State::Reading : State::Done;
    if (isRead) {
        m_soon.start();
    }
}

void DataCheck::clear()
{
    if (m_wanted) {
        *m_wanted = false;
    }
    m_soon.stop();
    m_known = false;
    m_state = State::Idle;
    m_problems.clear();
}

void DataCheck::read()
{
    if (m_wanted) {
        *m_wanted = false;
    }
    m_wanted = std::make_shared<std::atomic<bool>>(true);
    inBackground(
        this,
        [project = m_project, directory = m_subject.directory, wanted = m_wanted] {
            return problemsIn(project, directory, [&wanted] { return wanted->load(); });
        },
        [this, wanted = m_wanted](const Found& found) {
            if (wanted->load()) {
                m_state = found.state;
                m_problems = found.problems;
                emit changed();
            }
        });
}

} // namespace residua::app
