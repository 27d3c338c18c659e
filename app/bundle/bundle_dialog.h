// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "engine/link/bundle/pack.h"
#include "engine/link/bundle/unpack.h"

#include <QComboBox>
#include <QString>
#include <QTimer>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

class QLineEdit;
class QPushButton;

namespace residua::app {

/// The base of the dialogs for packing and unpacking: asks for a place, and then shows the progress of the work on
/// another thread until it is complete or cancelled. The destructor cancels it. Not modal.
class BundleDialog : public AskDialog {
    Q_OBJECT
public:
    ~BundleDialog() override;
    [[nodiscard]] std::filesystem::path place() const;

signals:
    void packed(const residua::engine::PackedBundle& bundle, const QString& file);
    void unpacked(const residua::engine::UnpackedBundle& bundle);

protected:
    BundleDialog(const QString& name, const Words& words, QWidget* parent);

    /// Adds a row with `caption`, the place, and a button that asks for another place.
    void addPlace(const QString& caption, const std::filesystem::path& proposal);
    [[nodiscard]] bool isUnderWay() const { return m_state != nullptr; }
    /// Calls `work` with an engine::BundleWatch on another thread, and `done` with its result before the dialog closes.
    template <class Work, class Done>
    void carryOut(Work work, Done done);
    void refuse(const QString& reason) override;
    [[nodiscard]] QLineEdit& placeField() { return *m_place; }
    void reject() override;

private:
    /// The state shared by the GUI thread and the worker.
    struct State {
        std::atomic<double> share{0};
        std::atomic<bool> wanted{true};
    };

    /// Asks for another place. Returns an empty text if the user cancels.
    [[nodiscard]] virtual QString askForPlace() = 0;
    virtual void start() = 0;
    void begin() final;
    void setPlaceEnabled(bool enabled);

    QLineEdit* m_place;
    QPushButton* m_other = nullptr; ///< asks for another place
    QTimer m_look;
    std::shared_ptr<State> m_state; ///< of the running work
};

/// Asks which parts of a project or run are packed into one file, and for the file's place. Shows the size.
class TakeAlongDialog : public BundleDialog {
    Q_OBJECT
public:
    /// `source` is the project's folder or a run's directory; `name` is its name.
    TakeAlongDialog(std::filesystem::path source, const QString& name, const std::filesystem::path& proposal,
                    QWidget* parent = nullptr);

private:
    [[nodiscard]] QString askForPlace() override;
    void start() override;
    void refuse(const QString& reason) override;
    void weigh();
    [[nodiscard]] engine::PackRequest request() const;

    std::filesystem::path m_source;
    QComboBox* m_checkpoints = new QComboBox(this);
    QComboBox* m_data = new QComboBox(this);
    std::uint64_t m_weighed = 0; ///< answers about older choices are dropped
};

/// Describes the contents of a bundle, asks for a folder, and unpacks it there.
class BringBackDialog : public BundleDialog {
    Q_OBJECT
public:
    enum class Into { NewFolder, SameProject };

    /// `proposal` is the initial folder to unpack into; for SameProject, that of the runs' project.
    BringBackDialog(std::filesystem::path file, const engine::BundleContents& contents,
                    const std::filesystem::path& proposal, Into into, QWidget* parent = nullptr);

private:
    [[nodiscard]] QString askForPlace() override;
    [[nodiscard]] QString placeIn(const QString& folder);
    void start() override;

    std::filesystem::path m_file;
};

} // namespace residua::app
