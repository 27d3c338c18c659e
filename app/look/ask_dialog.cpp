// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/ask_dialog.h"

#include "app/look/theme.h"
#include "visualizers/plot/arrange.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace residua::app {

namespace {

constexpr int kWholeWork = 1000; ///< of the progress bar

/// Returns a label whose text may contain names that come from other people.
QLabel* plainLabel(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    visualizers::makeRemark(*label);
    label->setTextFormat(Qt::PlainText);
    label->setVisible(!text.isEmpty());
    return label;
}

} // namespace

AskDialog::AskDialog(const QString& name, const Words& words, int width, QWidget* parent)
    : QDialog(parent),
      m_reason(plainLabel({}, this)),
      m_go(m_buttons->addButton(words.go, QDialogButtonBox::AcceptRole))
{
    setObjectName(name + QStringLiteral("Dialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(words.title);
    setMinimumWidth(width);
    growWithContent(*this);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_reason->setObjectName(name + QStringLiteral("Reason"));
    m_progress->setObjectName(name + QStringLiteral("Progress"));
    m_progress->setAccessibleName(tr("Share of the work that is done"));
    m_progress->hide();
    m_go->setObjectName(name + QStringLiteral("Go"));
    m_go->setDefault(true);
    visualizers::makeColumn(
        this, {},
        {plainLabel(words.explanation, this), m_form, m_added, m_reason, m_progress, visualizers::rest(), m_buttons});
    connect(m_go, &QPushButton::clicked, this, &AskDialog::begin);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &AskDialog::reject);
}

void AskDialog::add(QWidget* widget, int stretch)
{
    m_added->addWidget(widget, stretch);
    if (stretch > 0) {
        static_cast<QVBoxLayout*>(layout())->setStretchFactor(m_added, stretch);
    }
}

void AskDialog::setBusy()
{
    m_reason->hide();
    m_progress->setRange(0, 0);
    m_progress->show();
    m_go->setEnabled(false);
}

void AskDialog::setDone(const QString& answer)
{
    m_progress->hide();
    m_go->setEnabled(true);
    tell(answer);
}

void AskDialog::setShare(double share)
{
    m_progress->setRange(0, kWholeWork);
    m_progress->setValue(static_cast<int>(kWholeWork * share));
}

void AskDialog::refuse(const QString& reason)
{
    m_progress->hide();
    m_go->setEnabled(true);
    tellError(reason);
    m_refused = true;
    // Spin boxes contain such fields.
    for (const QLineEdit* field : findChildren<QLineEdit*>()) {
        connect(field, &QLineEdit::textChanged, this, &AskDialog::dropReason, Qt::UniqueConnection);
    }
    for (const QComboBox* field : findChildren<QComboBox*>()) {
        connect(field, &QComboBox::currentIndexChanged, this, &AskDialog::dropReason, Qt::UniqueConnection);
    }
    for (const QAbstractButton* field : findChildren<QAbstractButton*>()) {
        connect(field, &QAbstractButton::toggled, this, &AskDialog::dropReason, Qt::UniqueConnection);
    }
}

/// The request that the reason is about is no longer the one that the fields make. It may be another text by now.
void AskDialog::dropReason()
{
    if (m_refused) {
        tell({});
    }
}

void AskDialog::showReason(const QString& text, const char* role)
{
    m_refused = false;
    setRole(*m_reason, QString::fromLatin1(role));
    m_reason->setText(text);
    m_reason->setVisible(!text.isEmpty());
}

} // namespace residua::app
