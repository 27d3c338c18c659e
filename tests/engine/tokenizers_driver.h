// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::tests {

/// Python that writes NAME.json and NAME.cases, a list of [text, ids, decoded], into the folder that it is given; ends
/// with 77 where the library `tokenizers` is not there. In a file of its own, because Qt's moc loses its way in it.
extern const char* const kTokenizersDriver;

} // namespace residua::tests
