// SPDX-License-Identifier: GPL-3.0-or-later
// How long an edit, an undo or a step of the selection holds the window up, until every panel shows it:
//   bench_window -platform offscreen
// There the canvases draw no frame (bench_canvas has those); the panels do. Prints medians with their targets.
//   xvfb-run -a bench_window deep
// opens deep and dense stacks in a window that draws, and zooms: wall time until the canvas has drawn, and memory.
#include "app/views/document_views.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/shipped/examples.h"
#include "tests/app/window_harness.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QOpenGLWidget>
#include <QWheelEvent>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <time.h>
#include <unistd.h>

namespace {

using namespace residua;
using namespace residua::app;

constexpr double kEdit = 50; // ms
constexpr double kUndo = 16;
constexpr int kRounds = 9;

class Bench : public WindowHarness {
public:
    /// A stack of `layers` layers that reads everything, or only every `stride`-th source.
    bool open(std::int64_t layers, std::int64_t stride)
    {
        projects::Project project = projects::findExample("linear-ancre")->project;
        project.stack().segments.resize(1);
        project.stack().segments.front().repeat = layers;
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        mix.sources = projects::AllSources{};
        if (stride > 1) {
            mix.sources = projects::Dilated{stride, 1};
        }
        const std::filesystem::path path = newProject(project);
        openWindow({1440, 900});
        m_window->openProject(path);
        for (const auto& drawn : projects::drawnShortcuts(mix, layers)) {
            m_all.push_back(drawn.shortcut);
        }
        idle();
        std::printf("%lld layers, %zu shortcuts\n", static_cast<long long>(layers), m_all.size());
        return m_window->session().isOpen();
    }

    void run()
    {
        projects::History const& history = m_window->session().history();
        DocumentViews& documents = m_window->documents();
        const auto perform = [&](const projects::Edit& edit) { documents.applyEdit(edit); };
        const auto undo = [&] { m_window->session().undo(); };
        documents.choose(ProjectPlace{});
        pair(
            "the width", kEdit,
            [&] {
                perform(projects::SetField{"/network/width", {std::to_string(history.project().stack().width + 8)}});
            },
            undo);
        pair(
            "one shortcut frozen", kEdit,
            [&] {
                perform(projects::SetShortcutState{m_all.back(), projects::ShortcutState::Frozen});
            },
            undo);
        documents.choose(ShortcutsPlace{m_all});
        pair(
            "all shortcuts frozen, all selected", kEdit,
            [&] { perform(*projects::freezeEdit(history.project(), m_all)); }, undo);
        documents.choose(SectionPlace{Section::Topology});
        pair(
            "all shortcuts frozen, the wiring in the inspector", kEdit,
            [&] { perform(*projects::freezeEdit(history.project(), m_all)); }, undo);
        documents.choose(ProjectPlace{});
        pair(
            "all shortcuts of a rule pruned", kEdit,
            [&] {
                perform(*projects::pruneEdit(history.project(), {m_all.begin(), m_all.end() - 1}));
            },
            undo);
        perform(projects::RemoveShortcut{m_all.front()}); // an explicit set from here on
        pair(
            "all shortcuts of an explicit set taken out", kEdit,
            [&] {
                perform(*projects::pruneEdit(history.project(), {m_all.begin() + 1, m_all.end() - 1}));
            },
            undo);
        undo();
        std::int64_t layer = 1;
        print("select the next layer", kEdit, median([&] { documents.choose(LayersPlace{{layer = layer % 50 + 1}}); }));
        pair(
            "the width, a layer selected", kEdit,
            [&] {
                perform(projects::SetField{"/network/width", {std::to_string(history.project().stack().width + 8)}});
            },
            undo);
        std::size_t at = 0;
        print("select the next shortcut", kEdit, median([&] {
                  at = (at + 13) % m_all.size();
                  documents.choose(ShortcutsPlace{{m_all[at]}});
              }));
    }

private:
    /// Everything that was put off until the event loop is idle.
    static void idle()
    {
        for (int i = 0; i < 3; ++i) {
            QCoreApplication::processEvents();
        }
    }

    /// Time of the window's thread alone, so that other load on the machine does not count.
    static double threadMilliseconds()
    {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
    }

    template <class Action>
    static double timed(const Action& action)
    {
        const double before = threadMilliseconds();
        action();
        idle();
        return threadMilliseconds() - before;
    }

    static double middle(std::vector<double> values)
    {
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
        return values[values.size() / 2];
    }

    template <class Action>
    static double median(const Action& action)
    {
        std::vector<double> values;
        for (int round = 0; round < kRounds; ++round) {
            values.push_back(timed(action));
        }
        return middle(std::move(values));
    }

    template <class Do, class Undo>
    static void pair(const std::string& what, double target, const Do& act, const Undo& undo)
    {
        std::vector<double> acted;
        std::vector<double> undone;
        for (int round = 0; round < kRounds; ++round) {
            acted.push_back(timed(act));
            undone.push_back(timed(undo));
        }
        print(what, target, middle(std::move(acted)));
        print(what + ", undone", kUndo, middle(std::move(undone)));
    }

