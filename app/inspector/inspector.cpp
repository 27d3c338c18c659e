// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector/inspector.h"

#include "app/help/help_page.h"
#include "app/inspector/cost_view.h"
#include "app/inspector/mixture_editor.h"
#include "app/inspector/property_editor.h"
#include "app/look/theme.h"
#include "visualizers/plot/arrange.h"

#include <QAction>
#include <QApplication>
#include <QGridLayout>
#include <QLineEdit>
#include <QMenu>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <ranges>
#include <utility>

namespace residua::app {
namespace {

constexpr std::size_t kLines = 8;     ///< further lines are counted, and listed in the tooltip
constexpr std::size_t kTipLines = 40; ///< more do not fit on a screen; the outline lists all

enum Column { Title, Editor, Unit, Reset };
constexpr int kMargin = 12;
constexpr const char* kSourceKind = "/data/source/kind";
constexpr int kFormPosition = 4; ///< below title, subtitle, explanation and a gap

QLabel* label(const QString& role, QWidget* parent)
{
    auto* made = new QLabel(parent);
    made->setProperty("role", role);
    made->setWordWrap(true);
    return made;
}

} // namespace

CustomNotice::CustomNotice(QWidget* parent) : QFrame(parent)
{
    setObjectName(QStringLiteral("customNotice"));
    m_title->setProperty("role", QStringLiteral("heading"));
    m_title->setWordWrap(true);
    visualizers::setNames(*m_changes, "customChanges", tr("What differs from the preset"));
    m_changes->setTextFormat(Qt::PlainText);
    m_changes->setWordWrap(true);
    m_changes->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_button->setObjectName(QStringLiteral("backToPreset"));
    visualizers::makeColumn(this, {QMargins(10, 8, 10, 8), 6}, {m_title, m_changes, {m_button, 0, Qt::AlignLeft}});
    connect(m_button, &QPushButton::clicked, this, [this] { emit backRequested(projects::Edit(m_back)); });
    hide();
}

void CustomNotice::setCustomisation(std::optional<Customisation> customisation)
{
    setVisible(customisation.has_value());
    if (!customisation) {
        return;
    }
    const auto listed = [&changes = customisation->changes](std::size_t most) {
        QStringList lines;
        for (const projects::Change& change : changes | std::views::take(most)) {
            lines << QString::fromStdString(change.text());
        }
        if (changes.size() > most) {
            lines << tr("… and %n more", nullptr, static_cast<int>(changes.size() - most));
        }
        return lines.join(QLatin1Char('\n'));
    };
    m_title->setText(customisation->title());
    m_changes->setText(listed(kLines));
    m_changes->setToolTip(listed(kTipLines));
    m_button->setText(tr("Back to %1").arg(QString::fromStdString(customisation->preset.title)));
    m_back = std::move(customisation->goBack);
}

Inspector::Inspector(QWidget* parent)
    : QWidget(parent),
      m_title(label(QStringLiteral("title"), this)),
      m_subtitle(label(QStringLiteral("muted"), this)),
      m_custom(new CustomNotice(this)),
      m_problems(label(QStringLiteral("error"), this)),
      m_mixture(new MixtureEditor(MixtureEditor::FieldMenus::Asked, this)),
      m_cost(new CostView),
      m_reference(label(QStringLiteral("muted"), this))
{
    setObjectName(QStringLiteral("inspector"));
    setAttribute(Qt::WA_StyledBackground);
    m_body->setObjectName(QStringLiteral("inspectorBody"));
    auto* body = visualizers::makeColumn(
        m_body, {QMargins(kMargin, kMargin, kMargin, kMargin), 4},
        {m_title, m_subtitle, {m_explain, 0, Qt::AlignLeft}, visualizers::space(6), visualizers::space(10)});
    m_problems->setObjectName(QStringLiteral("placeProblems"));
    m_problems->hide();
    body->addWidget(m_problems); // below the fields, which must not move under the pointer when it appears
    body->addWidget(m_custom);   // likewise
    body->addWidget(m_cost);
    body->addStretch();

    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus); // its fields have the focus, and are scrolled to
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(m_body);
    auto* layout = visualizers::makeColumn(this, visualizers::kNoRoom, {{scroll, 1}});
    m_reference->setObjectName(QStringLiteral("propertyReference"));
    m_reference->setContentsMargins(kMargin, 6, kMargin, 8);
    m_reference->hide();
    layout->addWidget(m_reference); // below, so that nothing moves under the pointer
    connect(qApp, &QApplication::focusChanged, this, &Inspector::showReference);
    connect(m_custom, &CustomNotice::backRequested, this, &Inspector::editRequested);
    m_mixture->hide();
    connect(m_mixture, &MixtureEditor::edited, this, &Inspector::edited);
    connect(m_mixture, &MixtureEditor::editRequested, this, &Inspector::editRequested);
    connect(m_mixture, &MixtureEditor::menuRequested, this,
            [this](const Property& property, QWidget* over, const QPoint& at) { openMenu(property, *over, at); });
    visualizers::setNames(*m_explain, "explainPlace", {}, tr("Equation, start, cost and source"));
    m_explain->setText(tr("What this computes"));
    connect(m_explain, &QToolButton::clicked, this, [this] { emit explainRequested(m_word); });
}

