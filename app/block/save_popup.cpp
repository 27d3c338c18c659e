// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/block/save_popup.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace residua::app {

namespace {

constexpr int kWidth = 320;

} // namespace

SavePopup::SavePopup(QWidget* parent)
    : QFrame(parent, Qt::Popup),
      m_name(new QLineEdit(this)),
      m_useInLayer(new QCheckBox(this)),
      m_message(new QLabel(this)),
      m_project(new QPushButton(tr("Save to project"), this)),
      m_library(new QPushButton(tr("Save to my library"), this))
{
    setObjectName(QStringLiteral("savePopup"));
    setAttribute(Qt::WA_StyledBackground);
    auto* title = new QLabel(tr("Name of the block"), this);
    title->setProperty("role", QStringLiteral("muted"));
    title->setBuddy(m_name);
    m_name->setObjectName(QStringLiteral("saveName"));
    m_name->setAccessibleName(title->text());
    m_message->setObjectName(QStringLiteral("saveMessage"));
    m_message->setProperty("role", QStringLiteral("muted"));
    m_message->setWordWrap(true);
    m_project->setObjectName(QStringLiteral("saveToProject"));
    m_project->setToolTip(tr("A block of this project, which layers can be made of"));
    m_library->setObjectName(QStringLiteral("saveToLibrary"));
    m_library->setToolTip(tr("A block of your own, in the palette of every project"));
    m_project->setDefault(true);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_project);
    buttons->addWidget(m_library);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 10, 12, 12);
    column->setSpacing(8);
    column->addWidget(title);
    column->addWidget(m_name);
    column->addWidget(m_useInLayer);
    column->addWidget(m_message);
    column->addLayout(buttons);
    connect(m_name, &QLineEdit::textChanged, this, &SavePopup::check);
    connect(m_name, &QLineEdit::returnPressed, m_project, &QPushButton::click);
    connect(m_project, &QPushButton::clicked, this, [this] {
        hide();
        emit saveToProject(m_name->text().trimmed(), !m_useInLayer->isHidden() && m_useInLayer->isChecked());
    });
    connect(m_library, &QPushButton::clicked, this, [this] {
        hide();
        emit saveToLibrary(m_name->text().trimmed());
    });
}

void SavePopup::open(QPoint corner, const QString& name, const QString& layer, Names names)
{
    m_names = std::move(names);
    m_useInLayer->setText(layer);
    m_useInLayer->setVisible(!layer.isEmpty());
    m_useInLayer->setChecked(true);
    m_name->setText(name);
    m_name->selectAll();
    check();
    setFixedWidth(kWidth);
    adjustSize();
    move(corner - QPoint(width(), 0));
    show();
    m_name->setFocus(Qt::PopupFocusReason);
}

void SavePopup::check()
{
    const QString name = m_name->text().trimmed();
    const QString problem = m_names.projectProblem ? m_names.projectProblem(name) : QString();
    const QString note = m_names.libraryNote ? m_names.libraryNote(name) : QString();
    m_project->setEnabled(!name.isEmpty() && problem.isEmpty());
    m_library->setEnabled(!name.isEmpty());
    QStringList lines{problem, note};
    lines.removeAll(QString());
    m_message->setText(lines.join(QLatin1Char('\n')));
    m_message->setVisible(!lines.isEmpty());
}

} // namespace residua::app
