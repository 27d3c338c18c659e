// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/launch_options.h"

#include <QObject>

namespace residua::app {

class MainWindow;

/// Brings a window to the state that the options ask for and draws it to a file. Ends the event loop with 0,
/// or with 1 and a line on standard error.
class Screenshot : public QObject {
    Q_OBJECT
public:
    Screenshot(MainWindow& window, LaunchOptions options, QObject* parent = nullptr);

    /// Call before the event loop starts.
    void begin();

private:
    void train();
    void waitForFrames();
    /// Opens the dialog or page in front of the workspace that the command line names. False: its runs are still being
    /// listed.
    [[nodiscard]] bool openFront();
    /// The window, or a dialog alone; none: it is not there yet.
    [[nodiscard]] QWidget* subject() const;
    void take();
    void fail(const QString& reason);

    MainWindow& m_window;
    LaunchOptions m_options;
    int m_frames = 0; ///< since all was there
    int m_waits = 0;  ///< frames spent waiting for the dialog or page, the devices or the runs
    bool m_opened = false;
};

/// Opens what the command line names. A project that cannot be opened is told on the start page, where a person can
/// open another; for a picture it is an error, as an unknown example always is.
[[nodiscard]] Status openAtStart(MainWindow& window, const LaunchOptions& options);

} // namespace residua::app
