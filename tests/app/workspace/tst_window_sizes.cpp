// SPDX-License-Identifier: GPL-3.0-or-later
// Small windows, and docks that keep their size.
#include "app/bundle/bundle_dialog.h"
#include "app/commands/key_bindings.h"
#include "app/engine/engine_bridge.h"
#include "app/help/help_window.h"
#include "app/runs/checkpoint_dialogs.h"
#include "app/runs/go_on_dialog.h"
#include "app/runs/remotes_dialog.h"
#include "app/runs/run_comparison_dialog.h"
#include "app/runs/weights_dialog.h"
#include "app/start/fed_dialog.h"
#include "app/start/import_dialog.h"
#include "app/start/new_project_dialog.h"
#include "app/start/tokeniser_dialog.h"
#include "app/views/run_settings_dialog.h"
#include "app/workspace/layouts.h"
#include "projects/shipped/examples.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QSettings>
#include <QTabBar>
#include <QToolButton>
#include <qcustomplot.h>

#include <functional>
#include <memory>
#include <variant>

using namespace residua;
using namespace residua::app;

class TestWindowSizes : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        m_project = newProject(projects::findExample("linear-ancre")->project);
        QVERIFY(!m_project.empty());
    }

    void cleanup() { m_window.reset(); }

    /// Not wider than the smallest screen, whatever stands in bars and status line; every part keeps some room.
    void aSmallWindowHoldsEverything()
    {
        openWindow({640, 480});
        QCOMPARE(m_window->size(), QSize(640, 480)); // the start page
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        QVERIFY2(m_window->minimumSizeHint().width() <= 640, qPrintable(text(m_window->minimumSizeHint())));
        QVERIFY2(m_window->minimumSizeHint().height() <= 480, qPrintable(text(m_window->minimumSizeHint())));
        QCOMPARE(m_window->size(), QSize(640, 480));
        const QSize canvas = m_window->workspace().canvas().size();
        QVERIFY2(canvas.width() >= 200 && canvas.height() >= 80, qPrintable(text(canvas)));
        QVERIFY(dock("lossDock")->height() >= 90);
    }

    void everyLayoutFitsAScreenAtTwiceTheSize_data()
    {
        QTest::addColumn<QSize>("size");
        for (const QSize size : {QSize(720, 450), QSize(800, 500)}) { // of 1440 × 900 and 1600 × 1000 pixels
            QTest::newRow(qPrintable(text(size))) << size;
        }
    }

    /// For every layout and every panel in front.
    void everyLayoutFitsAScreenAtTwiceTheSize()
    {
        QFETCH(QSize, size);
        openWindow(size);
        QVERIFY2(m_window->minimumSizeHint().width() <= size.width(), qPrintable(text(m_window->minimumSizeHint())));
        m_window->openProject(m_project);
        for (const Layout& layout : layouts()) {
            m_window->workspace().applyLayout(layout);
            for (QDockWidget* each : m_window->workspace().docks()) {
                if (!each->isHidden()) {
                    each->raise();
                }
                QCoreApplication::processEvents();
                const QSize least = m_window->minimumSizeHint();
                QVERIFY2(least.width() <= size.width() && least.height() <= size.height(),
                         qPrintable(layout.text() + ", " + each->windowTitle() + ": " + text(least)));
            }
            QCOMPARE(m_window->size(), size);
        }
        for (const QTabBar* tabs : m_window->workspace().findChildren<QTabBar*>(Qt::FindDirectChildrenOnly)) {
            for (int tab = 0; tab < tabs->count() && tabs->isVisible(); ++tab) { // else some are scrolled to
                QVERIFY(tabs->tabRect(tab).width() > tabs->fontMetrics().horizontalAdvance(tabs->tabText(tab)));
            }
            for (QToolButton* scroll : tabs->findChildren<QToolButton*>()) {
                QVERIFY(!scroll->isVisible() || !scroll->isEnabled() || hasPicture(*scroll));
            }
        }
        for (const char* name : {"deviceChooser", "topologyChooser"}) {
            const auto* choice = m_window->findChild<QComboBox*>(name);
            QVERIFY(choice->isVisible());
            QTRY_VERIFY2(choice->currentIndex() >= 0, name); // the engine sends the devices
            QTRY_VERIFY2(choice->width() > choice->fontMetrics().horizontalAdvance(choice->currentText()) + 24, name);
        }
    }

    /// Panels beside each other would make the window wider than the screen.
    void aLayoutThatIsTooWideIsNotRestored()
    {
        QSettings().clear();
        openWindow({1600, 850}, Memory::UserSettings);
        m_window->openProject(m_project);
        press("layout:train");
        m_window->close();
        openWindow({1500, 850}, Memory::UserSettings);
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        QVERIFY(isSeen("lossDock", 200) && isSeen("heatmapDock", 200)); // there is room for them
        m_window->close();
        openWindow({720, 450}, Memory::UserSettings);
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        QCOMPARE(m_window->width(), 720);
        m_window->close();
        QSettings().clear();
    }

    void theFirstWindowFitsTheScreen()
    {
        const QSize screen = QGuiApplication::primaryScreen()->availableSize();
        MainWindow window(*m_look, WindowFolders{folder("drafts"), folder("Residua"), {}}, Memory::None);
        QVERIFY(window.width() <= screen.width() && window.height() <= screen.height());
    }

    void longTextsOfANewProjectAreNotCut_data()
    {
        QTest::addColumn<QSize>("size");
        for (const QSize size : {QSize(860, 620), QSize(784, 452)}) { // the second at twice the size on 1600 × 1000
            QTest::newRow(qPrintable(text(size))) << size;
        }
    }

    /// The rest is scrolled to.
    void longTextsOfANewProjectAreNotCut()
    {
        QFETCH(QSize, size);
        openWindow({640, 480});
        EngineBridge engine;
        NewProjectDialog made(engine, {projects::DeviceKind::Cpu, 1e9});
        made.resize(size);
        made.show();
        QVERIFY(QTest::qWaitForWindowExposed(&made));
        for (const char* name : {"newAmount", "newTotal", "newProblem"}) {
            auto* label = made.findChild<QLabel*>(name);
            label->setText(QString("the classes in the order of the outputs: daisy, rose, tulip ").repeated(6));
            label->show();
            QTRY_VERIFY2(label->height() >= label->heightForWidth(label->width()), name);
            QVERIFY2(label->width() >= label->minimumSizeHint().width(), name);
        }
        const auto* scroll = made.findChild<QAbstractScrollArea*>();
        QVERIFY2(scroll->viewport()->width() >= scroll->viewport()->childrenRect().width(), qPrintable(text(size)));
    }

    void dialogsFitASmallScreen_data()
    {
        using projects::DeviceKind;
        using Made = std::function<std::unique_ptr<QDialog>(EngineBridge&)>;
        const std::string run = "/projects/project/runs/a-run-with-a-rather-long-name-of-its-own";
        GoOnSource source;
        source.info.directory = run;
        source.project = quickLanguage();
        source.checkpoints = {2, 4};
        RunComparison comparison;
        comparison.first = source.info;
        comparison.second = source.info;
        engine::BundleContents bundle;
        bundle.project = "project";
        bundle.runs = {"runs/a-run"};
        QTest::addColumn<Made>("make");
        const auto row = [](const char* name, Made make) { QTest::newRow(name) << std::move(make); };
        for (std::size_t kind = 0; kind < std::variant_size_v<projects::Source>; ++kind) {
            row(qPrintable(QStringLiteral("new project, data %1").arg(kind)), [kind](EngineBridge& engine) {
                auto made = std::make_unique<NewProjectDialog>(engine, CostView::Device{DeviceKind::Cpu, 1e9});
                auto* data = made->findChild<QComboBox*>("newData");
                data->setCurrentIndex(data->findData(static_cast<int>(kind)));
                return made;
            });
        }
        row("import", [](EngineBridge& engine) { return std::make_unique<ImportDialog>(engine, "/projects"); });
        for (const auto kind : {WeightsDialog::Kind::Load, WeightsDialog::Kind::Teach}) {
            row(kind == WeightsDialog::Kind::Load ? "first weights" : "teach", [kind](EngineBridge& engine) {
                return std::make_unique<WeightsDialog>(engine, kind, [] { return std::optional<OntoProject>(); });
            });
        }
        row("tokeniser", [](EngineBridge& engine) {
            return std::make_unique<TokeniserDialog>(engine,
                                                     TokeniserDialog::Subject{"/data/text.txt", "text", "/projects"});
        });
        row("first batch",
            [this](EngineBridge&) { return std::make_unique<FedDialog>(quickLanguage(), m_project, nullptr); });
        row("fetch", [source](EngineBridge&) { return std::make_unique<FetchDialog>(source); });
        row("export", [source](EngineBridge&) { return std::make_unique<ExportDialog>(source, "/exported/network"); });
        for (const auto& [name, kind] :
             {std::pair{"resume", GoOnKind::Resume}, std::pair{"fork", GoOnKind::Fork},
              std::pair{"retrofit", GoOnKind::Retrofit}, std::pair{"factorise", GoOnKind::Factorise}}) {
            row(name, [source, kind = kind](EngineBridge&) {
                return std::make_unique<GoOnDialog>(kind, source, quickExample());
            });
        }
        row("tie", [source](EngineBridge&) {
            return std::make_unique<GoOnDialog>(GoOnKind::Retrofit, source, quickExample(),
                                                GoOnStart{.measured = true, .prune = {}, .ties = true});
        });
        engine::RemoteUnknown unknown;
        unknown.runDirectory = run;
        unknown.place = "cluster";
        unknown.folder = "/scratch/runs";
        unknown.formerCommand = "ssh somebody@a.host.of.a.cluster residua-engine";
        row("unknown remote", [unknown](EngineBridge&) {
            return std::make_unique<UnknownRemoteDialog>(unknown, engine::EngineRemote{}, nullptr);
        });
        row("remotes", [](EngineBridge&) {
            return std::make_unique<RemotesDialog>(std::vector<engine::EngineRemote>{}, nullptr);
        });
        row("comparison", [comparison](EngineBridge&) {
            return std::make_unique<RunComparisonDialog>(comparison, RunColours{}, resources::Theme::Light);
        });
        row("settings of a run",
            [this](EngineBridge&) { return std::make_unique<RunSettingsDialog>("a-run", quickLanguage(), *m_look); });
        row("pack", [this](EngineBridge&) {
            return std::make_unique<TakeAlongDialog>(m_project, "project", "/bundles/project.residua");
        });
        row("unpack", [bundle](EngineBridge&) {
            return std::make_unique<BringBackDialog>("/bundles/project.residua", bundle, "/projects/project",
                                                     BringBackDialog::Into::NewFolder);
        });
        row("keys", [this](EngineBridge&) { return std::make_unique<KeysDialog>(m_bindings); });
        row("help", [this](EngineBridge&) { return std::make_unique<HelpWindow>(*m_look); });
    }

    /// Also at twice the size on a small screen, where half as many pixels are left: nothing is scrolled sideways, and
    /// the buttons stay in sight.
    void dialogsFitASmallScreen()
    {
        QFETCH(std::function<std::unique_ptr<QDialog>(EngineBridge&)>, make);
        const QSize screen(640 - 16, 480 - 48);
        EngineBridge engine;
        const std::unique_ptr<QDialog> dialog = make(engine);
        dialog->setAttribute(Qt::WA_DeleteOnClose, false);
        const QSize available = dialog->screen()->availableSize();
        QVERIFY(dialog->width() <= available.width() && dialog->height() <= available.height());
        dialog->show();
        QVERIFY(QTest::qWaitForWindowExposed(dialog.get()));
        dialog->resize(screen);
        QCoreApplication::processEvents();
        QVERIFY2(dialog->width() <= screen.width() && dialog->height() <= screen.height(),
                 qPrintable(text(dialog->size())));
        for (const auto* area : dialog->findChildren<QAbstractScrollArea*>()) {
            QVERIFY2(!area->isVisible() || !area->horizontalScrollBar()->isVisible(),
                     qPrintable(QLatin1String(area->metaObject()->className()) + ' ' + area->objectName()));
        }
        for (const auto* button : dialog->findChildren<QPushButton*>()) {
            const bool ends = qobject_cast<const QDialogButtonBox*>(button->parentWidget()) && button->isVisible();
            QVERIFY2(!ends || dialog->rect().contains(QRect(button->mapTo(dialog.get(), QPoint()), button->size())),
                     qPrintable(button->text()));
        }
    }

    /// Docks give way to the canvas in a small window, and have their room again in a large one.
    void docksComeBackToTheirSize()
    {
        openWindow({1400, 900});
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        const int left = dock("outlineDock")->width();
        const int right = dock("inspectorDock")->width();
        const int below = dock("lossDock")->height();
        QCOMPARE(left, DockExtents{}.left);
        QCOMPARE(right, DockExtents{}.right);
        QVERIFY(below > 200);
        m_window->resize(900, 560);
        QCoreApplication::processEvents();
        QVERIFY(dock("outlineDock")->width() < left);
        QVERIFY(dock("lossDock")->height() < below);
        QVERIFY(m_window->workspace().canvas().width() > 300);
        m_window->resize(1400, 900);
        QCoreApplication::processEvents();
        QCOMPARE(dock("outlineDock")->width(), left);
        QCOMPARE(dock("inspectorDock")->width(), right);
        QCOMPARE(dock("lossDock")->height(), below);
    }

    /// A border that a user dragged stays after a resize.
    void aDraggedBorderIsKept()
    {
        openWindow({1400, 900});
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        Workspace& workspace = m_window->workspace();
        workspace.resizeDocks({dock("outlineDock")}, {220}, Qt::Horizontal); // as a drag of its border does
        QCoreApplication::processEvents();
        QTest::mouseRelease(&workspace, Qt::LeftButton);
        QCOMPARE(workspace.dockExtents().left, 220);
        QCOMPARE(workspace.dockExtents().right, DockExtents{}.right);
        m_window->resize(1000, 700);
        QCoreApplication::processEvents();
        m_window->resize(1400, 900);
        QCoreApplication::processEvents();
        QCOMPARE(dock("outlineDock")->width(), 220);
    }

    void extentsLeaveTheCentreTheLargestPart()
    {
        const DockExtents wide = fitting({}, {1600, 900});
        QCOMPARE(wide, DockExtents{});
        const DockExtents narrow = fitting({}, {900, 500});
        QVERIFY(narrow.left + narrow.right < 900 - 360);
        QCOMPARE(DockExtents::fromSetting(DockExtents{200, 310, 0.4}.toSetting()), (DockExtents{200, 310, 0.4}));
        QVERIFY(!DockExtents::fromSetting({}));
        QVERIFY(!DockExtents::fromSetting(QVariantList{0, 310, 0.4}));
    }

    void controlsHaveTheirRoom_data()
    {
        QTest::addColumn<QSize>("size");
        for (const QSize size : {QSize(1280, 800), QSize(1440, 900), QSize(1600, 900), QSize(2560, 1440)}) {
            QTest::newRow(qPrintable(text(size))) << size;
        }
    }

    /// In every layout, whichever panel is in front.
    void controlsHaveTheirRoom()
    {
        QFETCH(QSize, size);
        openWindow(size);
        m_window->openProject(m_project);
        for (const Layout& layout : layouts()) {
            m_window->workspace().applyLayout(layout);
            for (QDockWidget* each : m_window->workspace().docks()) {
                if (each->isHidden()) {
                    continue;
                }
                each->raise();
                QCoreApplication::processEvents();
                const QString problem = problemOf(*each->widget());
                QVERIFY2(problem.isEmpty(), qPrintable(layout.text() + ", " + each->windowTitle() + ": " + problem));
            }
        }
    }

    void theDefaultLayoutHasOneTabGroupBelow()
    {
        openWindow({2560, 1440});
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        QVERIFY(m_window->workspace().tabifiedDockWidgets(dock("lossDock")).contains(dock("heatmapDock")));
    }

    void aLayoutGivesRoomToWhatItIsFor()
    {
        openWindow({1440, 900});
        m_window->openProject(m_project);
        press("layout:train");
        QVERIFY(isSeen("lossDock", 420) && isSeen("heatmapDock", 420) && isSeen("inspectorDock", 300));
        QVERIFY(!isSeen("runsDock", 1) && !isSeen("outlineDock", 1));
        press("layout:compare");
        QVERIFY(isSeen("lossDock", 600) && isSeen("runsDock", 600));
        QVERIFY(dock("runsDock")->height() > 400);
        press("layout:design");
        QVERIFY(isSeen("outlineDock", 200) && isSeen("inspectorDock", 300) && isSeen("lossDock", 700));
        QVERIFY(m_window->workspace().canvas().height() > dock("lossDock")->height());
    }

