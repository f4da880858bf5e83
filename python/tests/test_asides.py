"""What functions of one's own print on several threads stays in lines."""

import contextlib
import copy
import io
import threading

from drivelab import asides


class Pieces(io.StringIO):
    """A stream that remembers in which pieces it was written."""

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
    print("begun", end="", file=lines)
    other = threading.Thread(target=print, args=("another's",), kwargs={"file": lines})
    other.start()
    other.join()
    print(" and ended\nand begun again", end="", file=lines)
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


def test_what_a_thread_of_a_function_leaves_is_written_when_all_is_over() -> None:
    stream = Pieces()
    with asides.of_a_command(), contextlib.redirect_stderr(stream), asides.aside():
        other = threading.Thread(target=print, args=("a thread's",), kwargs={"end": ""})
        other.start()
        other.join()
        print("mine", end="")
    assert sorted(stream.pieces) == ["a thread's", "mine"]


def test_lines_and_what_is_drawn_over_come_in_the_order_in_which_they_were_written() -> None:
    stream = Pieces()
    lines = asides.WholeLines(stream)
    print("a", end="", file=lines)
    lines.writelines(["b\n", "c"])
    assert stream.getvalue() == "ab\n"
    print("\r10 %", end="", file=lines)
    assert stream.getvalue() == "ab\nc\r10 %"
    assert isinstance(copy.copy(lines), asides.WholeLines)
