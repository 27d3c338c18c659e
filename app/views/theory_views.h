// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/edit/history.h"

#include <QObject>
#include <QTimer>

#include <cstdint>
#include <functional>

namespace residua::visualizers {
class TheoryView;
struct TheoryNumbers;
} // namespace residua::visualizers

namespace residua::app {

class DocumentSession;

/// Updates the theory panel from the open project, or from the numbers that it asks for. Eigenvalues are computed on
/// another thread, and only while the panel is visible. Session and panel must outlive this object. GUI thread.
class TheoryViews : public QObject {
    Q_OBJECT
public:
    TheoryViews(const DocumentSession& session, visualizers::TheoryView& view, QObject* parent = nullptr);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void update();
    void compute(std::function<Result<visualizers::TheoryNumbers>()> work);

    const DocumentSession& m_session;
    visualizers::TheoryView& m_view;
    QTimer m_soon{this};
    projects::ProjectSnapshot m_shown; ///< the project of the panel's numbers; null: none
    std::uint64_t m_asked = 0;         ///< answers to older requests are dropped
};

} // namespace residua::app