private:
    /// By its key, as a person does.
    void press(const QString& layout)
    {
        const auto* action = m_window->findChild<QAction*>(layout);
        QVERIFY(action);
        QTest::keySequence(m_window.get(), action->shortcut());
        QCoreApplication::processEvents();
    }

    static bool hasPicture(QWidget& widget)
    {
        const QImage image = widget.grab().toImage();
        for (int x = 0; x < image.width(); ++x) {
            if (image.pixel(x, image.height() / 2) != image.pixel(0, image.height() / 2)) {
                return true;
            }
        }
        return false;
    }

    bool isSeen(const char* name, int width)
    {
        return !dock(name)->visibleRegion().isEmpty() && dock(name)->width() >= width;
    }

    /// Names the first control of a panel that is cut or squeezed; empty if there is none.
    static QString problemOf(const QWidget& panel)
    {
        for (const QWidget* each : panel.findChildren<QWidget*>()) {
            const bool control = qobject_cast<const QAbstractButton*>(each) || qobject_cast<const QComboBox*>(each);
            const bool plot = qobject_cast<const QCustomPlot*>(each) != nullptr;
            if (!each->isVisible() || isScrolled(*each, panel) || !(control || plot)) {
                continue;
            }
            const QRect place(each->mapTo(&panel, QPoint()), each->size());
            const QSize least = plot ? QSize(200, 110) : each->minimumSizeHint();
            if (!panel.rect().contains(place) || each->width() < least.width() || each->height() < least.height()) {
                return each->metaObject()->className() + QLatin1Char(' ') + each->objectName() + " at " +
                       text(each->size());
            }
        }
        return {};
    }

    static bool isScrolled(const QWidget& widget, const QWidget& panel)
    {
        for (const QWidget* each = widget.parentWidget(); each != &panel; each = each->parentWidget()) {
            if (qobject_cast<const QAbstractScrollArea*>(each)) {
                return true;
            }
        }
        return false;
    }

    static QString text(QSize size) { return QStringLiteral("%1 x %2").arg(size.width()).arg(size.height()); }
    QDockWidget* dock(const char* name) { return m_window->findChild<QDockWidget*>(QLatin1String(name)); }

    KeyBindings m_bindings{{}};
};

RESIDUA_TEST_IN(QApplication, TestWindowSizes)
#include "tst_window_sizes.moc"
