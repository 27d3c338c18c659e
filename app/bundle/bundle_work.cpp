// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/bundle/bundle_work.h"

#include "app/engine/background.h"

#include <atomic>
#include <chrono>

namespace residua::app {

namespace {

constexpr std::chrono::milliseconds kLook{50};

} // namespace

/// The state shared by the GUI thread and the worker.
struct BundleWork::State {
    std::atomic<double> share{0};
    std::atomic<bool> wanted{true};
};

BundleWork::BundleWork(QObject* parent) : QObject(parent)
{
    m_look.setInterval(kLook);
    connect(&m_look, &QTimer::timeout, this, [this] {
        if (m_state) {
            emit progressed(m_state->share);
        }
    });
}

BundleWork::~BundleWork()
{
    giveUp();
}

void BundleWork::giveUp()
{
    if (m_state) {
        m_state->wanted = false;
    }
}

void BundleWork::begin()
{
    m_state = std::make_shared<State>();
    m_look.start();
}

void BundleWork::end()
{
    m_look.stop();
    m_state.reset();
}

engine::BundleWatch BundleWork::watch() const
{
    return [state = m_state](double share) {
        state->share = share;
        return state->wanted.load();
    };
}

void BundleWork::pack(const engine::PackRequest& request, const std::filesystem::path& file)
{
    begin();
    inBackground(
        this, [request, file, watched = watch()] { return engine::pack(request, file, watched); },
        [this](const Result<engine::PackedBundle>& bundle) {
            end();
            if (bundle) {
                emit packed(*bundle);
            } else {
                emit failed(QString::fromStdString(bundle.error().text()));
            }
        });
}

void BundleWork::unpack(const std::filesystem::path& file, const std::filesystem::path& folder)
{
    begin();
    inBackground(
        this, [file, folder, watched = watch()] { return engine::unpack(file, folder, watched); },
        [this](const Result<engine::UnpackedBundle>& bundle) {
            end();
            if (bundle) {
                emit unpacked(*bundle);
            } else {
                emit failed(QString::fromStdString(bundle.error().text()));
            }
        });
}

} // namespace residua::app
