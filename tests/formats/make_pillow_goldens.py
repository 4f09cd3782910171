#!/usr/bin/env python3
"""Writes pillow_goldens.json: image files of every mode, and the pixels that Pillow reads from them.

usage: make_pillow_goldens.py    (with Pillow: python3 -m venv V && V/bin/pip install pillow && V/bin/python …)

Each case holds a file in hexadecimal digits, `mode` (L or RGB) with the pixels `size` and `pixels`, and `grey`, the
same picture made grey and resized to 4 × 6; `resized` holds other sizes. What Pillow does:

    image = ImageOps.exif_transpose(Image.open(file))
    white = Image.new("RGBA", image.size, "white")                                   where there is transparency
    image = Image.alpha_composite(white, image.convert("RGBA"))
    image.convert("L" or "RGB"),   image.convert("L").resize((4, 6), Image.Resampling.BILINEAR)

Two kinds of PNG are read with a change, since Pillow loses the picture: grey of 16 bits (it cuts values off at 255)
is given to it as 8 bits, the higher bytes; transparent colours of 2, 4 and 16 bits (it compares them with other
numbers) are given as an alpha channel.
"""

import io
import json
import struct
import zlib
from pathlib import Path

import PIL
from PIL import Image, ImageOps

WIDTH, HEIGHT = 5, 3
GREY_SIZE = (4, 6)
SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def samples(color, depth, seed=1):
    """WIDTH × HEIGHT × channels numbers of `depth` bits, made by a small generator; alpha takes its ends too."""
    values, state = [], seed
    for index in range(WIDTH * HEIGHT * CHANNELS[color]):
        state = (state * 1103515245 + 12345) % 2**31
        values.append(state >> 8 & (2**depth - 1))
        if color in (GREY_ALPHA, RGBA) and index % CHANNELS[color] == CHANNELS[color] - 1:
            if index // CHANNELS[color] % 4 < 2:
                values[-1] = (0, 2**depth - 1)[index // CHANNELS[color] % 2]
    return values


def packed_row(row, depth):
    if depth == 16:
        return struct.pack(f">{len(row)}H", *row)
    bits = "".join(f"{value:0{depth}b}" for value in row)
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")


def scanlines(values, channels, depth, interlaced):
    pixels = [values[i : i + channels] for i in range(0, len(values), channels)]
    passes = ADAM7 if interlaced else [(0, 0, 1, 1)]
    lines = b""
    for left, top, right_step, down_step in passes:
        for y in range(top, HEIGHT, down_step):
            row = [value for x in range(left, WIDTH, right_step) for value in pixels[y * WIDTH + x]]
            lines += b"\0" + packed_row(row, depth) if row else b""
    return zlib.compress(lines, 9)


def png(color, depth, values, before=b"", behind=b"", interlaced=False):
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, color, 0, 0, int(interlaced))
    data = chunk(b"IDAT", scanlines(values, CHANNELS[color], depth, interlaced))
    return SIGNATURE + chunk(b"IHDR", header) + before + data + behind + chunk(b"IEND", b"")


def palette(count):
    return chunk(b"PLTE", bytes((37 * i * (c + 2) + 11 * c) % 256 for i in range(count) for c in range(3)))


def tiff(orientation, order="<", kind=3, count=1, tag=0x0112, others=1, far=False):
    """An EXIF structure whose directory holds a few other entries before the orientation."""
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, 8)
    entries = [struct.pack(order + "HHI4s", 0x010E + i, 2, 1, b"x\0\0\0") for i in range(others)]
    end = 8 + 2 + 12 * (others + 1) + 4
    number = struct.pack(order + {1: "B", 3: "H", 4: "I"}[kind], orientation)
    value = struct.pack(order + "I", end) if far else number.ljust(4, b"\0")
    entries.append(struct.pack(order + "HHI", tag, kind, count) + value)
    body = struct.pack(order + "H", len(entries)) + b"".join(entries) + struct.pack(order + "I", 0)
    return head + body + (number * count if far else b"")


def xmp(orientation, element=False):
    inside = f"><tiff:Orientation>{orientation}</tiff:Orientation>" if element else f' tiff:Orientation="{orientation}">'
    return f"<x:xmpmeta><rdf:Description{inside}</x:xmpmeta>".encode()


def itxt(key, text):
    return chunk(b"iTXt", key + b"\0\0\0\0\0" + text)


def raw_profile(data):
    text = f"\nexif\n{len(data):8}\n" + "".join(f"{data[i:i + 36].hex()}\n" for i in range(0, len(data), 36))
    return chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(text.encode(), 9))


