#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokenisers of each kind by the package tokenizers, and what it makes of awkward text.

tokenizer_cases.py FOLDER writes NAME.json and NAME.cases, a list of [text, ids, decoded], into the folder. Ends with 77
where the package is missing.
"""

import json, random, sys, unicodedata
from pathlib import Path
try:
    from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers as norm, pre_tokenizers as pre,
                            processors, trainers)
except ImportError:
    sys.exit(77)

folder = Path(sys.argv[1])
chance = random.Random(7)
old = unicodedata.ucd_3_2_0 # characters that every version of Unicode has

texts = [
    "", " ", "\n", "\n\n\n", " \n \n ", "Hello, world! It's you'll I'VE we'RE x's ''s '' '", "  a   b\t\tc \r\n d\r\r",
    "a" * 3000, "ab" * 1500, " " * 1500, "\n" * 900, "12345 3.14 1,000 \u00bd \u2167 \u00b2 \u0663\u0664 \u0967\u0968",
    "\u00c0\u00c9 \u00e0\u00e9 \u00df \u1e9e \u0130 \u0131 \u017f \u0149 \u01c6 \u03a3\u0391\u03a3 \u039f\u03a3",
    "e\u0301 a\u030a A\u030a\u0301 \ufb01 \ufb03 \u338f \ufdfa \uff46\uff55\uff4c\uff4c \u3231 \u212b \u2126",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01 \u65e5\u672c\u8a9e\u30c6\u30ad\u30b9\u30c8 \ud55c\uad6d\uc5b4",
    "\u041f\u0440\u0438\u0432\u0435\u0442 \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u05e9\u05dc\u05d5\u05dd "
    "\u0645\u0631\u062d\u0628\u0627 \u0928\u092e\u0938\u094d\u0924\u0947 \u0e20\u0e32\u0e29\u0e32 \u12a0\u121b\u122d",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd \U0001f1e9\U0001f1ea \u2764\ufe0f 1\ufe0f\u20e3",
    "\x00\x01\x02\x1f\x7f\x80\x85\x9f \xa0n\u200bz\u200cj\u200dk\u2028l\u2029p\ufeffb\u180ev\u2060\xad\ufffd\ufffe\ue000",
    "<|end|>a<|x|>  b <|x|> c w\u00f6rd w\u00f6rds aYESb YES <s>x</s> <unk> [CLS][MASK]",
    "def f(x):\n    return x ** 2  # square\n\n\tif (a != b) { c += 1; }\n", "http://e.com/?q=a&b=c#d $100 \u20ac50 10%",
    "\u0300\u0301 a\u0300\u0316\u0301 \u1112\u1161\u11ab \uac01", "x\u2581y \u2581 \u2581\u2581z", "_a__b_ \u203f \u2040",
    "!@#$%^&*()[]{}|;:,.<>?/~`+=-", "\U00020000\u8c48\u2f00", "\u3000i\u3000s \u1680o\u202fn\u205fm", "\u0120 \u010a <0x0A>"]
for _ in range(60):
    text = ""
    for _ in range(chance.randint(1, 50)):
        kind = chance.random()
        if kind < 0.4:
            text += chance.choice("abcdefgABC'  .,!?012\n")
            continue
        while True:
            code = chance.randrange(0x80, 0x3000 if kind < 0.7 else 0x1d800)
            if not 0xd800 <= code < 0xe000 and old.category(chr(code)) != "Cn":
                break
        text += chr(code)
    texts.append(text)
words = "the cat sat on a mat while seventeen lower towers watched and nobody spoke of 12 or 1999 things".split()
trained = [" ".join(chance.choice(words) for _ in range(12)) + chance.choice([".", "!\n", "?"]) for _ in range(300)]
trained += texts * 3


def finish(name, tokeniser, changes=None):
    if changes:
        file = json.loads(tokeniser.to_str())
        changes(file)
        tokeniser = Tokenizer.from_str(json.dumps(file))
    tokeniser.save(str(folder / (name + ".json")))
    cases = []
    for text in texts + trained[:60]:
        ids = tokeniser.encode(text, add_special_tokens=False).ids
        cases.append([text, ids, tokeniser.decode(ids) if ids else ""])
    (folder / (name + ".cases")).write_text(json.dumps(cases))


def byte_level(name, splitter, normaliser=None, **options):
    tokeniser = Tokenizer(models.BPE(**options))
    tokeniser.pre_tokenizer = splitter
    if normaliser:
        tokeniser.normalizer = normaliser
    tokeniser.decoder = decoders.ByteLevel()
    tokeniser.train_from_iterator(trained, trainers.BpeTrainer(
        vocab_size=900, initial_alphabet=pre.ByteLevel.alphabet(), special_tokens=["<|end|>"], show_progress=False))
    tokeniser.add_special_tokens([AddedToken("<|x|>", lstrip=True, rstrip=True)])
    tokeniser.add_tokens([AddedToken("w\u00f6rd", single_word=True), AddedToken("YES", normalized=True)])
    finish(name, tokeniser)


ends = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
llama = ends + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
cl100k = ends + r"|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
plain = pre.ByteLevel(add_prefix_space=False, use_regex=False)
byte_level("gpt2", pre.ByteLevel(add_prefix_space=False))
byte_level("roberta", pre.ByteLevel(add_prefix_space=True))
byte_level("llama3", pre.Sequence([pre.Split(Regex(llama), "isolated"), plain]), ignore_merges=True)
byte_level("qwen", pre.Sequence([pre.Split(Regex(llama.replace("{1,3}", "")), "isolated"), plain]), norm.NFC())
byte_level("cl100k", pre.Sequence([pre.Split(Regex(cl100k), "removed", True), plain]))
byte_level("digits", pre.Sequence([pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)]))
byte_level("punctuation", pre.Sequence([pre.Punctuation("contiguous"), pre.ByteLevel(add_prefix_space=False)]))


def sentence_piece(name, normaliser, splitter, fallback=True, unknown="<unk>"):
    bytes_ = ["<0x%02X>" % byte for byte in range(256)] if fallback else []
    tokeniser = Tokenizer(models.BPE(unk_token=unknown, byte_fallback=fallback, fuse_unk=True))
    tokeniser.pre_tokenizer = pre.Metaspace("\u2581", "always")
    tokeniser.train_from_iterator(trained, trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<unk>", "<s>", "</s>"] + bytes_, limit_alphabet=80, show_progress=False))
    tokeniser.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])

    def change(file):
        file["added_tokens"] = [token for token in file["added_tokens"] if not token["content"].startswith("<0x")]
        file["normalizer"] = json.loads(normaliser.__getstate__()) if normaliser else None
        file["pre_tokenizer"] = json.loads(splitter.__getstate__()) if splitter else None

    finish(name, tokeniser, change)


prepended = norm.Sequence([norm.Prepend("\u2581"), norm.Replace(" ", "\u2581")])
sentence_piece("llama2", prepended, None)
sentence_piece("mistral", None, pre.Metaspace("\u2581", "first", split=False))
sentence_piece("gemma", norm.Replace(" ", "\u2581"), pre.Split(" ", "merged_with_previous"))
sentence_piece("unknown", prepended, None, fallback=False)


def word_piece(name, normaliser):
    tokeniser = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokeniser.normalizer = normaliser
    tokeniser.pre_tokenizer = pre.BertPreTokenizer()
    tokeniser.decoder = decoders.WordPiece()
    tokeniser.train_from_iterator(trained, trainers.WordPieceTrainer(
        vocab_size=900, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    finish(name, tokeniser)


word_piece("bert", norm.BertNormalizer())
word_piece("bert-cased", norm.BertNormalizer(lowercase=False))
word_piece("accents", norm.Sequence([norm.NFD(), norm.Lowercase(), norm.StripAccents(), norm.Strip()]))


def unigram(name, normaliser, splitter):
    tokeniser = Tokenizer(models.Unigram())
    tokeniser.normalizer = normaliser
    tokeniser.pre_tokenizer = splitter
    tokeniser.decoder = decoders.Metaspace()
    tokeniser.train_from_iterator(trained, trainers.UnigramTrainer(
        vocab_size=1500, special_tokens=["</s>", "<unk>"], unk_token="<unk>", show_progress=False))
    finish(name, tokeniser)


unigram("t5", norm.Sequence([norm.Nmt(), norm.NFKC(), norm.Replace(Regex(" {2,}"), " ")]),
        pre.Sequence([pre.WhitespaceSplit(), pre.Metaspace("\u2581", "always")]))
unigram("whole", norm.NFKD(), pre.Metaspace("\u2581", "never", split=False))

clip = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
clip.normalizer = norm.Sequence([norm.NFC(), norm.Replace(Regex(r"\s+"), " "), norm.Lowercase()])
clip.pre_tokenizer = pre.Split(Regex(r"'s|'t|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", True)
clip.decoder = decoders.BPEDecoder("</w>")
clip.train_from_iterator(trained, trainers.BpeTrainer(
    vocab_size=700, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False))
finish("clip", clip)
