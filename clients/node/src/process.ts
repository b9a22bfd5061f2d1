/** One process of the host: how it starts, what it says, and how it ends. */

import type { ChildProcess, SpawnOptions } from 'node:child_process';

import { decodeFrame } from './frames.js';
import type { Failure, Frame } from './frames.js';
import { LineReader, LineTooLong, Tail } from './lines.js';
import { readProof, UNPROVEN } from './proof.js';
import { MAX_RESPONSE_BYTES } from './protocol.js';
import type { EvidenceTransport } from './protocol.js';

/** How a process is started; `spawn` of `node:child_process` is one. */
export type SpawnProcess = (executable: string, args: string[], options: SpawnOptions) => ChildProcess;

/** How much of the standard error is kept, in bytes. */
const STDERR_TAIL = 8 * 1024;

/**
 * How long the last bytes of a process that has ended are waited for, in milliseconds. Something that it started may
 * hold its output open.
 */
const LAST_BYTES = 500;

/** How long a process may take to shut down before it is killed, and then to be gone, in milliseconds. */
const SHUTDOWN = 1_000;

/** Who is told. None of these is called any more once the process has failed, was killed, or was shut down. */
export interface ProcessEvents {
  /** A reply, whatever its id. */
  reply(frame: Frame & { kind: 'result' | 'error' }): void;
  /** All that has arrived so far has been handed on. */
  drained(): void;
  /** It is of no more use, and was killed. */
  failed(failure: Failure): void;
}

export class EvidenceProcess {
  readonly #transport: EvidenceTransport;
  readonly #events: ProcessEvents;
  readonly #child: ChildProcess;
  readonly #lines = new LineReader(MAX_RESPONSE_BYTES);
  readonly #stderr = new Tail(STDERR_TAIL);
  #servicePid: number | undefined;
  /** Set once nobody is to be told any more. */
  #over = false;
  /** Set once it is known that the process ends. */
  #ending: Failure | undefined;
  #lastBytes: NodeJS.Timeout | undefined;

