// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the help page of the fields to the given file. Run by the build.
#include "projects/schema/fields.h"

#include <fstream>

int main(int argc, char** argv)
{
    if (argc != 2) {
        return 2;
    }
    std::ofstream file(argv[1], std::ios::binary);
    file << residua::projects::fieldReference();
    return file.flush() ? 0 : 1;
}
