"""Writes streams.txt and normals.txt: the generator's numbers, from the formulas.

python3 testdata/generate.py, with the packages cryptography and mpmath.
"""
import hashlib
import hmac
import os
import random
import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from mpmath import cospi, log, mp, mpf, nstr, sinpi, sqrt

mp.dps = 50
HERE = os.path.dirname(os.path.abspath(__file__))
PURPOSES = ["sampling", "gradient noise", "count noise", "reparameterisation",
            "record noise", "initialisation", "posterior draws", "prediction", "row selection"]


def hkdf(secret, salt, info):
    prk = hmac.new(salt, secret, hashlib.sha256).digest()
    return hmac.new(prk, info + b"\x01", hashlib.sha256).digest()


def stream(seed, purpose, step, block, size):
    root = hashlib.sha256(b"d3p insecure noise seed" + struct.pack(">Q", seed)).digest()
    key = hkdf(root, b"d3p noise v1", purpose.encode())
    iv = struct.pack(">QQ", step, block)
    return Cipher(algorithms.AES(key), modes.CTR(iv)).encryptor().update(bytes(size))


with open(os.path.join(HERE, "streams.txt"), "w") as f:
    f.write("# seed, purpose, step, block: the 32 bytes from there. See generate.py.\n")
    for seed in (0, 1, 2**64 - 1):
        for number, purpose in enumerate(PURPOSES):
            for step, block in ((0, 0), (1, 0), (2**64 - 1, 5)):
                f.write(f"{seed} {number} {step} {block} {stream(seed, purpose, step, block, 32).hex()}\n")

random.seed(1)
cases = [(random.getrandbits(64), random.getrandbits(64)) for _ in range(400)]
edges = [0, 1, 2, 2**11, 2**61 - 1, 2**61, 2**61 + 1, 2**62 - 1, 2**62, 2**62 + 1, 3 * 2**61 - 1,
         3 * 2**61, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2**11, 2**64 - 2**10, 2**64 - 2, 2**64 - 1]
cases += [(r, a) for r in edges for a in edges]
cases += [(2**e - 1, random.getrandbits(64)) for e in range(1, 64)]
with open(os.path.join(HERE, "normals.txt"), "w") as f:
    f.write("# radius word, angle word: r cos a, r sin a with 25 digits. See generate.py.\n")
    for radius, angle in cases:
        u = (float(radius) + 1) * 2.0**-64  # float() rounds to nearest even, as Go does
        a = mpf(angle) / mpf(2)**63  # in half turns
        r = sqrt(-2 * log(mpf(u)))
        f.write(f"{radius:#x} {angle:#x} {nstr(r * cospi(a), 25)} {nstr(r * sinpi(a), 25)}\n")