void Inspector::show(const projects::Project& project, const Place& place)
{
    const bool samePlace = place == m_place;
    m_place = place;
    m_title->setText(titleOf(project, place));
    const QString subtitle = subtitleOf(project, place);
    m_subtitle->setText(subtitle);
    m_subtitle->setVisible(!subtitle.isEmpty());
    m_word = helpWordOf(project, place);
    m_explain->setVisible(!m_word.empty());
    const bool wiring = place == Place(SectionPlace{Section::Topology});
    m_custom->setCustomisation(wiring ? customisationOf(project) : std::nullopt);
    std::vector<Property> properties = propertiesOf(project, place);
    // The texts of a mixture have an editor of their own, because they can be added and removed.
    std::erase_if(properties, [](const Property& property) { return property.key.starts_with(kMixtureParts); });
    const bool mixture = place == Place(SectionPlace{Section::Data}) &&
                         std::holds_alternative<projects::MixtureData>(project.data.source);
    if (mixture) {
        m_mixture->show(project);
    }
    if (samePlace && mixture == m_hasMixture && fits(properties)) {
        for (std::size_t i = 0; i < m_lines.size(); ++i) {
            m_lines[i].property = std::move(properties[i]);
            m_lines[i].editor->setProperty(m_lines[i].property);
            m_lines[i].reset->setVisible(!m_lines[i].property.isDefault());
        }
    } else {
        m_hasMixture = mixture;
        rebuild(std::move(properties));
    }
    showHeadings();
    showReference();
}

void Inspector::setProblems(const QStringList& problems)
{
    m_problems->setText(problems.join(QLatin1Char('\n')));
    m_problems->setVisible(!problems.isEmpty());
}

bool Inspector::fits(const std::vector<Property>& properties) const
{
    if (properties.size() != m_lines.size()) {
        return false;
    }
    for (std::size_t i = 0; i < properties.size(); ++i) {
        const Property& old = m_lines[i].property;
        if (properties[i].key != old.key || properties[i].kind != old.kind || properties[i].title != old.title ||
            properties[i].unit != old.unit) {
            return false;
        }
    }
    return true;
}

void Inspector::rebuild(std::vector<Property> properties)
{
    for (const Line& line : m_lines) {
        disconnect(line.editor, nullptr, this,
                   nullptr); // a hidden field with the focus would commit its text
    }
    m_lines.clear();
    m_mixture->hide();
    m_mixture->setParent(m_body); // removes it from the form that is deleted
    if (m_form) {
        m_form->hide();
        m_form->deleteLater(); // the sender may be one of its editors
    }
    m_form = new QWidget(m_body);
    m_grid = new QGridLayout(m_form);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(8);
    m_grid->setVerticalSpacing(5);
    m_grid->setColumnStretch(Title, 4);
    m_grid->setColumnStretch(Editor, 5);
    int row = 0;
    for (Property& property : properties) {
        const bool choosesSource = property.key == kSourceKind;
        auto* heading = label(QStringLiteral("group"), m_form);
        heading->hide();
        m_grid->addWidget(heading, row++, Title, 1, Reset + 1);
        addLine(std::move(property), row++);
        m_lines.back().heading = heading;
        if (m_hasMixture && choosesSource) {
            m_grid->addWidget(m_mixture, row++, Title, 1, Reset + 1);
            m_mixture->setVisible(true);
        }
    }
    static_cast<QVBoxLayout*>(m_body->layout())->insertWidget(kFormPosition, m_form);
    m_form->show();
}

/// Shows a heading where its group begins. The title of a group may change while its editors stay.
void Inspector::showHeadings()
{
    QString group;
    for (const Line& line : m_lines) {
        line.heading->setText(line.property.group);
        line.heading->setVisible(line.property.group != group);
        group = line.property.group;
    }
}

