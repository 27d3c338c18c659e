// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"

#include <QWidget>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

class QCheckBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace residua::app {

/// Texts that a run's language model continues, one below the other by checkpoint: when asked for, and after each
/// checkpoint of the run that trains, while the panel is seen. GUI thread.
class SamplesPanel : public QWidget {
    Q_OBJECT
public:
    explicit SamplesPanel(QWidget* parent = nullptr);

    /// The run that is sampled and whose texts are shown; an empty directory: none.
    void setRun(const std::string& directory, const QString& name);
    /// A checkpoint of this run was written.
    void noticeCheckpoint(const std::string& directory);
    void take(const std::string& directory, const engine::SampleReady& sample);
    void refuse(const std::string& directory, const QString& reason);
    /// Asks for a text now.
    void sample();

signals:
    /// Asks for a text of the run's last checkpoint. The answer comes by take() or refuse().
    void sampleRequested(const residua::engine::SampleRequest& request);

private:
    struct Sample {
        std::int64_t step = 0;
        QString text;
    };

    void layOut();
    void showTexts();

    std::string m_run;
    std::map<std::string, std::vector<Sample>> m_samples; ///< by run, as they came
    QLineEdit* m_prompt;
    QSpinBox* m_tokens;
    QDoubleSpinBox* m_temperature;
    QCheckBox* m_live;
    QPushButton* m_sample;
    QPlainTextEdit* m_texts;
    QLabel* m_state; ///< what is being done, or what went wrong
};

} // namespace residua::app
