#!/usr/bin/env python3
"""Thins recorded logits for the repository: of each prompt_last_logits.<row> [49152] every 8th entry
is kept, unchanged; all other tensors stay whole.

    python thin_golden.py golden.shared.safetensors golden.safetensors && xz -9 golden.safetensors
"""
import json
import struct
import sys

STEP = 8

source, target = sys.argv[1:]
with open(source, 'rb') as f:
    header = json.loads(f.read(struct.unpack('<Q', f.read(8))[0]))
    body = f.read()
thin, parts, at = {}, [], 0
for name, tensor in header.items():
    if name == '__metadata__':
        continue
    begin, end = tensor['data_offsets']
    values = [body[i:i + 4] for i in range(begin, end, 4)]
    if name.startswith('prompt_last_logits.'):
        values = values[::STEP]
    parts += values
    thin[name] = {'dtype': 'F32', 'shape': [len(values)], 'data_offsets': [at, at + 4 * len(values)]}
    at += 4 * len(values)
text = json.dumps(thin).encode()
with open(target, 'wb') as f:
    f.write(struct.pack('<Q', len(text)) + text + b''.join(parts))
