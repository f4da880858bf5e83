"""What functions of one's own print on several threads stays in lines."""

import contextlib
import io
import threading

from drivelab import asides


class Pieces(io.StringIO):
    """A stream that lets another thread write between any two pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def write(self, text: str) -> int:
        self.pieces.append(text)
        return super().write(text)


def test_lines_of_two_threads_are_not_written_into_each_other() -> None:
    """`print` writes a text and its line end apart: another thread's line stood between them."""
    stream = Pieces()
    lines = asides.WholeLines(stream)
    print("begun", end="", file=lines)  # type: ignore[call-overload]
    other = threading.Thread(target=print, args=("another's",), kwargs={"file": lines})
    other.start()
    other.join()
    print(" and ended\nand begun again", end="", file=lines)  # type: ignore[call-overload]
    assert stream.pieces == ["another's\n", "begun and ended\n"]
    lines.flush()
    assert stream.getvalue() == "another's\nbegun and ended\nand begun again"


def test_what_a_function_leaves_without_a_line_end_is_written_when_it_ends() -> None:
    stream = Pieces()
    with asides.of_a_command(), contextlib.redirect_stderr(stream), asides.aside():
        print("half a line", end="")
        assert not stream.pieces
        print("...", end="", flush=True)
        assert stream.getvalue() == "half a line..."
        print(" and its rest", end="")
    assert stream.getvalue() == "half a line... and its rest"
