#!/usr/bin/env python3
"""Writes formats.gguf, one small tensor in each storage format that we read, and formats.f32, the
same tensors widened to float32 by the Python package gguf, one after the other in the file's order.

    pip install gguf numpy && python make_gguf_expectations.py OUT_DIR

The blocks hold random bytes, so that every bit of every field is used; only the f16 scales are drawn
from sane values, for an infinity or NaN would hide what else is in a block. The metadata hold one
value of each type.
"""
import os
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q

ROWS, COLS = 3, 512
SCALES = {  # byte offsets of the f16 fields of a block
    Q.Q8_0: [0], Q.Q4_0: [0], Q.Q4_1: [0, 2], Q.Q5_0: [0], Q.Q5_1: [0, 2],
    Q.Q4_K: [0, 2], Q.Q5_K: [0, 2], Q.Q6_K: [208]}


def random_blocks(rng, kind):
    block, n_bytes = gguf.GGML_QUANT_SIZES[kind]
    n_blocks = ROWS * COLS // block
    raw = rng.integers(0, 256, (n_blocks, n_bytes), dtype=np.uint8)
    for at in SCALES.get(kind, []):
        scale = rng.normal(0, 0.1, n_blocks).astype(np.float16)
        scale[::7] *= np.float16(1e-4)  # some subnormal
        raw[:, at:at + 2] = scale.view(np.uint8).reshape(n_blocks, 2)
    return raw.reshape(ROWS, -1)


def main(out):
    rng = np.random.default_rng(20)
    values = rng.normal(0, 1, (ROWS, COLS)).astype(np.float32)
    writer = gguf.GGUFWriter(os.path.join(out, 'formats.gguf'), 'none')
    writer.add_uint8('of.u8', 255)
    writer.add_int8('of.i8', -128)
    writer.add_uint16('of.u16', 65535)
    writer.add_int16('of.i16', -32768)
    writer.add_uint32('of.u32', 4294967295)
    writer.add_int32('of.i32', -2147483648)
    writer.add_float32('of.f32', 1e-05)
    writer.add_bool('of.bool', True)
    writer.add_string('of.string', 'Grüße, 世界')
    writer.add_uint64('of.u64', 18446744073709551615)
    writer.add_int64('of.i64', -9223372036854775808)
    writer.add_float64('of.f64', 1e-05)
    writer.add_array('of.strings', ['a', '', 'ĠGrüße'])
    writer.add_array('of.integers', [1, -2, 3])
    writer.add_array('of.arrays', [[1, 2], [3]])
    expected = []
    for kind in (Q.F32, Q.F16, Q.BF16, Q.Q8_0, Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q4_K, Q.Q5_K, Q.Q6_K):
        if kind == Q.F32:
            raw = values
        elif kind == Q.F16:
            raw = (values * np.float32(1e-3)).astype(np.float16)  # some subnormal
        elif kind == Q.BF16:
            raw = gguf.quants.quantize(values, kind)
        else:
            raw = random_blocks(rng, kind)
        writer.add_tensor(kind.name.lower(), raw, raw_dtype=kind)
        widened = raw.astype(np.float32) if kind in (Q.F32, Q.F16) else gguf.quants.dequantize(raw, kind)
        expected.append(widened.astype('<f4').reshape(ROWS, COLS))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    np.stack(expected).tofile(os.path.join(out, 'formats.f32'))


if __name__ == '__main__':
    main(sys.argv[1])