def jpeg(mode, segments=b"", **options):
    """A JPEG that Pillow writes, small and of one quality, with segments put behind its first marker."""
    channels = {"L": 1, "RGB": 3, "CMYK": 4}[mode]
    pixels = bytes((23 * x + 41 * y + 60 * c) % 200 + 20 for y in range(HEIGHT) for x in range(WIDTH) for c in range(channels))
    file = io.BytesIO()
    Image.frombytes(mode, (WIDTH, HEIGHT), pixels).save(file, "JPEG", quality=90, optimize=True, **options)
    return file.getvalue()[:2] + segments + file.getvalue()[2:]


def app1(data):
    return b"\xff\xe1" + struct.pack(">H", len(data) + 2) + data


def ycck():
    """A CMYK file whose Adobe marker says that its inks are YCCK: the decoder then converts."""
    whole = bytearray(jpeg("CMYK"))
    place = whole.index(b"Adobe")
    whole[place + 11] = 2
    return bytes(whole)


def png_cases():
    rgb, key = samples(RGB, 8), samples(RGB, 8)[3:6]
    for depth in (1, 2, 4, 8):
        yield f"grey {depth} bits", png(GREY, depth, samples(GREY, depth))
        yield f"palette {depth} bits", png(PALETTE, depth, samples(PALETTE, depth), palette(2**depth))
    for color, name in ((GREY_ALPHA, "grey with alpha"), (RGB, "rgb"), (RGBA, "rgba")):
        yield f"{name} 8 bits", png(color, 8, samples(color, 8))
        yield f"{name} 16 bits", png(color, 16, samples(color, 16))
    yield "rgba interlaced", png(RGBA, 8, samples(RGBA, 8), interlaced=True)
    yield "palette interlaced", png(PALETTE, 2, samples(PALETTE, 2), palette(4), interlaced=True)
    yield "palette with alpha", png(PALETTE, 2, samples(PALETTE, 2), palette(4) + chunk(b"tRNS", b"\0\x80\xff"))
    yield "palette with one clear colour", png(PALETTE, 2, samples(PALETTE, 2), palette(4) + chunk(b"tRNS", b"\xff\0"))
    yield "grey with a clear value", png(GREY, 8, samples(GREY, 8), chunk(b"tRNS", struct.pack(">H", samples(GREY, 8)[4])))
    yield "black and white with a clear value", png(GREY, 1, samples(GREY, 1), chunk(b"tRNS", struct.pack(">H", 0)))
    yield "rgb with a clear colour", png(RGB, 8, rgb, chunk(b"tRNS", struct.pack(">3H", *key)))
    yield "gamma", png(RGBA, 8, samples(RGBA, 8), chunk(b"gAMA", struct.pack(">I", 100000)))
    yield "sRGB and cHRM", png(RGB, 8, rgb, chunk(b"sRGB", b"\0") + chunk(b"cHRM", struct.pack(">8I", *range(30000, 30008))))
    yield "a significant bit", png(GREY, 8, samples(GREY, 8), chunk(b"sBIT", b"\3"))
    yield "a background", png(RGBA, 8, samples(RGBA, 8), chunk(b"bKGD", struct.pack(">3H", 255, 0, 0)))


def orientation_cases():
    rgb = samples(RGB, 8)
    for value in range(0, 10):
        for order in "<>":
            yield f"eXIf {value} {order}", png(RGB, 8, rgb, chunk(b"eXIf", tiff(value, order)))
    yield "eXIf behind the picture", png(GREY, 8, samples(GREY, 8), behind=chunk(b"eXIf", tiff(6)))
    yield "eXIf, a long number", png(RGB, 8, rgb, chunk(b"eXIf", tiff(5, kind=4)))
    yield "eXIf, a byte", png(RGB, 8, rgb, chunk(b"eXIf", tiff(5, kind=1)))
    yield "eXIf, two numbers", png(RGB, 8, rgb, chunk(b"eXIf", tiff(7, count=2)))
    yield "eXIf, three numbers elsewhere", png(RGB, 8, rgb, chunk(b"eXIf", tiff(8, count=3, far=True)))
    yield "eXIf, cut behind the tag", png(RGB, 8, rgb, chunk(b"eXIf", tiff(3)[:-4]))
    yield "eXIf, cut before the tag", png(RGB, 8, rgb, chunk(b"eXIf", tiff(3)[:-9]))
    yield "eXIf, another tag", png(RGB, 8, rgb, chunk(b"eXIf", tiff(3, tag=0x0113)))
    yield "eXIf with prefix", png(RGB, 8, rgb, chunk(b"eXIf", b"Exif\0\0" + tiff(4)))
    yield "raw profile", png(GREY_ALPHA, 8, samples(GREY_ALPHA, 8), raw_profile(b"Exif\0\0" + tiff(6, ">")))
    yield "XMP attribute", png(RGB, 8, rgb, itxt(b"XML:com.adobe.xmp", xmp(8)))
    yield "XMP element", png(RGB, 8, rgb, itxt(b"XML:com.adobe.xmp", xmp(5, element=True)))
    yield "eXIf before XMP", png(RGB, 8, rgb, chunk(b"eXIf", tiff(1)) + itxt(b"XML:com.adobe.xmp", xmp(8)))
    yield "interlaced and turned", png(RGBA, 8, samples(RGBA, 8), chunk(b"eXIf", tiff(7)), interlaced=True)


