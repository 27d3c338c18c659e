// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/shown_matrices.h"

#include "engine/base/api/row_curves.h"
#include "projects/base/text.h"

#include <QStringList>

#include <algorithm>
#include <utility>

namespace residua::visualizers {

void ShownMatrices::follow(const ShownRuns& runs)
{
    connect(&runs, &ShownRuns::frontChanged, this, [this, &runs] {
        m_hasFront = !runs.front().empty();
        m_run = runs.labelOf(runs.front());
        m_wiringName.clear();
        m_grows = runs.isGrowing(runs.front());
        clear();
    });
    connect(&runs, &ShownRuns::growingChanged, this, [this, &runs] {
        if (std::exchange(m_grows, runs.isGrowing(runs.front())) != m_grows) {
            emit changed();
        }
    });
    connect(&runs, &ShownRuns::comparedChanged, this, [this] { compareWith({}); });
    connect(&runs, &ShownRuns::labelsChanged, this, [this, &runs] {
        m_run = runs.labelOf(runs.front());
        if (!m_comparedRun.isEmpty()) { // otherwise nothing of it is shown yet
            m_comparedRun = runs.labelOf(runs.compared());
        }
        emit changed();
    });
    connect(&runs, &ShownRuns::begun, this, [this, &runs](const std::string& key) {
        const ShownRuns::Facts& facts = runs.find(key)->facts;
        if (key == runs.front()) {
            clear();
            m_run = runs.labelOf(key);
            m_wiringName = facts.wiring;
            setRun(facts.topology.wiring, facts.classes, facts.layerNames, facts.tower);
        } else if (key == runs.compared()) {
            compareWith(runs.labelOf(key));
        }
    });
    connect(&runs, &ShownRuns::added, this, [this, &runs](const std::string& key, const engine::Progress& numbers) {
        if (key == runs.front()) {
            append(numbers.matrices);
        } else if (key == runs.compared()) {
            appendCompared(numbers.matrices);
        }
    });
}

void ShownMatrices::clear()
{
    m_frames.clear();
    m_classes.clear();
    m_tower.clear();
    m_layerNames = {};
    m_kinds.clear();
    m_ports.clear();
    m_kind.clear();
    m_port = projects::MixPort::Input;
    m_wanted.reset();
    m_feature.reset();
    m_frame = 0;
    m_followsNewest = true;
    emit changed();
}

void ShownMatrices::setRun(const projects::Wiring& wiring, std::vector<std::string> classes,
                           ShownRuns::LayerNames layerNames, std::string tower)
{
    m_tower = std::move(tower);
    m_frames.setWiring(wiring);
    m_classes = std::move(classes);
    m_layerNames = std::move(layerNames);
    emit changed();
}

/// Returns the matrix by its name in the tower, if it is one to choose from.
std::optional<engine::Matrix> ShownMatrices::shown(const engine::Matrix& matrix) const
{
    const std::string& kind = matrix.name.kind;
    const std::size_t dot = kind.find('.'); // ends the name of a tower; other kinds have none
    const bool isOfFirst = dot == std::string::npos;
    const engine::MatrixName name(isOfFirst ? kind : kind.substr(dot + 1), matrix.name.port);
    if ((isOfFirst ? std::string() : kind.substr(0, dot)) != m_tower || name.isOfOutputs() != (m_of == Of::Outputs) ||
        engine::isDrawnAsCurves(name) || kind == engine::matrix::kSamples) {
        return std::nullopt;
    }
    engine::Matrix found = matrix;
    found.name = name;
    return found;
}

void ShownMatrices::append(const std::vector<engine::Matrix>& matrices)
{
    if (matrices.empty()) {
        return;
    }
    const std::optional<std::int64_t> before = step();
    for (const engine::Matrix& matrix : matrices) {
        if (const auto ofTower = shown(matrix)) {
            m_frames.append(*ofTower);
        }
    }
    takeNames();
    keepStep(before);
    keepFrame();
    emit changed();
}

void ShownMatrices::compareWith(const QString& name)
{
    m_comparedRun = name;
    m_frames.forgetCompared();
    emit changed();
}

void ShownMatrices::appendCompared(const std::vector<engine::Matrix>& matrices)
{
    std::vector<engine::Matrix> ofTower;
    for (const engine::Matrix& matrix : matrices) {
        if (auto found = shown(matrix)) {
            ofTower.push_back(*std::move(found));
        }
    }
    m_frames.appendCompared(std::move(ofTower));
    emit changed();
}

void ShownMatrices::wantFeature(std::optional<int> feature)
{
    m_wanted = feature;
    if (feature) {
        emit featureWanted(*feature);
    } else {
        dropFeature();
        keepFrame();
        emit changed();
    }
}

void ShownMatrices::setFeature(int feature, const std::vector<engine::Matrix>& matrices)
{
    dropFeature();
    m_wanted = matrices.empty() ? std::nullopt : std::optional(feature);
    m_feature = m_wanted;
    appendFeature(matrices);
    if (m_feature) {
        setKind(engine::matrix::kFeature);
    }
}

void ShownMatrices::appendFeature(const std::vector<engine::Matrix>& matrices)
{
    const std::optional<std::int64_t> before = step();
    for (engine::Matrix matrix : matrices) {
        matrix.name.kind = engine::matrix::kFeature;
        m_frames.append(matrix);
    }
    takeNames();
    keepStep(before);
    keepFrame();
    emit changed();
}

void ShownMatrices::dropFeature()
{
    m_feature.reset();
    m_frames.drop(engine::matrix::kFeature);
    if (std::erase(m_kinds, engine::matrix::kFeature) > 0) {
        const auto mix = std::ranges::find(m_kinds, engine::matrix::kMix);
        m_kind = mix != m_kinds.end() ? *mix : m_kinds.empty() ? std::string() : m_kinds.front();
    }
}

/// Adds new kinds and ports to the choices, and selects the preferred kind.
void ShownMatrices::takeNames()
{
    const auto knows = [this](projects::MixPort port) { return std::ranges::count(m_ports, port) > 0; };
    for (const auto& [kind, port] : m_frames.names()) {
        if (std::ranges::count(m_kinds, kind) == 0) {
            m_kinds.push_back(kind);
            if (m_kinds.size() == 1 ||
                kind == engine::matrix::kMix) { // applied weights are preferred to learned coefficients
                m_kind = kind;
            }
        }
        if (port != projects::MixPort::Input && !knows(port)) {
            m_ports.push_back(port);
            if (m_ports.size() == 1) {
                m_port = port;
            } else if (m_port == projects::MixPort::Final && knows(projects::MixPort::Query)) {
                m_port = projects::MixPort::Query;
            }
        }
    }
}

/// Called when there are other frames: follows the newest, or keeps the current frame.
void ShownMatrices::keepFrame()
{
    m_frame = m_followsNewest && !m_playing ? newest() : std::min(m_frame, newest());
    m_followsNewest = m_frame == newest();
}

/// Called when frames may have been left out, before keepFrame().
void ShownMatrices::keepStep(std::optional<std::int64_t> step)
{
    if (step && any() && (!m_followsNewest || m_playing)) {
        m_frame = m_frames.indexAt(series(), *step);
    }
}

CellValue ShownMatrices::valueOf(const std::string& kind) const
{
    return m_value.value_or(m_frames.startApart(kind) ? CellValue::SinceStart : CellValue::Weight);
}

void ShownMatrices::setKind(const std::string& kind)
{
    if (m_kind != kind) {
        m_kind = kind;
        keepFrame();
        emit changed();
    }
}

void ShownMatrices::setPort(projects::MixPort port)
{
    if (m_port != port) {
        m_port = port;
        keepFrame();
        emit changed();
    }
}

void ShownMatrices::setValue(CellValue value)
{
    if (m_value != value) {
        m_value = value;
        emit changed();
    }
}

std::size_t ShownMatrices::newest() const
{
    return std::max<std::size_t>(m_frames.count(series()), 1) - 1;
}

void ShownMatrices::showFrame(std::size_t frame)
{
    if (const std::size_t there = std::min(frame, newest()); there != m_frame) {
        m_frame = there;
        m_followsNewest = there == newest();
        emit changed();
    }
}

void ShownMatrices::showStep(std::int64_t step)
{
    if (any()) {
        showFrame(m_frames.indexAt(series(), step));
    }
}

void ShownMatrices::shareScale(const std::optional<projects::WeightScale>& scale)
{
    if (m_scale != scale) {
        m_scale = scale;
        emit changed();
    }
}

HeatmapFrames::Shown ShownMatrices::frameShown() const
{
    HeatmapFrames::Shown shown = m_frames.shown(series(), m_frame, value());
    shown.scale = m_scale.value_or(shown.scale);
    return shown;
}

void ShownMatrices::play(bool on)
{
    if (on && m_frame == newest()) {
        showFrame(0);
    }
    m_playing = on;
    emit changed();
}

void ShownMatrices::playOn()
{
    showFrame(m_frame + 1);
    if (m_frame == newest()) {
        play(false);
    }
}

void ShownMatrices::pin()
{
    if (const auto here = step()) {
        m_frames.pin(*here);
        m_value = CellValue::SincePinned;
        emit changed();
    }
}

std::optional<std::int64_t> ShownMatrices::step() const
{
    return any() ? std::optional(m_frames.frame(series(), m_frame).step) : std::nullopt;
}

std::vector<HeatmapFrames::Shown> ShownMatrices::framesShown() const
{
    const auto here = step();
    auto frames = here ? m_frames.shownAt(*here, [this](const std::string& kind) { return valueOf(kind); })
                       : std::vector<HeatmapFrames::Shown>();
    for (HeatmapFrames::Shown& each : frames) {
        if (m_scale && each.matrix.name.kind == m_kind) {
            each.scale = *m_scale;
        }
    }
    return frames;
}

QString ShownMatrices::whose() const
{
    if (!m_hasFront) {
        return tr("No run is in front: select one in Runs and press Show.");
    }
    if (m_run.isEmpty()) {
        return tr("The run is being read.");
    }
    QStringList parts{m_run};
    if (!m_wiringName.isEmpty()) {
        parts << m_wiringName;
    }
    const auto text = [](std::int64_t number) { return QString::fromStdString(groupedText(number)); };
    if (const auto here = step()) {
        const std::int64_t last = m_frames.frame(series(), newest()).step;
        parts << (*here == last ? tr("step %1").arg(text(*here))
                                : tr("step %1, the newest is %2").arg(text(*here), text(last)));
    } else {
        parts << tr("nothing recorded");
    }
    parts << (m_grows ? tr("live") : tr("stored"));
    return parts.join(QStringLiteral(" · "));
}

void ShownMatrices::setRemark(const QString& remark)
{
    if (m_remark != remark) {
        m_remark = remark;
        emit remarkChanged();
    }
}

QString ShownMatrices::titleOf(CellValue value, const engine::MatrixName& name) const
{
    const auto since = [](std::int64_t step) {
        return tr("change since step %1").arg(QString::fromStdString(groupedText(step)));
    };
    switch (value) {
    case CellValue::Weight:
        break;
    case CellValue::SinceStart:
        return since(m_frames.count(name) > 0 ? m_frames.frame(name, 0).step : 0);
    case CellValue::SincePinned:
        return since(m_frames.pinned());
    case CellValue::AgainstRun:
        return m_comparedRun.isEmpty() ? tr("show another run to compare with") : tr("less %1").arg(m_comparedRun);
    case CellValue::LogOfRowMax:
        return tr("log(pᵢⱼ / maxᵢ pᵢⱼ)");
    }
    return {};
}

} // namespace residua::visualizers
