/** Bytes that arrive in pieces, as lines and as the end of a text. */

const LINE_FEED = 0x0a;

/** How much room a line gets at first; it doubles from there. */
const FIRST_ROOM = 64 * 1024;

/** What {@link LineReader.read} throws. */
export class LineTooLong extends Error {
  constructor(limit: number) {
    super(`a line is longer than ${limit} bytes`);
    this.name = 'LineTooLong';
  }
}

/** Cuts bytes into lines, and holds no more than one line of the greatest length. */
export class LineReader {
  readonly #limit: number;
  // One buffer that grows, not a list of pieces: a process that writes byte by byte must not cost an object for each.
  #held = Buffer.alloc(0);
  #length = 0;

  /** `limit` is how many bytes a line may have before its line feed. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * The lines that this piece ends, without their line feeds.
   *
   * @throws LineTooLong as soon as a line is longer than the limit, whether its end has come or not.
   */
  *read(piece: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, start)) {
      const rest = piece.subarray(start, end);
      start = end + 1;
      this.#check(rest);
      if (this.#length === 0) {
        yield rest;
      } else {
        this.#hold(rest);
        const line = this.#held.subarray(0, this.#length);
        this.#held = Buffer.alloc(0);
        this.#length = 0;
        yield line;
      }
    }
    const rest = piece.subarray(start);
    this.#check(rest);
    this.#hold(rest);
  }

  #check(rest: Buffer): void {
    if (this.#length + rest.length > this.#limit) {
      throw new LineTooLong(this.#limit);
    }
  }

  #hold(rest: Buffer): void {
    const needed = this.#length + rest.length;
    if (needed > this.#held.length) {
      const room = Buffer.allocUnsafe(Math.max(FIRST_ROOM, needed, Math.min(this.#limit, this.#held.length * 2)));
      this.#held.copy(room, 0, 0, this.#length);
      this.#held = room;
    }
    rest.copy(this.#held, this.#length);
    this.#length = needed;
  }
}

/** The last bytes of a stream. */
export class Tail {
  readonly #limit: number;
  #bytes: Buffer = Buffer.alloc(0);
  #cut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(piece: Buffer): void {
    const joined = piece.length >= this.#limit ? piece : Buffer.concat([this.#bytes, piece]);
    this.#cut ||= this.#bytes.length + piece.length > this.#limit;
    // A copy, so that a small end does not keep a large piece alive.
    this.#bytes = Buffer.from(joined.subarray(Math.max(0, joined.length - this.#limit)));
  }

  /** As text. A character that was cut in two at the beginning is left out. */
  text(): string {
    let start = 0;
    if (this.#cut) {
      while (start < 3 && ((this.#bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    }
    return this.#bytes.subarray(start).toString('utf8');
  }
}
