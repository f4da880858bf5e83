"""User-mode Linux: a real kernel as a program, with the host's root as its own.

Its network is a tap device in a network namespace of its own, so it meets nothing of the host's,
and needs no root if the machine allows user namespaces. The drive's server runs there too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from served.drive import ServedDrive
from served.programs import ENVIRONMENT, require, unavailable

HOST, GUEST, PORT = "192.0.2.1", "192.0.2.2", 10809
BOOT_S = 300.0

# Without wide registers (ptrace_state.py), glibc in the guest must not use them.
NARROWED = Path(__file__).with_name("ptrace_state.py")
NARROW = "glibc.cpu.hwcaps=-AVX512VL,-AVX512BW,-AVX512F,-AVX2,-AVX,-AVX_Fast_Unaligned_Load,-XSAVE"

NETWORK = f"""ip link set lo up && ip tuntap add tap0 mode tap &&
ip addr add {HOST}/24 dev tap0 && ip link set tap0 up || exit 77
exec "$@"
"""

PRELUDE = f"""#!/bin/sh
set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
trap 'echo "guest: status $?"; echo o >/proc/sysrq-trigger; sleep 9' EXIT
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null || true
mount -t tmpfs tmpfs /mnt
ip link set lo up
ip addr add {GUEST}/24 dev eth0
ip link set eth0 up
insmod /usr/lib/uml/modules/$(uname -r)/kernel/drivers/block/nbd.ko nbds_max=1
nbd-client {HOST} {PORT} /dev/nbd0 -N '' -timeout 30
mkdir /mnt/drive
"""


def namespace() -> list[str]:
    """Words that run a program in a new network namespace with a tap device."""
    require("unshare", "nsenter", "ip", "linux.uml", "nbd-client", "insmod")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        unavailable("/dev/net/tun can't be opened")
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    words = ["unshare", *user, "--net", "sh", "-c", NETWORK, "sh"]
    tried = subprocess.run(
        [*words, "true"], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    if tried.returncode:
        unavailable(f"no network namespace with a tap device: {tried.stderr.strip()}")
    return words


class Guest:
    """Boots for one script at a time."""

    def __init__(self, drive: ServedDrive, folder: Path) -> None:
        self.drive = drive
        self.folder = folder
        self._boots = 0

    def run(self, script: str) -> str:
        """What the guest's script says, after a drive was attached as /dev/nbd0."""
        self._boots += 1
        init = self.folder / f"init{self._boots}"
        init.write_text(PRELUDE + script)
        init.chmod(0o755)
        pid = self.drive.pid
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        enter = ["nsenter", f"--target={pid}", *user, "--net"]
        kernel = ["linux.uml", "mem=192M", "rootfstype=hostfs", "rootflags=/", "rw", "quiet"]
        kernel += [f"init={init}", "eth0=tuntap,tap0", "con=null", "con0=null,fd:1"]
        kernel += [f"uml_dir={self.folder}/", f"GLIBC_TUNABLES={NARROW}"]
        done = subprocess.run(
            [*enter, sys.executable, NARROWED, *kernel],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**ENVIRONMENT, "TMPDIR": str(self.folder)},
            text=True,
            timeout=BOOT_S,
            check=False,
        )
        assert "guest: status 0" in done.stdout, done.stdout
        return done.stdout
