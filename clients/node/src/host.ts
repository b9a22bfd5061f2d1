/** The client: one process at a time, one call at a time, and nothing sent twice. */

import { spawn } from 'node:child_process';

import { EvidenceHostError } from './errors.js';
import { encodeRequest, isObject } from './frames.js';
import type { Failure, Frame } from './frames.js';
import { couldNotStart, EvidenceProcess } from './process.js';
import type { SpawnProcess } from './process.js';
import { UNPROVEN } from './proof.js';
import { EVIDENCE_PROTOCOL, MAX_PENDING_CALLS, MAX_REQUEST_ID } from './protocol.js';
import type {
  Description,
  DiscoverParams,
  Discovery,
  EvidenceTransport,
  Observations,
  ObserveParams,
} from './protocol.js';

/** How a host is made. */
export interface RustEvidenceHostOptions {
  /** The path of `harness-evidence-host`, or with `nsxpc` of `harness-evidence-client`. */
  executable: string;
  /** `stdio` when absent. There is no falling back from one to the other. */
  transport?: EvidenceTransport | undefined;
  /** How long a reply may take, from the writing of its request, in milliseconds; 60,000 when absent. */
  timeoutMs?: number | undefined;
  /** How the process is started; `spawn` of `node:child_process` when absent. */
  spawnProcess?: SpawnProcess | undefined;
}

/**
 * A supervised evidence host. The process is started by the first call, and by the next call after it has ended.
 *
 * A call is rejected with an {@link EvidenceHostError}. When the process fails, a deadline passes, or the client is
 * closed, *every* pending call is rejected, those that wait for their turn included, and none is sent again.
 */
export interface RustEvidenceHost {
  /** The process that answers: the child, or with `nsxpc` the service that it has proven. None while there is none. */
  readonly processId: number | undefined;
  /** With `nsxpc` the child, which carries the bytes, once it has proven a service. */
  readonly bridgeProcessId: number | undefined;
  /** What the host is. Rejected when it speaks another protocol than this client. */
  describe(): Promise<Description>;
  /** The sessions of a project. */
  discover(params: DiscoverParams): Promise<Discovery>;
  /** The files of a project that sessions touched. */
  observe(params: ObserveParams): Promise<Observations>;
  /** Shuts the host down, and ends it if it does not. Every later call is rejected. */
  close(): Promise<void>;
}

/** How long a reply may take when nothing else is said, in milliseconds. */
const DEFAULT_TIMEOUT = 60_000;

/** The longest time that a timer can wait, in milliseconds. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** How much of the standard error a message shows, in characters. */
const SHOWN_STDERR = 1_000;

/** How much of a value that came from the process a message shows, in characters. */
const SHOWN_VALUE = 200;

/**
 * A client of an evidence host. Nothing is started before the first call.
 *
 * @throws TypeError when the executable is blank or there is no such transport; RangeError when no timer can wait that
 * long.
 */
export function createRustEvidenceHost(options: RustEvidenceHostOptions): RustEvidenceHost {
  return new SupervisedHost(options);
}

interface Pending {
  id: number;
  method: string;
  frame: Buffer;
  /** The process that it was written to. */
  sentTo?: EvidenceProcess;
  deadline?: NodeJS.Timeout;
  resolve(result: object): void;
  reject(error: EvidenceHostError): void;
}

class SupervisedHost implements RustEvidenceHost {
  readonly #executable: string;
  readonly #transport: EvidenceTransport;
  readonly #timeout: number;
  readonly #spawn: SpawnProcess;
  /** The calls that are pending, in order. Only the first of them is ever in flight. */
  #pending: Pending[] = [];
  #process: EvidenceProcess | undefined;
  #nextId = 1;
  #closing: Promise<void> | undefined;

  constructor({ executable, transport = 'stdio', timeoutMs = DEFAULT_TIMEOUT, spawnProcess = spawn }: RustEvidenceHostOptions) {
    if (typeof executable !== 'string' || executable.trim() === '') {
      throw new TypeError('An evidence host needs the path of its executable.');
    }
    if (transport !== 'stdio' && transport !== 'nsxpc') {
      throw new TypeError(`Unknown evidence host transport: ${shown(transport)}`);
    }
    if (!(timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT)) {
      throw new RangeError(`timeoutMs must be above 0 and at most ${LONGEST_TIMEOUT}.`);
    }
    this.#executable = executable;
    this.#transport = transport;
    this.#timeout = timeoutMs;
    this.#spawn = spawnProcess;
  }

  get processId(): number | undefined {
    const process = this.#usable();
    return this.#transport === 'nsxpc' ? process?.servicePid : process?.pid;
  }

  get bridgeProcessId(): number | undefined {
    const process = this.#usable();
    return this.#transport === 'nsxpc' && process?.proven ? process.pid : undefined;
  }

  async describe(): Promise<Description> {
    const description = await this.#call<Description>('host.describe', {});
    if (description.protocol !== EVIDENCE_PROTOCOL) {
      throw new EvidenceHostError('protocol', `Unexpected evidence host protocol: ${shown(description.protocol)}`, {
        method: 'host.describe',
        sent: true,
      });
    }
    return description;
  }

  discover(params: DiscoverParams): Promise<Discovery> {
    return this.#call<Discovery>('sessions.discover', params);
  }

