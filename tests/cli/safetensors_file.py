"""Reads safetensors files with the standard library alone."""

import json
import struct


def read_safetensors(path):
    """Name → dtype, shape and bytes of each tensor. Raises where the bytes are not those that the header says."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    if sum(end - begin for begin, end in (entry["data_offsets"] for entry in entries.values())) != len(body):
        raise ValueError(f"{path} is not whole")
    return {name: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])]) for name, entry in entries.items()}
