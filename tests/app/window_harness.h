// SPDX-License-Identifier: GPL-3.0-or-later
// A window on a real screen, over folders that go with it, and what a person does there with mouse and keyboard.
#pragma once

#include "app/canvas/canvas_widget.h"
#include "app/look/theme.h"
#include "app/window/main_window.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace residua::app {

using tests::kPatience;

/// The block that the layers of "linear-ancre" are made of.
inline const projects::GraphRef kMlpBlock = projects::GraphRef::block("mlp");

/// "linear-ancre" as it trains at once.
inline projects::Project quickExample(std::int64_t steps = 8)
{
    projects::Project project = projects::findExample("linear-ancre")->project;
    project.sweeps.clear();
    project.training.steps = steps;
    return project;
}

/// A language model that trains at once.
inline projects::Project quickLanguage()
{
    projects::Project project = projects::findExample("plain-language")->project;
    project.data.source = projects::SyntheticLanguage{.vocabulary = 32, .levels = 2, .tokens = 4000};
    project.stack().width = 16;
    project.stack().segments.front().repeat = 2;
    project.training.steps = 4;
    project.training.batch = 2;
    project.training.sequenceLength = 16;
    project.training.checkpointEvery = 2;
    project.training.validateEvery = 4;
    project.training.validationBatches = 1;
    return project;
}

/// Derive the test class from it and call openWindow in init(). GUI thread.
class WindowHarness : public QObject {
protected:
    [[nodiscard]] std::filesystem::path folder(const char* name) const
    {
        return m_folder->filePath(QString::fromLatin1(name)).toStdString();
    }

    /// Writes a project into folders of its own, and returns its path; empty when it could not be written.
    std::filesystem::path newProject(const projects::Project& project)
    {
        m_window.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        const std::filesystem::path path = folder("project");
        return projects::saveProject(path, {project, {}}).ok() ? path : std::filesystem::path();
    }

    /// A fresh window over the same folders that is not shown yet.
    void makeWindow(Memory memory = Memory::None)
    {
        m_window.reset();
        m_window = std::make_unique<MainWindow>(
            *m_look, WindowFolders{folder("drafts"), folder("Residua"), folder("blocks")}, memory);
    }

    /// A fresh window over the same folders, as after a restart.
    void openWindow(QSize size = {1280, 800}, Memory memory = Memory::None)
    {
        makeWindow(memory);
        m_window->resize(size);
        m_window->show();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

    /// Writes a project, and opens a fresh window on it.
    void openWindowOn(const projects::Project& project, QSize size = {1280, 800})
    {
        m_project = newProject(project);
        QVERIFY(!m_project.empty());
        openWindow(size);
        m_window->openProject(m_project);
    }

    [[nodiscard]] const projects::Project& project() const { return m_window->session().project(); }

    /// Whether layer `target` reads `source` in a topology that is a mix.
    [[nodiscard]] bool reads(const projects::Shortcut& shortcut) const
    {
        const auto& mix = std::get<projects::DepthMix>(project().stack().topology.wiring);
        const auto sources = sourcesOf(mix, shortcut.target, project().network.depth());
        return std::ranges::find(sources, shortcut.source) != sources.end();
    }

    /// The first widget of that name that can be seen.
    template <class T>
    [[nodiscard]] T* visible(const QString& name) const
    {
        for (T* each : m_window->findChildren<T*>(name)) {
            if (each->isVisible()) {
                return each;
            }
        }
        return nullptr;
    }

    /// Null where a canvas does not draw the thing.
    [[nodiscard]] static QPoint pointOf(const std::optional<editor::ScreenPoint>& point)
    {
        return point ? QPoint(qRound(point->x), qRound(point->y)) : QPoint();
    }

    /// Waits until the canvas has fitted its content and what `where` tells stays where it is.
    template <class Where>
    static void waitUntilStill(CanvasWidget& canvas, Where where)
    {
        QPoint last;
        QTRY_VERIFY([&] {
            const QPoint now = where();
            const bool still = !now.isNull() && now == std::exchange(last, now);
            canvas.refresh();
            return still;
        }());
    }

    static void click(CanvasWidget& canvas, QPoint at)
    {
        QTest::mouseMove(canvas.surface(), at);
        QTest::mouseClick(canvas.surface(), Qt::LeftButton, {}, at);
    }

    static void drag(CanvasWidget& canvas, QPoint from, QPoint to)
    {
        QWidget* surface = canvas.surface();
        QTest::mouseMove(surface, from);
        QTest::mousePress(surface, Qt::LeftButton, {}, from);
        QTest::mouseMove(surface, (from + to) / 2);
        QTest::mouseMove(surface, to);
        QTest::mouseRelease(surface, Qt::LeftButton, {}, to);
    }

    std::unique_ptr<Look> m_look = std::make_unique<Look>(ThemeKind::Light);
    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path m_project; ///< of the project that the test is about
    std::unique_ptr<MainWindow> m_window;
};

} // namespace residua::app
