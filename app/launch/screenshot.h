// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/launch_options.h"

#include <QObject>

namespace residua::app {

class MainWindow;

/// Brings a window to the state of the options and draws it to a file. Ends the event loop with 0, or with 1 and a line
/// on standard error.
class Screenshot : public QObject {
    Q_OBJECT
public:
    Screenshot(MainWindow& window, LaunchOptions options, QObject* parent = nullptr);

    /// Must be called before the event loop starts.
    void begin();

private:
    void train();
    void waitForFrames();
    /// Opens the dialog or page of the options. Returns false while its runs are being listed.
    [[nodiscard]] bool openFront();
    /// Returns the window, or a dialog alone; null if it does not exist yet.
    [[nodiscard]] QWidget* subject() const;
    void take();
    void fail(const QString& reason);

    MainWindow& m_window;
    LaunchOptions m_options;
    int m_frames = 0; ///< since everything was ready
    int m_waits = 0;  ///< frames spent waiting for the dialog or page, the devices or the runs
    bool m_opened = false;
};

/// Opens the project given on the command line. If it cannot be opened, the start page shows the error and lets the
/// user open another; for a picture it is an error, like an unknown example.
[[nodiscard]] Status openAtStart(MainWindow& window, const LaunchOptions& options);

} // namespace residua::app
