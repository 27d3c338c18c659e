// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/field_form.h"

#include "app/look/field_row.h"
#include "app/properties/property.h"
#include "projects/schema/fields.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QMetaProperty>
#include <QPushButton>
#include <QSpinBox>

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::app {
namespace {

constexpr int kDecimals = 3;
constexpr double kStep = 0.05;
constexpr double kMostReal = 1e6; ///< of a number without an upper end

QComboBox* makeChoice(std::span<const projects::Choice> choices, int chosen)
{
    auto* const box = new QComboBox;
    const bool areMethods = choices.data() == projects::Choices<projects::LowRankMethod>::all.data();
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (!areMethods || projects::kLowRankMethods[i].approximates) { // a request fits full weights
            box->addItem(schemaLine(choices[i].title), static_cast<int>(i));
        }
    }
    box->setCurrentIndex(box->findData(chosen));
    return box;
}

QSpinBox* makeNumber(const projects::Range& range, qlonglong value)
{
    auto* const box = new QSpinBox;
    box->setRange(static_cast<int>(range.least),
                  static_cast<int>(std::min<double>(range.most, std::numeric_limits<int>::max())));
    box->setGroupSeparatorShown(true);
    box->setValue(static_cast<int>(value));
    return box;
}

QDoubleSpinBox* makeReal(const projects::Field& field, double value)
{
    auto* const box = new QDoubleSpinBox;
    const projects::Range& range = field.more.range;
    const double open = range.lower == projects::End::Open ? std::pow(10.0, -kDecimals) : 0.0;
    box->setDecimals(kDecimals);
    box->setRange(std::max(range.least + open, -kMostReal), std::min(range.most, kMostReal));
    box->setSingleStep(kStep);
    box->setValue(value);
    box->setToolTip(schemaLine(field.help));
    return box;
}

} // namespace

projects::Field FieldForm::shareOf(projects::Field field)
{
    const projects::Field share = projects::fieldOfSchema("/network/rank/scale").value().field;
    field.more.range = share.more.range;
    field.help = share.help;
    return field;
}

void FieldForm::addRow(const projects::Field& field, const QVariant& value, std::span<const projects::Choice> choices)
{
    const auto place = [&]<class Editor, class Value>(Editor* editor, void (Editor::*changed)(Value)) {
        editor->setObjectName(m_name + QString::fromStdString(projects::headline(field.key)));
        editor->setAccessibleName(schemaLine(field.title));
        m_editors.emplace(field.key, editor);
        QObject::connect(editor, changed, editor, [this] {
            if (m_edited) {
                m_edited();
            }
        });
        return editor;
    };
    QWidget* row = nullptr;
    if (field.key == "other-data") {
        place(new QCheckBox(schemaLine(field.title)), &QCheckBox::stateChanged);
        return;
    }
    if (value.typeId() == QMetaType::Bool) {
        auto* const box = place(new QCheckBox(schemaLine(field.title)), &QCheckBox::stateChanged);
        box->setChecked(value.toBool());
        m_layout.addRow(QString(), box);
        return;
    }
    if (value.typeId() == QMetaType::Double) {
        row = place(makeReal(field, value.toDouble()), &QDoubleSpinBox::valueChanged);
    } else if (value.typeId() == QMetaType::QString) {
        auto* const path = place(new QLineEdit(QDir::toNativeSeparators(value.toString())), &QLineEdit::textChanged);
        row = fieldRow(path, {new QPushButton(PropertyText::tr("Choose…"))});
    } else if (value.typeId() == QMetaType::LongLong && field.key != "from" && field.key != "step") {
        row = place(makeNumber(field.more.range, value.toLongLong()), &QSpinBox::valueChanged);
    } else if (value.typeId() == QMetaType::QByteArray) {
        auto* const text = place(new QComboBox, &QComboBox::currentTextChanged);
        text->setEditable(true);
        text->setInsertPolicy(QComboBox::NoInsert);
        text->setEditText(QString::fromUtf8(value.toByteArray()));
        row = text;
    } else {
        row = place(makeChoice(choices, value.toInt()), &QComboBox::currentTextChanged);
    }
    m_layout.addRow(schemaLine(field.title), row);
}

QVariant FieldForm::shown(std::string_view key) const
{
    QWidget* const widget = m_editors.at(key);
    if (const auto* const choice = qobject_cast<QComboBox*>(widget)) {
        return choice->isEditable() ? choice->currentText().trimmed() : choice->currentData();
    }
    if (const auto* const path = qobject_cast<QLineEdit*>(widget)) {
        return QDir::fromNativeSeparators(path->text().trimmed());
    }
    return widget->property(widget->metaObject()->userProperty().name());
}

QPushButton& FieldForm::chooser(std::string_view key) const
{
    return *editor<QLineEdit>(key).parentWidget()->findChild<QPushButton*>();
}

} // namespace residua::app
