"""Runs a program for which ptrace knows only the classic floating-point state: user-mode Linux.

A kernel of 6.1 stores a processor's extended state in 2,696 bytes; a host with AMX says that this
isn't all of it (EFAULT), and the guest dies at once. Told that there is no such thing, it is
content with the classic state. A seccomp filter says so, here and in whatever is run from here.
"""

import ctypes
import os
import struct
import sys


def without_wide_state() -> None:
    """Makes ptrace's requests for the extended state (NT_X86_XSTATE) fail from here on."""

    def step(code: int, if_true: int, if_false: int, value: int) -> bytes:
        return struct.pack("HBBI", code, if_true, if_false, value)

    load, equal, end = 0x20, 0x15, 0x06
    allow, fail = 0x7FFF0000, 0x00050000 | 5
    steps = [
        step(load, 0, 0, 4),  # architecture
        step(equal, 0, 7, 0xC000003E),  # x86-64
        step(load, 0, 0, 0),  # number of the call
        step(equal, 0, 5, 101),  # ptrace
        step(load, 0, 0, 16),  # its request
        step(equal, 1, 0, 0x4204),  # PTRACE_GETREGSET
        step(equal, 0, 2, 0x4205),  # PTRACE_SETREGSET
        step(load, 0, 0, 32),  # which registers
        step(equal, 1, 0, 0x202),  # NT_X86_XSTATE
        step(end, 0, 0, allow),
        step(end, 0, 0, fail),
    ]
    code = ctypes.create_string_buffer(b"".join(steps))
    program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    set_no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
    for call in ((set_no_new_privileges, 1, 0, 0, 0), (set_seccomp, filter_mode, program, 0, 0)):
        if libc.prctl(*call):
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    without_wide_state()
    os.execvp(sys.argv[1], sys.argv[1:])
