// Frames of a watched drive (drivelab/web/watch_frames.py): reads them, and keeps what every block is like.

const text = new TextDecoder();
/** Of the blocks between two: so many, and as the next byte says. */
const FAR = 255;

/** A frame's text, and its columns by name. */
export function readFrame(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const said = JSON.parse(text.decode(new Uint8Array(buffer, 4, length)));
  let place = 4 + length;
  const column = (Kind, count = said.count) => {
    const found = new Kind(buffer, place, count);
    place += found.byteLength;
    return found;
  };
  const columns = {};
  if (!said.whole) columns.index = column(Uint32Array);
  columns.born = column(Uint32Array);
  columns.eraseCount = column(Uint16Array);
  for (const name of ["valid", "written", "role", "stream", "mode"]) columns[name] = column(Uint8Array);
  if (!said.whole) {
    columns.validShare = column(Uint8Array, said.valid_count);
    columns.between = new Uint8Array(buffer, place);
  }
  return { said, columns };
}

/** All blocks of a drive, as the frames until now say. */
export class Blocks {
  constructor(layout) {
    const count = layout.block_count;
    this.layout = layout;
    this.count = count;
    this.born = new Uint32Array(count);
    this.eraseCount = new Uint16Array(count);
    for (const name of ["valid", "written", "role", "stream", "mode"]) this[name] = new Uint8Array(count);
    /** For how many more frames a block shows that it was erased. */
    this.glow = new Uint8Array(count);
    this.glowing = [];
    this.next = [];
    /** Indices: of every block, and in its beginning of those that the last frame changed. */
    this.all = Uint32Array.from({ length: count }, (_, i) => i);
    this.changed = new Uint32Array(count);
  }

  /** Takes a frame in; the indices that changed until the next one, or null for all of them. */
  take({ said, columns }, glowFrames) {
    this.next = said.next;
    const names = ["born", "valid", "written", "role", "stream", "mode"];
    if (said.whole) {
      this.light(null, columns.eraseCount, glowFrames);
      for (const name of names) this[name].set(columns[name]);
      this.eraseCount.set(columns.eraseCount);
      return null;
    }
    const { index } = columns;
    this.light(index, columns.eraseCount, glowFrames);
    for (const name of [...names, "eraseCount"]) {
      const [all, some] = [this[name], columns[name]];
      for (let i = 0; i < index.length; i++) all[index[i]] = some[i];
    }
    return this.takeValid(columns);
  }

  /** Takes in of which blocks only the valid share has changed; the indices of these and all others that have. */
  takeValid({ index, validShare, between }) {
    const { changed, valid } = this;
    changed.set(index);
    let [count, block] = [index.length, 0];
    for (let i = 0, at = 0; at < validShare.length; i++) {
      block += between[i];
      if (between[i] === FAR) continue;
      valid[block] = validShare[at++];
      changed[count++] = block++;
    }
    return changed.subarray(0, count);
  }

  /** Lets the blocks glow that were erased; of a first frame none. */
  light(index, eraseCount, glowFrames) {
    if (!this.drawn) {
      this.drawn = true;
      return;
    }
    for (let i = 0; i < eraseCount.length; i++) {
      const block = index ? index[i] : i;
      if (eraseCount[i] === this.eraseCount[block]) continue;
      if (glowFrames && !this.glow[block]) this.glowing.push(block);
      this.glow[block] = glowFrames;
    }
  }

  /** A frame later: what glows is a little darker. The blocks that did. */
  fade() {
    const were = this.glowing;
    for (const block of were) this.glow[block] -= 1;
    this.glowing = were.filter((block) => this.glow[block] > 0);
    return were;
  }

  /** Programs of the drive (of the array's member) since the block's first page was. */
  age(block) {
    if (!this.written[block]) return null;
    const die = Math.floor(block / this.layout.blocks_per_die);
    const next = this.next[this.layout.member[die]] ?? 0;
    return (next - this.born[block]) >>> 0;
  }

  /** Where a block is: its place among the dies, and the words for it. */
  place(block) {
    const at = Math.floor(block / this.layout.blocks_per_die);
    const { member, die, channel } = this.layout;
    return {
      at,
      member: member[at],
      die: die[at],
      channel: channel[at],
      block: block % this.layout.blocks_per_die,
      members: member[member.length - 1] + 1,
    };
  }

  /** A block in words: hovering, the keyboard and screen readers have the same. */
  words(block) {
    const { member, die, channel, block: number, members } = this.place(block);
    const percent = (part) => `${Math.round((part / 255) * 100)} %`;
    const [valid, written] = [this.valid[block], this.written[block]];
    const role = this.layout.roles[this.role[block]];
    const stream = this.stream[block] === 255 ? "" : ` for stream ${this.stream[block]}`;
    const age = this.age(block);
    const where = `${members > 1 ? `member ${member}, ` : ""}channel ${channel}, die ${die}, block ${number}`;
    return {
      where,
      role: `${role}${stream}${this.layout.modes[this.mode[block]] === "slc" ? ", one bit a cell" : ""}`,
      pages: [
        `${percent(valid)} valid`,
        `${percent(Math.max(0, written - valid))} invalid`,
        `${percent(255 - written)} free`,
      ].join(", "),
      wear: `erased ${this.eraseCount[block]} ${this.eraseCount[block] === 1 ? "time" : "times"}`,
      age: age === null ? "" : `first page programmed ${age.toLocaleString("en")} programs of the drive ago`,
    };
  }
}

/** How often a page asks for frames. */
export class Pace {
  constructor(ask) {
    this.ask = ask;
  }

  /**
   * A frame has come: the next one is made while this one is drawn and comes to the screen, and no more of them. A page
   * that isn't seen asks for none.
   */
  take() {
    if (this.drawing) {
      this.isBehind = true;
      return;
    }
    this.ask();
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      if (!this.isBehind) return;
      this.isBehind = false;
      this.ask();
    });
  }
}