def jpeg_cases():
    yield "JPEG grey", jpeg("L")
    yield "JPEG rgb, turned, little endian", jpeg("RGB", app1(b"Exif\0\0" + tiff(6)), subsampling=0)
    yield "JPEG grey, turned, big endian", jpeg("L", app1(b"Exif\0\0" + tiff(8, ">")))
    yield "JPEG rgb, chroma halved", jpeg("RGB", subsampling=2)
    yield "JPEG grey, XMP", jpeg("L", app1(b"http://ns.adobe.com/xap/1.0/\0" + xmp(3)))
    yield "JPEG CMYK", jpeg("CMYK")
    yield "JPEG YCCK", ycck()


def changed_cases():
    """name, the file that Treadle reads, the file that Pillow reads."""
    grey16 = samples(GREY, 16)
    yield "grey 16 bits", png(GREY, 16, grey16), png(GREY, 8, [value >> 8 for value in grey16])
    for depth, spread in ((2, 85), (4, 17)):
        values = samples(GREY, depth)
        alpha = [part for value in values for part in (value * spread, 0 if value == values[2] else 255)]
        key = chunk(b"tRNS", struct.pack(">H", values[2]))
        yield f"grey {depth} bits with a clear value", png(GREY, depth, values, key), png(GREY_ALPHA, 8, alpha)
    clear = [part for value in grey16 for part in (value >> 8, 0 if value == grey16[2] else 255)]
    key = chunk(b"tRNS", struct.pack(">H", grey16[2]))
    yield "grey 16 bits with a clear value", png(GREY, 16, grey16, key), png(GREY_ALPHA, 8, clear)
    rgb16 = samples(RGB, 16)
    pixels = [rgb16[i : i + 3] for i in range(0, len(rgb16), 3)]
    clear = [part for p in pixels for part in (*(v >> 8 for v in p), 0 if p == pixels[1] else 255)]
    key = chunk(b"tRNS", struct.pack(">3H", *pixels[1]))
    yield "rgb 16 bits with a clear colour", png(RGB, 16, rgb16, key), png(RGBA, 8, clear)


def opaque(image):
    if not image.has_transparency_data:
        return image
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))


def case(name, file, read_by_pillow=None):
    opened = Image.open(io.BytesIO(read_by_pillow or file))
    # Pillow opens grey with alpha of 16 bits as RGBA; the file's colour type says that it is grey.
    is_grey = file[25] in (GREY, GREY_ALPHA) if file.startswith(SIGNATURE) else opened.mode == "L"
    mode = "L" if is_grey else "RGB"
    image = opaque(ImageOps.exif_transpose(opened))
    picture, grey = image.convert(mode), image.convert("L").resize(GREY_SIZE, Image.Resampling.BILINEAR)
    return {
        "name": name, "file": file.hex(), "mode": mode, "size": list(picture.size),
        "pixels": picture.tobytes().hex(), "grey": grey.tobytes().hex(),
    }  # fmt: skip


def resize_cases():
    """From a picture whose value at column x and row y of channel c is (7 x + 13 y + x y + 50 c) mod 256."""
    for width, height, channels, to in ((61, 47, 1, (28, 28)), (3, 5, 3, (11, 2)), (200, 3, 1, (1, 9)), (9, 9, 1, (9, 4))):
        pixels = bytes((7 * x + 13 * y + x * y + 50 * c) % 256 for y in range(height) for x in range(width) for c in range(channels))
        image = Image.frombytes("L" if channels == 1 else "RGB", (width, height), pixels)
        resized = image.resize(to, Image.Resampling.BILINEAR)
        yield {"size": [width, height, channels], "to": to, "pixels": resized.tobytes().hex()}


def main():
    plain = [*png_cases(), *orientation_cases(), *jpeg_cases()]
    cases = [case(*entry) for entry in [*plain, *changed_cases()]]
    lines, resized = (",\n".join(json.dumps(entry) for entry in list(part)) for part in (cases, resize_cases()))
    target = Path(__file__).with_name("pillow_goldens.json")
    head = f'"pillow": "{PIL.__version__}", "grey_size": {list(GREY_SIZE)}'
    target.write_text(f'{{{head}, "cases": [\n{lines}\n], "resized": [\n{resized}\n]}}\n')
    print(f"{target}: {len(cases)} cases, {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
