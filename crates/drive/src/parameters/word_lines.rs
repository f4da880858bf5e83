//! Parameters of flash whose word lines are programmed whole and read page by page, and of what NVM Express brought.

use super::row::Fallback::{Absent, Boolean as Is, Integer as Number};
use super::row::Kind::{Boolean, Integer};
use super::row::{HOUR_NS, MOST, Parameter, SECOND_NS, row};

/// Word lines, and reads in front of programs and erases.
pub(super) const WORD_LINES: &[Parameter] = &[
    row(
        "flash.one_shot",
        "",
        Boolean,
        Is(false),
        "all pages of a word line, as many as flash.cell has bits, are programmed in one operation, and read one by one",
    ),
    row(
        "flash.read_middle_ns",
        "ns",
        Integer(0, HOUR_NS),
        Absent,
        "tR of the second page of a word line (flash.read_ns: of the first); left out: as the first",
    ),
    row(
        "flash.read_upper_ns",
        "ns",
        Integer(0, HOUR_NS),
        Absent,
        "tR of the third page of a word line; left out: as the first",
    ),
    row(
        "flash.read_top_ns",
        "ns",
        Integer(0, HOUR_NS),
        Absent,
        "tR of the fourth page of a word line; left out: as the first",
    ),
    row(
        "flash.program_passes",
        "",
        Integer(1, 2),
        Number(1),
        "passes that program a native word line; with 2 nothing can be read of it before the second, and \
         flash.program_ns is of both",
    ),
    row(
        "flash.coarse_program_ns",
        "ns",
        Integer(0, HOUR_NS),
        Absent,
        "of flash.program_ns the first of two passes; left out: half",
    ),
    row(
        "flash.held_word_lines",
        "",
        Integer(1, 16),
        Absent,
        "word lines of a block that have had the first of two passes when the one before them gets its second; left out: 1",
    ),
    row(
        "flash.sends_data_twice",
        "",
        Boolean,
        Is(true),
        "data crosses the bus for each of two passes; otherwise the die keeps it from the first",
    ),
    row(
        "flash.planes_per_read",
        "planes",
        Integer(1, 16),
        Number(1),
        "planes whose pages of one kind a die senses together",
    ),
    row(
        "flash.independent_planes",
        "",
        Boolean,
        Is(false),
        "planes read each by itself; otherwise a die reads one thing after the other",
    ),
    row(
        "flash.program_suspend_ns",
        "ns",
        Integer(0, SECOND_NS),
        Absent,
        "from a read's wish to its beginning while its die programs; left out: it waits for the end",
    ),
    row(
        "flash.erase_suspend_ns",
        "ns",
        Integer(0, SECOND_NS),
        Absent,
        "from a read's wish to its beginning while its die erases; left out: it waits for the end",
    ),
    row(
        "flash.resume_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "from the end of the last read to where what was suspended goes on",
    ),
    row(
        "flash.suspend_slice_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "what a program or erase does at least before it is suspended, first or again",
    ),
    row(
        "flash.finish_within_ns",
        "ns",
        Integer(0, SECOND_NS),
        Number(0),
        "a program or erase that ends within so long is not suspended any more: reads wait for its end",
    ),
    row(
        "flash.suspends_max",
        "",
        Integer(0, MOST),
        Number(0),
        "times that a program or erase is suspended; 0: no limit",
    ),
    row(
        "flash.suspended_max_percent",
        "%",
        Integer(1, 100_000),
        Number(100),
        "no more reads come in front of a program or erase that was kept from running for so much of its own time; 100: at \
         worst reads have half of a die's time",
    ),
];

/// The order of commands, and the link's two ways.
pub(super) const COMMANDS: &[Parameter] = &[
    row(
        "controller.in_order",
        "",
        Boolean,
        Is(false),
        "reads wait behind writes that came before them and have no space in the buffer",
    ),
    row(
        "link.full_duplex",
        "",
        Boolean,
        Is(false),
        "data goes to the host and from it at the same time, each at link.bytes_per_s",
    ),
];
