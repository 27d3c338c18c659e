# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes pictures of every kind into a folder, and cases.json with the values that Pillow reads from them: turned by
EXIF orientation, laid on black by their opacity, of 16 bits the upper 8. Exit code 77 where there is no Pillow."""
import json
import pathlib
import random
import struct
import sys
import zlib

try:
    from PIL import Image, ImageOps
except ImportError:
    sys.exit(77)

folder = pathlib.Path(sys.argv[1])
rng = random.Random(1)
cases = {}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def raw_png(path, width, height, depth, kind, extra=b""):
    """Writes a PNG of random samples without a library; Pillow writes few of the kinds that it reads."""
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    stride = (width * samples * depth + 7) // 8
    rows = b"".join(b"\0" + bytes(rng.randrange(256) for _ in range(stride)) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows))
                     + chunk(b"IEND", b""))


def noise(mode, size=(7, 5)):
    picture = Image.new(mode, size)
    bands = len(picture.getbands())
    picture.frombytes(bytes(rng.randrange(256) for _ in range(size[0] * size[1] * bands)))
    return picture


def expect(name):
    picture = ImageOps.exif_transpose(Image.open(folder / name))
    picture.load()
    grey = picture.mode in ("1", "L", "LA", "I", "I;16", "I;16B") or name.startswith("grey")
    if picture.mode.startswith("I"):
        values = struct.unpack(f"={picture.width * picture.height}i", picture.convert("I").tobytes())
        picture = Image.frombytes("L", picture.size, bytes(value >> 8 for value in values))
    if picture.mode in ("LA", "PA", "RGBA") or "transparency" in picture.info:
        rgba = picture.convert("RGBA")
        black = Image.new("RGBA", rgba.size, (0, 0, 0, 255))
        black.paste(rgba, mask=rgba.getchannel("A"))
        picture = black
    picture = picture.convert("RGB")
    if grey:
        picture = picture.getchannel(0)
    cases[name] = {"width": picture.width, "height": picture.height, "channels": 1 if grey else 3,
                   "values": list(picture.tobytes()), "grey": list(picture.convert("L").tobytes())}


def save(name, picture, **options):
    picture.save(folder / name, **options)
    expect(name)


def raw(name, *args, **options):
    raw_png(folder / name, *args, **options)
    expect(name)


palette = chunk(b"PLTE", bytes(rng.randrange(256) for _ in range(3 * 16)))
for depth in (1, 2, 4, 8, 16):
    raw(f"grey{depth}.png", 9, 4, depth, 0)
for kind, word in ((2, "rgb"), (4, "grey-alpha"), (6, "rgba")):
    for depth in (8, 16):
        raw(f"{word}{depth}.png", 6, 5, depth, kind)
for depth in (1, 2, 4):
    raw(f"palette{depth}.png", 9, 4, depth, 3, extra=palette)
    raw(f"palette{depth}-opacity.png", 9, 4, depth, 3, extra=palette + chunk(b"tRNS", bytes((0, 100))))
raw("grey8-clear.png", 40, 30, 8, 0, extra=chunk(b"tRNS", b"\0\7"))
for name, extra in (("gamma", chunk(b"gAMA", struct.pack(">I", 100000))), ("gamma-low", chunk(b"gAMA", struct.pack(">I", 30000))),
                    ("srgb", chunk(b"sRGB", b"\0")), ("chroma", chunk(b"cHRM", struct.pack(">8I", *[31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]))),
                    ("profile", chunk(b"iCCP", b"x\0\0" + zlib.compress(b"no profile")))):
    for kind, word in ((0, "grey"), (2, "rgb"), (6, "rgba")):
        raw(f"{word}-{name}.png", 6, 5, 8, kind, extra=extra)
clear = noise("RGB", (30, 30))
clear.putpixel((3, 4), (1, 2, 3))
save("rgb-clear.png", clear, transparency=(1, 2, 3))
save("palette8.png", noise("RGB").quantize(20))
save("bit.png", noise("L").convert("1"))
save("opaque.webp", noise("RGB"), lossless=True)
save("opacity.webp", noise("RGBA"), lossless=True, exact=True)
save("lossy-opacity.webp", noise("RGBA", (20, 20)), quality=90)
for mode in ("L", "RGB"):
    save(f"{mode}.jpg", noise(mode, (33, 17)), quality=85)
    save(f"{mode}-progressive.jpg", noise(mode, (33, 17)), quality=70, progressive=True)
for orientation in range(0, 10):
    exif = Image.Exif()
    exif[0x0112] = orientation
    for ending in ("png", "jpg", "webp"):
        options = {"lossless": True} if ending == "webp" else {}
        save(f"turned{orientation}.{ending}", noise("RGB", (16, 8)), exif=exif, **options)
    save(f"turned{orientation}-grey.png", noise("L"), exif=exif)
little = Image.Exif()
little.endian = "<" if little.endian == ">" else ">"
little[0x0112] = 6
save("turned-other-order.jpg", noise("RGB", (16, 8)), exif=little)
(folder / "cases.json").write_text(json.dumps(cases))