    static void print(const std::string& what, double target, double milliseconds)
    {
        std::printf("  %-52s %9.3f ms   target %g ms\n", what.c_str(), milliseconds, target);
    }

    std::vector<projects::Shortcut> m_all;
};

/// A window that draws, over one dense stack.
class DeepBench : public WindowHarness {
public:
    void run(std::int64_t layers)
    {
        projects::Project project = projects::findExample("linear-ancre")->project;
        project.stack().segments.resize(1);
        project.stack().segments.front().repeat = layers;
        std::get<projects::DepthMix>(project.stack().topology.wiring).sources = projects::AllSources{};
        const std::filesystem::path path = newProject(project);
        openWindow({1440, 900});
        for (CanvasWidget* canvas : m_window->workspace().canvases()) {
            auto* surface = qobject_cast<QOpenGLWidget*>(canvas->surface());
            if (surface == nullptr) {
                std::printf("no OpenGL: run it under xvfb-run\n");
                return;
            }
            connect(surface, &QOpenGLWidget::frameSwapped, this, [this] { ++m_frames; });
        }
        std::printf("%lld layers, every shortcut\n", static_cast<long long>(layers));
        const double opened = wall([&] {
            m_window->openProject(path);
            awaitFrame();
        });
        std::printf("  %-52s %9.0f ms   target 2000 ms\n", "open, until it is drawn", opened);
        std::printf("  %-52s %9.0f ms\n", "until its picture is whole", wall([&] { rest(); }));
        zooms("a step of zoom", *m_window->workspace().canvas().surface());
        rest();
        std::printf("  %-52s %9.0f ms\n", "the matrix, until it is drawn", wall([&] {
                        m_window->workspace().showCanvas(WorkspaceView::Matrix);
                        awaitFrame();
                    }));
        zooms("a step of zoom over the matrix", *m_window->workspace().matrix().surface());
        std::int64_t layer = 0;
        steps("the next layer selected, shown in every panel", [&] {
            m_window->documents().choose(LayersPlace{{++layer}});
            awaitFrame();
        });
        steps("a shortcut selected, its row in the outline", [&] {
            m_window->documents().choose(ShortcutsPlace{{{layer / 2, ++layer}}});
            awaitFrame();
        });
        steps("a shortcut pruned, until cost and problems are shown", [&] {
            ++layer;
            m_window->documents().applyEdit(
                projects::SetShortcutState{{layer / 2, layer}, projects::ShortcutState::Pruned});
            awaitFrame();
        });
        std::printf("  %-52s %9.0f MiB   target 500 MiB\n", "memory", mebibytes());
    }

private:
    static constexpr int kSteps = 20;

    template <class Step>
    void steps(const char* what, const Step& step)
    {
        std::vector<double> times;
        for (int i = 0; i < kSteps; ++i) {
            times.push_back(wall(step));
        }
        std::ranges::sort(times);
        std::printf("  %-52s %9.1f ms, the longest %.1f   target 50 ms\n", what, times[times.size() / 2], times.back());
    }

    void zooms(const char* what, QWidget& surface)
    {
        int notch = 0;
        steps(what, [&] { zoom(surface, notch++ < kSteps / 2 ? 120 : -120); });
    }

    template <class Action>
    static double wall(const Action& action)
    {
        QElapsedTimer timer;
        timer.start();
        action();
        return static_cast<double>(timer.nsecsElapsed()) * 1e-6;
    }

    void awaitFrame()
    {
        for (const int before = m_frames; m_frames == before;) {
            QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 5);
        }
    }

    /// Until no canvas is at work.
    void rest()
    {
        do {
            QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        } while (m_window->workspace().canvas().canvas().unfinished());
        QCoreApplication::processEvents();
    }

    void zoom(QWidget& surface, int notch)
    {
        const QPointF at(surface.width() / 3.0, surface.height() / 2.0);
        QWheelEvent event(at, surface.mapToGlobal(at), {}, {0, notch}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                          false);
        QCoreApplication::sendEvent(&surface, &event);
        awaitFrame();
    }

    static double mebibytes()
    {
        std::FILE* file = std::fopen("/proc/self/statm", "r");
        long total = 0;
        long resident = 0;
        if (file != nullptr) {
            static_cast<void>(std::fscanf(file, "%ld %ld", &total, &resident));
            std::fclose(file);
        }
        return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024.0 * 1024.0);
    }

    int m_frames = 0;
};

} // namespace

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    if (argc > 1 && std::string(argv[1]) == "deep") {
        for (const std::int64_t layers : {96, 172, 511}) {
            DeepBench().run(layers);
        }
        return 0;
    }
    for (const auto& [layers, stride] : {std::pair<std::int64_t, std::int64_t>{96, 1}, {1000, 100}}) {
        Bench bench;
        if (!bench.open(layers, stride)) {
            return 1;
        }
        bench.run();
    }
    return 0;
}
