// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTranslator>

namespace residua::app {

/// Writes texts about one thing in the singular: the texts in the code are plurals, "%n runs". Other translators come
/// before it if they are installed later. GUI thread.
class EnglishPlurals : public QTranslator {
public:
    using QTranslator::QTranslator;

    [[nodiscard]] bool isEmpty() const override { return false; }
    [[nodiscard]] QString translate(const char* context, const char* text, const char* disambiguation,
                                    int n) const override;
};

} // namespace residua::app
