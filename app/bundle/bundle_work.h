// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/link/bundle/pack.h"
#include "engine/link/bundle/unpack.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <filesystem>
#include <memory>

namespace residua::app {

/// Packs or unpacks one bundle on another thread and reports the progress. Its destructor cancels the work.
/// GUI thread.
class BundleWork : public QObject {
    Q_OBJECT
public:
    explicit BundleWork(QObject* parent = nullptr);
    ~BundleWork() override;

    [[nodiscard]] bool isUnderWay() const { return m_state != nullptr; }
    void pack(const engine::PackRequest& request, const std::filesystem::path& file);
    void unpack(const std::filesystem::path& file, const std::filesystem::path& folder);
    /// Cancels the work; failed() follows.
    void giveUp();

signals:
    void progressed(double share);
    void packed(const residua::engine::PackedBundle& bundle);
    void unpacked(const residua::engine::UnpackedBundle& bundle);
    void failed(const QString& reason);

private:
    struct State;
    void begin();
    void end();
    [[nodiscard]] engine::BundleWatch watch() const;

    QTimer m_look;
    std::shared_ptr<State> m_state; ///< of the running work
};

} // namespace residua::app
