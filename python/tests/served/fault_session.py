"""A fixed sequence of requests on a drive with faults: Debian's Python runs this, `h` connected.

Prints what came back, as JSON: errors by request, and a digest of all that could be read.
"""

import hashlib
import json

import nbd

BLOCK = 16384


def data(number, count=BLOCK):
    """What the write of this number writes: no two are alike."""
    return (b"%08d" % number) * (count // 8)


def attempt(errors, number, request, *arguments):
    """Carries out one request, and notes the number of its error."""
    try:
        return request(*arguments)
    except nbd.Error as error:
        errors.append((number, request.__name__, error.errnum))
        return None


def run(h, count):
    """Writes, reads, flushes; what was written last and not answered with an error is expected."""
    size = h.get_size()
    places = size // BLOCK
    errors, wrong, expected = [], [], {}
    for number in range(1, count + 1):
        place = number * 7 % places
        fua = nbd.CMD_FLAG_FUA if number % 10 == 0 else 0
        before = len(errors)
        attempt(errors, number, h.pwrite, data(number), place * BLOCK, fua)
        if len(errors) == before:
            expected[place] = data(number)
        if number % 16 == 0:
            attempt(errors, number, h.flush)
        attempt(errors, number, h.pread, 512, number * 11 % places * BLOCK)
        if errors and h.aio_is_dead():
            break
    digest = hashlib.sha256()
    for place in range(places) if not h.aio_is_dead() else ():
        found = attempt(errors, -place, h.pread, BLOCK, place * BLOCK)
        digest.update(bytes(found or b"lost"))
        if found is not None and found != expected.get(place, bytes(BLOCK)):
            wrong.append(place)
    print(json.dumps({"errors": errors, "wrong": wrong, "digest": digest.hexdigest()}))