  observe(params: ObserveParams): Promise<Observations> {
    return this.#call<Observations>('artifacts.observe', params);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    this.#rejectAll({ code: 'closed', message: 'Evidence host is closed.' }, process);
    await process?.shutDown(encodeRequest(this.#takeId(), 'shutdown', {}));
  }

  async #call<Answer extends object>(method: string, params: object): Promise<Answer> {
    this.#admit(method);
    if (!isObject(params)) {
      throw new EvidenceHostError('invalid-request', `The parameters of ${method} must be an object.`, { method });
    }
    const id = this.#takeId();
    const frame = encodeRequest(id, method, params);
    // Writing the parameters may have run code of theirs, which may have closed this client, or called it.
    this.#admit(method);
    return new Promise<Answer>((resolve, reject) => {
      this.#pending.push({ id, method, frame, resolve: resolve as (result: object) => void, reject });
      this.#sendFirst();
    });
  }

  /** Throws when no call can be taken. */
  #admit(method: string): void {
    if (this.#closing) throw new EvidenceHostError('closed', 'Evidence host is closed.', { method });
    if (this.#pending.length >= MAX_PENDING_CALLS) {
      throw new EvidenceHostError(
        'queue-full',
        `Evidence host queue is full: ${MAX_PENDING_CALLS} calls are pending.`,
        { method },
      );
    }
  }

  #takeId(): number {
    const id = this.#nextId;
    this.#nextId = id === MAX_REQUEST_ID ? 1 : id + 1;
    return id;
  }

  /** The process, unless it is known to end. */
  #usable(): EvidenceProcess | undefined {
    return this.#process?.ending ? undefined : this.#process;
  }

  /** Writes the first pending call, if it has not been written, to the process, which may have to be started. */
  #sendFirst(): void {
    const first = this.#pending[0];
    if (!first || first.sentTo) return;
    if (this.#process?.ending) {
      this.#process.kill();
      this.#process = undefined;
    }
    const process = this.#process ?? this.#start();
    if (!process) return;
    first.sentTo = process;
    first.deadline = setTimeout(() => this.#deadline(first), this.#timeout).unref();
    process.hold(true);
    process.write(first.frame);
  }

  #start(): EvidenceProcess | undefined {
    try {
      const process: EvidenceProcess = new EvidenceProcess(this.#executable, this.#transport, this.#spawn, {
        reply: (frame) => this.#reply(process, frame),
        drained: () => this.#drained(process),
        failed: (failure) => this.#failed(process, failure),
      });
      this.#process = process;
    } catch (cause) {
      this.#rejectAll(couldNotStart(cause), undefined);
    }
    return this.#process;
  }

  #reply(process: EvidenceProcess, frame: Frame & { kind: 'result' | 'error' }): void {
    const first = this.#pending[0];
    if (!first?.sentTo || first.id !== frame.id) {
      process.kill();
      this.#failed(process, { code: 'unknown-id', message: `Evidence host returned an unknown id: ${frame.id}.` });
      return;
    }
    this.#pending.shift();
    clearTimeout(first.deadline);
    const details = { method: first.method, sent: true, stderr: process.stderr };
    if (frame.kind === 'error') {
      first.reject(new EvidenceHostError(frame.code, frame.message, details));
    } else if (isObject(frame.result)) {
      first.resolve(frame.result);
    } else {
      first.reject(new EvidenceHostError('empty-result', 'Evidence host returned an empty result.', details));
    }
  }

  /** The next call goes out only when all that came with the reply is known to be in order. */
  #drained(process: EvidenceProcess): void {
    if (this.#process !== process) return;
    const first = this.#pending[0];
    if (first?.sentTo) return;
    if (!first) {
      process.hold(false);
    } else if (process.ending) {
      process.kill();
      this.#failed(process, process.ending);
    } else {
      this.#sendFirst();
    }
  }

  #deadline(call: Pending): void {
    // A reply that came in time may wait behind whatever kept this process busy: it is read before this runs.
    setImmediate(() => {
      const process = call.sentTo;
      if (!process || this.#pending[0] !== call) return;
      process.kill();
      const message = `${call.method} timed out.`;
      this.#failed(process, { code: 'timeout', message: process.proven ? message : `${message} ${UNPROVEN}.` });
    });
  }

  #failed(process: EvidenceProcess, failure: Failure): void {
    if (this.#process !== process) return;
    this.#process = undefined;
    this.#rejectAll(failure, process);
  }

  /** Rejects every pending call, sent or not. */
  #rejectAll({ code, message, cause }: Failure, process: EvidenceProcess | undefined): void {
    const pending = this.#pending;
    this.#pending = [];
    const stderr = process?.stderr ?? '';
    const unproven = process && !process.proven && !message.includes(UNPROVEN) && code !== 'closed' && process.pid;
    const said = stderr.trim() === '' || code === 'closed' ? '' : ` It wrote: ${shownEnd(stderr)}`;
    for (const call of pending) {
      clearTimeout(call.deadline);
      const sent = call.sentTo !== undefined && call.sentTo.pid !== undefined;
      call.reject(
        new EvidenceHostError(code, `${message}${unproven ? ` ${UNPROVEN}.` : ''}${said}`, {
          method: call.method,
          sent,
          stderr,
          cause,
        }),
      );
    }
  }
}

/** A value that is not ours, for a message: short, and with nothing that a terminal would act on. */
function shown(value: unknown): string {
  return visible(String(value).slice(0, SHOWN_VALUE));
}

/** The end of a text that is not ours, for a message. */
function shownEnd(text: string): string {
  return visible(text.trim()).slice(-SHOWN_STDERR);
}

function visible(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '\u{fffd}');
}
