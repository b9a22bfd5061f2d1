import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';

import { expect, test } from 'vitest';

import { createRustEvidenceHost, EvidenceHostError } from '../src/index.js';

/** Numbers below a bound, the same for the same seed. */
function random(seed: number): (bound: number) => number {
  let state = seed + 1;
  return (bound) => {
    // xorshift32
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}

/** A child in this process that does what comes up, whenever it is asked something. */
class NoisyChild extends EventEmitter {
  readonly pid = 4_242;
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  exitCode: number | null = null;
  signalCode: string | null = null;
  readonly #below: (bound: number) => number;

  constructor(below: (bound: number) => number) {
    super();
    this.#below = below;
    this.stdin.on('data', (piece: Buffer) => {
      // How long it may take to shut down is not the matter here.
      if (piece.includes('shutdown')) this.kill();
      else this.#act(/"id":(\d+)/.exec(piece.toString())?.[1] ?? '1');
    });
    this.stdin.on('close', () => this.kill());
  }

  kill(): boolean {
    if (this.exitCode === null) {
      this.exitCode = 137;
      setImmediate(() => this.emit('exit', null, 'SIGKILL'));
    }
    return true;
  }

  #act(id: string): void {
    const good = `{"version":1,"id":${id},"result":{"text":"日本 🧭"}}\n`;
    const bytes = Buffer.from(good);
    const acts = [
      () => this.stdout.write(good),
      () => this.stdout.write(good),
      () => this.stdout.write(`{"version":1,"id":${id},"error":{"code":"internal","message":"no"}}\n`),
      () => this.stdout.write('\n \n'),
      () => this.stdout.write(bytes.subarray(0, this.#below(bytes.length))),
      () => this.stdout.write(Buffer.from(bytes.map((byte) => (this.#below(20) === 0 ? this.#below(256) : byte)))),
      () => this.stdout.write(good + good),
      () => this.stdout.write('{"version":1,"event":{"type":"transport"}}\n'),
      () => this.stdout.write('{"version":1,"id":1e309,"result":{}}\n'),
      () => this.stdout.write(`${'['.repeat(5_000)}\n`),
      () => this.stderr.write(Buffer.from([0xff, 0x1b, 0x0a])),
      () => this.stdout.end(),
      () => this.stdout.destroy(new Error('broken')),
      () => this.stdin.destroy(new Error('EPIPE')),
      () => this.stderr.destroy(new Error('broken')),
      () => this.emit('error', new Error('kill EPERM')),
      () => {
        this.exitCode = 1;
        this.emit('exit', 1, null);
      },
      () => this.emit('close', 1, null),
    ];
    for (let turn = this.#below(3); turn >= 0; turn -= 1) acts[this.#below(acts.length)]?.();
  }
}

test('whatever a process does, every call is settled, with an answer or a reason', async () => {
  let settled = 0;
  let answered = 0;
  for (let seed = 0; seed < 200; seed += 1) {
    const below = random(seed * 7_919);
    const host = createRustEvidenceHost({
      executable: 'host',
      timeoutMs: 20,
      spawnProcess: () => new NoisyChild(below) as unknown as ChildProcess,
    });
    const calls = Array.from({ length: 1 + below(4) }, () => host.discover({ workspace: '/w' }));
    if (below(8) === 0) void host.close();
    for (const outcome of await Promise.allSettled(calls)) {
      settled += 1;
      if (outcome.status === 'fulfilled') answered += 1;
      else expect(outcome.reason).toBeInstanceOf(EvidenceHostError);
    }
    // A process that ends its input alone is found out by the next call.
    await host.discover({ workspace: '/w' }).catch((error: unknown) => expect(error).toBeInstanceOf(EvidenceHostError));
    await host.close();
  }
  expect(settled).toBeGreaterThan(200);
  expect(answered).toBeGreaterThan(50);
  expect(answered).toBeLessThan(settled);
});
