#!/usr/bin/env python3
"""Times PyTorch on the cases of `treadle bench op`, on the first GPU; the last line is one JSON object.

f32 without TF32, as Treadle computes it. Each case: the median of single calls, each waited for.
"""

import json
import time

import torch

SECONDS = 0.3


def median_seconds(work):
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def random(*shape, dtype=torch.float32):
    return torch.rand(*shape, device="cuda", dtype=dtype) * 2 - 1


def cases():
    """(op, case, dtype, function)"""
    for size in (256, 1024, 2048, 4096, 8192):
        for name, dtype in (("f32", torch.float32), ("f16", torch.float16)):
            a, b = random(size, size, dtype=dtype), random(size, size, dtype=dtype)
            yield "matmul", f"{size}³", name, lambda a=a, b=b: a @ b
    x, w, bias = random(32, 3200), random(256, 3200), random(256)
    yield "linear", "32×3200→256", "f32", lambda: torch.nn.functional.linear(x, w, bias)
    for channels, filters, side in ((1, 64, 28), (64, 128, 13)):
        image = random(32, channels, side, side).to(memory_format=torch.channels_last)
        weight, shift = random(filters, channels, 3, 3), random(filters)
        label = f"N=32 {channels}→{filters} 3×3 on {side}²"
        yield "conv2d", label, "f32", lambda i=image, w=weight, s=shift: torch.nn.functional.conv2d(i, w, s)


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name(0)}")
    timings = []
    with torch.no_grad():
        for op, case, dtype, work in cases():
            seconds = median_seconds(work)
            print(f"{op} {case} {dtype}: {1e6 * seconds:.1f} µs", flush=True)
            timings.append({"op": op, "case": case, "variant": "pytorch", "dtype": dtype, "seconds_median": seconds})
    print(json.dumps({"timings": timings}, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
