// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/history.h"

#include <QObject>
#include <QTimer>

#include <cstdint>

namespace residua::visualizers {
class TheoryView;
} // namespace residua::visualizers

namespace residua::app {

class DocumentSession;

/// Keeps the theory panel at what theorems say of the open project. Their eigenvalues are worked out on another thread,
/// and only while the panel can be seen. Session and panel outlive it. GUI thread.
class TheoryViews : public QObject {
    Q_OBJECT
public:
    TheoryViews(const DocumentSession& session, visualizers::TheoryView& view, QObject* parent = nullptr);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void update();

    const DocumentSession& m_session;
    visualizers::TheoryView& m_view;
    QTimer m_soon{this};
    projects::ProjectSnapshot m_shown; ///< what the panel's numbers are of; null: none
    std::uint64_t m_asked = 0;         ///< an answer to an older question is dropped
};

} // namespace residua::app