const Property* Inspector::focusedProperty() const
{
    const QWidget* focus = window()->focusWidget();
    for (const Line& line : m_lines) {
        if (focus && line.editor->isAncestorOf(focus)) {
            return &line.property;
        }
    }
    return m_mixture->focusedProperty();
}

void Inspector::showReference()
{
    const Property* property = focusedProperty();
    const QString text = property ? property->toolTip() : QString();
    m_reference->setText(text);
    m_reference->setVisible(!text.isEmpty());
}

/// A text field has a menu of its own; the commands on its value come before that.
void Inspector::openMenu(const Property& property, QWidget& over, const QPoint& position)
{
    auto* field = qobject_cast<QLineEdit*>(&over);
    QMenu* menu = field ? field->createStandardContextMenu() : new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    auto* sweep = new QAction(tr("Sweep this field…"), menu);
    auto* reset = new QAction(tr("Back to the default"), menu);
    connect(sweep, &QAction::triggered, this, [this, property] { emit sweepRequested(property); });
    connect(reset, &QAction::triggered, this, [this, property] { emit edited(property, property.defaultValue); });
    reset->setEnabled(!property.isDefault());
    auto* copy = new QAction(tr("Copy as a terminal command"), menu);
    connect(copy, &QAction::triggered, this, [this, property] { emit copyRequested(property); });
    copy->setEnabled(!property.pointer.empty()); // otherwise it changes several: Edit › Copy the last change
    QAction* const first = menu->actions().value(0);
    menu->insertActions(first, {sweep, reset, copy});
    if (first) {
        menu->insertSeparator(first);
    }
    menu->popup(over.mapToGlobal(position));
}

void Inspector::takeFocus()
{
    if (!m_lines.empty()) {
        m_lines[m_lines.size() > 1 ? 1 : 0].editor->setFocus(Qt::ShortcutFocusReason);
    }
}

void Inspector::takeFocus(const std::string& key)
{
    const auto line = std::ranges::find(m_lines, key, [](const Line& each) { return each.property.key; });
    if (line != m_lines.end()) {
        line->editor->setFocus(Qt::ShortcutFocusReason);
    } else {
        m_mixture->takeFocus(key);
    }
}

void Inspector::addLine(Property property, int row)
{
    auto* title = label(QStringLiteral("muted"), m_form);
    title->setText(property.title);
    title->setToolTip(property.toolTip());
    auto* unit = label(QStringLiteral("faint"), m_form);
    unit->setWordWrap(false);
    unit->setText(property.unit);
    auto* editor = new PropertyEditor(property, m_form);
    title->setBuddy(editor);
    auto* reset = new QToolButton(m_form);
    reset->setIcon(themedIcon(QStringLiteral("reset")));
    reset->setIconSize({13, 13});
    reset->setAutoRaise(true);
    reset->setToolTip(tr("Back to the default"));
    reset->setAccessibleName(tr("Reset %1").arg(property.title));
    QSizePolicy keepsPlace = reset->sizePolicy();
    keepsPlace.setRetainSizeWhenHidden(true);
    reset->setSizePolicy(keepsPlace);
    reset->setVisible(!property.isDefault());
    m_grid->addWidget(title, row, Title);
    const bool resets = property.defaultValue.isValid();
    m_grid->addWidget(editor, row, Editor, 1, !property.unit.isEmpty() ? 1 : resets ? 2 : 3);
    if (!property.unit.isEmpty()) {
        m_grid->addWidget(unit, row, Unit);
    }
    if (resets) {
        m_grid->addWidget(reset, row, Reset);
    } else {
        reset->hide();
    }

    const std::size_t at = m_lines.size();
    QList<QWidget*> parts{title, unit, reset, editor};
    parts += editor->findChildren<QWidget*>(Qt::FindDirectChildrenOnly);
    for (QWidget* part : parts) {
        part->setContextMenuPolicy(Qt::CustomContextMenu);
        connect(part, &QWidget::customContextMenuRequested, this,
                [this, at, part](const QPoint& position) { openMenu(m_lines.at(at).property, *part, position); });
    }
    connect(editor, &PropertyEditor::committed, this,
            [this, at](const QVariant& value) { emit edited(Property(m_lines[at].property), value); });
    connect(editor, &PropertyEditor::offerTaken, this, &Inspector::offerTaken);
    connect(reset, &QToolButton::clicked, this,
            [this, at] { emit edited(Property(m_lines[at].property), m_lines[at].property.defaultValue); });
    m_lines.push_back({std::move(property), editor, reset});
}

} // namespace residua::app
