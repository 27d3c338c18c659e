// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/bundle/bundle_dialog.h"

#include "app/look/theme.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

namespace residua::app {

namespace {

constexpr int kBundleWidth = 480;
constexpr int kWholeBar = 1000;

} // namespace

BundleDialog::BundleDialog(const QString& title, const QString& explanation, const QString& go, QWidget* parent)
    : QDialog(parent),
      m_form(new QFormLayout),
      m_place(new QLineEdit(this)),
      m_told(new QLabel(this)),
      m_progress(new QProgressBar(this)),
      m_work(new BundleWork(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(title);
    setMinimumWidth(kBundleWidth);
    growWithContent(*this);
    auto* words = new QLabel(explanation, this);
    words->setWordWrap(true);
    words->setTextFormat(Qt::PlainText); // it contains names that may come from other people
    words->setProperty("role", QStringLiteral("muted"));
    m_place->setObjectName(QStringLiteral("bundlePlace"));
    m_told->setObjectName(QStringLiteral("bundleTold"));
    m_told->setWordWrap(true);
    m_told->setTextFormat(Qt::PlainText);
    m_progress->setObjectName(QStringLiteral("bundleProgress"));
    m_progress->setAccessibleName(tr("Progress"));
    m_progress->setRange(0, kWholeBar);
    m_progress->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_go = buttons->addButton(go, QDialogButtonBox::AcceptRole);
    m_go->setObjectName(QStringLiteral("bundleGo"));
    m_go->setDefault(true);
    auto* column = new QVBoxLayout(this);
    column->addWidget(words);
    column->addLayout(m_form);
    column->addWidget(m_told);
    column->addWidget(m_progress);
    column->addStretch();
    column->addWidget(buttons);
    tell({});
    connect(m_go, &QPushButton::clicked, this, &BundleDialog::start);
    connect(buttons, &QDialogButtonBox::rejected, this, &BundleDialog::reject);
    connect(m_work, &BundleWork::progressed, m_progress,
            [this](double share) { m_progress->setValue(static_cast<int>(share * kWholeBar)); });
    connect(m_work, &BundleWork::failed, this, &BundleDialog::refuse);
    connect(m_work, &BundleWork::packed, this, [this](const engine::PackedBundle& bundle) {
        emit packed(bundle, QString::fromStdString(place().string()));
        close();
    });
    connect(m_work, &BundleWork::unpacked, this, [this](const engine::UnpackedBundle& bundle) {
        emit unpacked(bundle);
        close();
    });
}

void BundleDialog::addPlace(const QString& caption, const std::filesystem::path& proposal)
{
    m_place->setText(QDir::toNativeSeparators(QString::fromStdString(proposal.string())));
    m_place->setAccessibleName(caption);
    m_other = new QPushButton(tr("Choose…"), this);
    auto* row = new QHBoxLayout;
    row->addWidget(m_place, 1);
    row->addWidget(m_other);
    m_form->addRow(caption, row);
    connect(m_other, &QPushButton::clicked, this, [this] {
        if (const QString place = askForPlace(); !place.isEmpty()) {
            m_place->setText(QDir::toNativeSeparators(place));
        }
    });
}

std::filesystem::path BundleDialog::place() const
{
    return QDir::fromNativeSeparators(m_place->text().trimmed()).toStdString();
}

void BundleDialog::tell(const QString& text)
{
    setRole(*m_told, QStringLiteral("muted"));
    m_told->setText(text);
    m_told->setVisible(!text.isEmpty());
}

void BundleDialog::refuse(const QString& reason)
{
    m_progress->hide();
    setPlaceEnabled(true);
    setRole(*m_told, QStringLiteral("error"));
    m_told->setText(reason);
    m_told->show();
    setReady(true);
}

void BundleDialog::setReady(bool ready)
{
    m_go->setEnabled(ready);
}

void BundleDialog::setPlaceEnabled(bool enabled)
{
    m_place->setEnabled(enabled);
    m_other->setEnabled(enabled);
}

void BundleDialog::start()
{
    if (place().empty()) {
        refuse(tr("Name a place for it."));
        return;
    }
    setReady(false);
    setPlaceEnabled(false); // the final message refers to this place
    m_progress->setValue(0);
    m_progress->show();
    begin();
}

/// Cancels running work first; closes the dialog only if there is none.
void BundleDialog::reject()
{
    if (m_work->isUnderWay()) {
        m_work->giveUp();
    } else {
        QDialog::reject();
    }
}

} // namespace residua::app
