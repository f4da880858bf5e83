"""What `nbdsh` does on a served drive: Debian's Python runs this, with the handle `h` connected."""

import errno

import nbd

MIB = 1 << 20


def refused(number, request, *arguments):
    """The request fails with this error, and the connection lives on."""
    found = None
    try:
        request(*arguments)
    except nbd.Error as error:
        found = error.errnum
    assert found == number, f"{arguments}: {found} in place of {number}"


def extents(handle, count, offset):
    """Lengths and flags (1 hole, 2 zero) of a range."""
    found = []
    handle.block_status(count, offset, lambda name, start, entries, error: found.extend(entries))
    return list(zip(found[::2], found[1::2], strict=True))


def run(h, uri):
    size = h.get_size()
    assert all([h.can_flush(), h.can_fua(), h.can_trim(), h.can_zero()])
    assert h.get_structured_replies_negotiated()
    h.set_strict_mode(0)  # what the library would refuse is for the server to refuse

    # A new drive reads zero everywhere; every sector can be written by itself.
    assert h.pread(4096, size - 4096) == bytes(4096)
    h.pwrite(b"\x5a" * 512, 512, nbd.CMD_FLAG_FUA)
    assert h.pread(2048, 0) == bytes(512) + b"\x5a" * 512 + bytes(1024)

    # A trim and both kinds of zeroing read zero; sectors beside them stay.
    h.pwrite(b"\xa5" * MIB, MIB)
    h.trim(4096, MIB + 4096)
    h.zero(512, MIB + 512)
    h.zero(4096, MIB + 16384, nbd.CMD_FLAG_NO_HOLE | nbd.CMD_FLAG_FUA)
    expected = bytearray(b"\xa5" * MIB)
    for start, end in ((4096, 8192), (512, 1024), (16384, 20480)):
        expected[start:end] = bytes(end - start)
    h.flush()
    assert h.pread(MIB, MIB) == expected
    status = extents(h, MIB, MIB)
    assert sum(length for length, _ in status) >= MIB
    assert status[0][1] == 0, status

    # Requests of the largest size that is announced, and many at once.
    largest = h.get_block_size(nbd.SIZE_MAXIMUM)
    assert largest >= 32 * MIB or largest == 0, largest
    pattern = bytes(range(256)) * (32 * MIB // 256)
    h.pwrite(pattern, 64 * MIB)
    assert h.pread(32 * MIB, 64 * MIB) == pattern
    buffers = [nbd.Buffer(4096) for _ in range(256)]
    cookies = [h.aio_pread(b, 64 * MIB + i * 4096) for i, b in enumerate(buffers)]
    while not all(h.aio_command_completed(c) for c in cookies if c) and h.aio_in_flight():
        h.poll(-1)
    assert all(b.to_bytearray() == pattern[:4096] for b in buffers)

    # What a server must refuse, with the number that clients expect.
    refused(errno.EINVAL, h.pread, 4096, size)
    refused(errno.EINVAL, h.pread, 4096, size - 512)
    refused(errno.ENOSPC, h.pwrite, bytes(4096), size - 512)
    refused(errno.EINVAL, h.trim, 4096, size)
    assert h.pread(512, 512) == b"\x5a" * 512

    # A flush on one connection covers what another wrote, if the server says so.
    other = nbd.NBD()
    other.connect_uri(uri)
    h.pwrite(b"\x11" * 4096, 8 * MIB)
    assert other.pread(4096, 8 * MIB) == b"\x11" * 4096
    other.flush()
    other.shutdown()
    print("multi-conn" if h.can_multi_conn() else "single")
