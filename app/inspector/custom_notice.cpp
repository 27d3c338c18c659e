// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector/custom_notice.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <ranges>
#include <utility>

namespace residua::app {

namespace {

constexpr std::size_t kLines = 8;     ///< further lines are counted, and listed in the tooltip
constexpr std::size_t kTipLines = 40; ///< more do not fit on a screen; the outline lists all

} // namespace

CustomNotice::CustomNotice(QWidget* parent)
    : QFrame(parent), m_title(new QLabel(this)), m_changes(new QLabel(this)), m_button(new QPushButton(this))
{
    setObjectName(QStringLiteral("customNotice"));
    m_title->setProperty("role", QStringLiteral("heading"));
    m_title->setWordWrap(true);
    m_changes->setObjectName(QStringLiteral("customChanges"));
    m_changes->setTextFormat(Qt::PlainText);
    m_changes->setWordWrap(true);
    m_changes->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_changes->setAccessibleName(tr("What differs from the preset"));
    m_button->setObjectName(QStringLiteral("backToPreset"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(10, 8, 10, 8);
    layout->setSpacing(6);
    layout->addWidget(m_title);
    layout->addWidget(m_changes);
    layout->addWidget(m_button, 0, Qt::AlignLeft);
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

} // namespace residua::app
