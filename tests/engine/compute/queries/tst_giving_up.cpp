// SPDX-License-Identifier: GPL-3.0-or-later
// Questions about a run that are given up while the run is opened.
#include "engine/base/api/environment.h"
#include "engine/base/machine/preparation.h"
#include "engine/compute/queries/base/query.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kSteps = 2;

class TestGivingUp : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        m_folder = fs::path(m_temporary.path().toStdString());
        m_run = m_folder / "run";
        std::ofstream text(m_folder / "text.txt");
        for (int i = 0; i < 500; ++i) {
            text << "line " << i << "\n";
        }
        text.close();
        m_project = tests::quickLanguage(kSteps);
        m_project.data.source = projects::TextData{.path = (m_folder / "text.txt").string(),
                                                   .tokeniser = {projects::TokeniserKind::Characters, {}, 64}};
        QCOMPARE(tests::lossesOf(m_project, m_run).size(), std::size_t{kSteps});
    }

    /// The data are not there, which whoever reads them would say.
    void beforeTheDataAreRead()
    {
        fs::rename(m_folder / "text.txt", m_folder / "away.txt");
        stopEach(std::type_identity<Command>());
        ExportRequest code = about<ExportRequest>();
        code.folder = m_folder / "code";
        stopped(code, 3); // after the run without its data, and the choice of the form
        QVERIFY(!fs::exists(code.folder));
        fs::rename(m_folder / "away.txt", m_folder / "text.txt");
    }

    void whileTheDataAreRead()
    {
        LoadWeightsRequest weights;
        weights.file = checkpointDirectory(m_run, kSteps) / "model.safetensors";
        weights.project = m_project;
        weights.projectDirectory = m_folder;
        weights.runDirectory = m_folder / "new";
        stopped(weights, 1);
        QVERIFY(!fs::exists(weights.runDirectory));
    }

private:
    template <class Request>
    [[nodiscard]] Request about() const
    {
        Request request;
        request.of.runDirectory = m_run;
        return request;
    }

    /// Stops every query about a run, except an export, which has stages before.
    template <class... Asked>
    void stopEach(std::type_identity<std::variant<Asked...>>) const
    {
        const auto stop = [&]<class Request>(std::type_identity<Request>) {
            if constexpr (kIsQuery<Request> && requires { &Request::of; } && !std::is_same_v<Request, ExportRequest>) {
                stopped(about<Request>(), 1);
            }
        };
        (stop(std::type_identity<Asked>()), ...);
    }

    /// Answers that it was given up, in that piece of its work and after a single question to the watch.
    template <class Request>
    static void stopped(const Request& request, int piece)
    {
        const std::unique_ptr<Query> query = queryFor(request);
        int asked = 0;
        std::optional<Event> answer;
        for (int i = 0; i < piece; ++i) {
            QVERIFY(!answer);
            answer = query->advance([&asked](double) {
                ++asked;
                return false;
            });
        }
        QVERIFY(answer);
        const auto* const failed = std::get_if<QueryFailed>(&*answer);
        QVERIFY(failed != nullptr);
        QVERIFY(failed->error == preparationGivenUp());
        QCOMPARE(asked, 1);
    }

    QTemporaryDir m_temporary;
    fs::path m_folder;
    fs::path m_run;
    projects::Project m_project;
};

} // namespace

RESIDUA_TEST(TestGivingUp)
#include "tst_giving_up.moc"
