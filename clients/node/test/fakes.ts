import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, expect } from 'vitest';

import { createRustEvidenceHost, EvidenceHostError } from '../src/index.js';
import type { RustEvidenceHost, RustEvidenceHostOptions, SpawnProcess } from '../src/index.js';

/** The fake host, as a path. */
export const FAKE_HOST = fileURLToPath(new URL('fake-host.mjs', import.meta.url));

/** A host of fake processes. */
export interface FakeHost {
  host: RustEvidenceHost;
  /** The processes that were started. */
  children: ChildProcess[];
  /** The requests that the processes have read, in order. */
  requests(): { id: number; method: string; params: Record<string, unknown> }[];
}

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'ibid-evidence-'));
  opened.push(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A host whose first process behaves as the first of these, the second as the second, and so on; the last one stays.
 * A behaviour is a name of `fake-host.mjs`, or a name and its argument.
 */
export function fakeHost(
  behaviours: (string | [string, string])[],
  options: Omit<RustEvidenceHostOptions, 'executable' | 'spawnProcess'> = {},
): FakeHost {
  const log = path.join(temporaryFolder(), 'requests');
  const children: ChildProcess[] = [];
  const spawnProcess: SpawnProcess = (executable, args, spawnOptions) => {
    const behaviour = behaviours[Math.min(children.length, behaviours.length - 1)] ?? 'good';
    const child = spawn(executable, [FAKE_HOST, ...[behaviour].flat(), ...args], {
      ...spawnOptions,
      env: { ...process.env, FAKE_HOST_LOG: log },
    });
    children.push(child);
    return child;
  };
  const host = createRustEvidenceHost({ executable: process.execPath, timeoutMs: 20_000, ...options, spawnProcess });
  opened.push(async () => {
    await host.close();
    for (const child of children) await gone(child);
  });
  return {
    host,
    children,
    requests: () =>
      (existsSync(log) ? readFileSync(log, 'utf8') : '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}

/** Fails when a child is still there after ten seconds: nothing may outlive a client. */
export async function gone(child: ChildProcess): Promise<void> {
  await expect.poll(() => child.exitCode !== null || child.signalCode !== null, { timeout: 10_000 }).toBe(true);
}

/** The error that a call is rejected with. */
export async function errorOf(call: Promise<unknown>): Promise<EvidenceHostError> {
  const error = await call.then(
    (answer) => new Error(`the call was answered: ${JSON.stringify(answer)?.slice(0, 200)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof EvidenceHostError)) throw error;
  return error;
}
