# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast the library `tokenizers` is with the files that bench_tokens.cpp measures us with, on one core.

peer_tokenizers.py TEXT TOKENIZER_JSON...
The text goes in lines of its own, with which the library is fastest, and whole.
"""
import os
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402

text = open(sys.argv[1], newline="", encoding="utf-8").read()
size = len(text.encode()) / 1e6
lines = text.splitlines(keepends=True)
for path in sys.argv[2:]:
    tokeniser = Tokenizer.from_file(path)
    rates = []
    for work in (lambda: tokeniser.encode_batch_fast(lines, add_special_tokens=False), lambda: tokeniser.encode(text, add_special_tokens=False).ids):
        start = time.perf_counter()
        done = work()
        rates.append(size / (time.perf_counter() - start))
    start = time.perf_counter()
    tokeniser.decode(done)
    back = size / (time.perf_counter() - start)
    print(f"{path}: {rates[0]:.1f} MB/s in lines, {rates[1]:.1f} MB/s whole, {back:.1f} MB/s back, {len(done)} tokens")