  /**
   * Starts the process. That it cannot be started may also be told later, to `failed`.
   *
   * @throws whatever `spawn` throws.
   */
  constructor(executable: string, transport: EvidenceTransport, spawn: SpawnProcess, events: ProcessEvents) {
    this.#transport = transport;
    this.#events = events;
    const child = spawn(executable, [], { stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
    this.#child = child;
    // These stay as long as the child does: an error that nobody listens to would end the caller's process.
    child.on('error', (cause) => this.#fail(couldNotStart(cause)));
    child.stdin?.on('error', (cause) => this.#inputClosed(cause));
    child.stdout?.on('error', () => this.#outputClosed());
    child.stderr?.on('error', () => {});

    child.stdout?.on('data', (piece: Buffer | string) => this.#read(asBytes(piece)));
    child.stdout?.on('end', () => this.#outputClosed());
    child.stderr?.on('data', (piece: Buffer | string) => this.#stderr.add(asBytes(piece)));
    child.on('exit', (code, signal) => this.#exited(code, signal));
    child.on('close', () => {
      if (this.#ending) this.#fail(this.#ending);
    });
  }

  /** The process id of the child; none when it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The process id of the service that a bridge has proven. */
  get servicePid(): number | undefined {
    return this.#servicePid;
  }

  /** Whether it has proven what its transport asks it to. */
  get proven(): boolean {
    return this.#transport === 'stdio' || this.#servicePid !== undefined;
  }

  /** Why it can take no further request, once that is known. */
  get ending(): Failure | undefined {
    return this.#ending;
  }

  /** The end of its standard error so far. */
  get stderr(): string {
    return this.#stderr.text();
  }

  /** Hands a frame to the process. */
  write(frame: Buffer): void {
    const stdin = this.#child.stdin;
    if (!stdin) {
      this.#fail(couldNotStart());
      return;
    }
    // A stream that is destroyed tells its callback, and nobody else.
    stdin.write(frame, (cause) => {
      if (cause) this.#inputClosed(cause);
    });
  }

  /** Whether the caller's process must stay for this one. It must while a call is pending. */
  hold(wanted: boolean): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const handle of [this.#child, stdin, stdout, stderr] as Holdable[]) {
      if (wanted) handle?.ref?.();
      else handle?.unref?.();
    }
  }

  /** Ends the process at once. */
  kill(): void {
    this.#over = true;
    clearTimeout(this.#lastBytes);
    killChild(this.#child);
    this.#release();
  }

  /** Asks the process to shut down, and ends it if it does not. */
  async shutDown(request: Buffer): Promise<void> {
    this.#over = true;
    clearTimeout(this.#lastBytes);
    this.hold(true);
    // What it still has to say must not keep it from reading.
    this.#child.stdout?.resume();
    this.#child.stdin?.end(request, () => {});
    await goneWithin(this.#child, SHUTDOWN);
    killChild(this.#child);
    await goneWithin(this.#child, SHUTDOWN);
    this.#release();
  }

  #read(piece: Buffer): void {
    if (this.#over) return;
    try {
      for (const line of this.#lines.read(piece)) {
        const frame = decodeFrame(line);
        if (frame) this.#take(frame);
        if (this.#over) return;
      }
    } catch (cause) {
      if (!(cause instanceof LineTooLong)) throw cause;
      const message = `Evidence host response exceeded ${MAX_RESPONSE_BYTES} bytes.`;
      this.#fail({ code: 'frame-limit', message: this.proven ? message : `${message} ${UNPROVEN}.`, cause });
      return;
    }
    this.#events.drained();
  }

  #take(frame: Frame): void {
    if (!this.proven) {
      const proof = readProof(frame, this.#child.pid);
      if ('refusal' in proof) this.#fail({ code: 'transport-unproven', message: `${UNPROVEN}: ${proof.refusal}.` });
      else this.#servicePid = proof.servicePid;
      return;
    }
    switch (frame.kind) {
      case 'failure':
        this.#fail(frame.failure);
        return;
      case 'event':
        this.#fail({
          code: 'unexpected-event',
          message:
            this.#transport === 'stdio'
              ? 'Evidence host sent a transport event on stdio, where there is none.'
              : 'Evidence host sent an event after its transport proof.',
        });
        return;
      default:
        this.#events.reply(frame);
    }
  }

  #inputClosed(cause: unknown): void {
    this.#end({ code: 'input-closed', message: 'Evidence host input closed.', cause });
  }

  #outputClosed(): void {
    this.#end({ code: 'exited', message: 'Evidence host closed its output during a request.' });
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#over) return;
    // Why the process ended says more than that a stream did.
    this.#ending = {
      code: 'exited',
      message: `Evidence host exited during a request (${signal ? `signal ${signal}` : `code ${code}`}).`,
    };
    this.#end(this.#ending);
  }

  /** Fails soon: what the process has written before, and how it ended, may still be on its way. */
  #end(failure: Failure): void {
    if (this.#over) return;
    this.#ending ??= failure;
    this.#lastBytes ??= setTimeout(() => this.#fail(this.#ending ?? failure), LAST_BYTES).unref();
  }

  #fail(failure: Failure): void {
    if (this.#over) return;
    this.kill();
    this.#events.failed(failure);
  }

  #release(): void {
    const { stdin, stdout, stderr } = this.#child;
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    this.hold(false);
  }
}

type Holdable = { ref?: () => void; unref?: () => void } | null | undefined;

function asBytes(piece: Buffer | string): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece;
}

/** That a process could not be started. */
export function couldNotStart(cause?: unknown): Failure {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return { code: 'start-failed', message: `Evidence host could not start${why}.`, cause };
}

function killChild(child: ChildProcess): void {
  try {
    child.kill('SIGKILL');
  } catch {
    // It is gone, or not ours to end; nothing more can be done.
  }
}

/** Waits until a child is gone, or that many milliseconds. */
async function goneWithin(child: ChildProcess, milliseconds: number): Promise<void> {
  if (child.pid === undefined || typeof child.exitCode === 'number' || typeof child.signalCode === 'string') return;
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      child.off('exit', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds).unref();
    child.on('exit', done);
  });
}
