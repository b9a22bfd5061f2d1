import { spawn } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { errorOf, FAKE_HOST, fakeHost, gone } from './fakes.js';

test('closing asks the process to shut down', async () => {
  const { host, children, requests } = fakeHost(['good']);
  await host.describe();
  await host.close();
  await gone(children[0]!);
  expect(children[0]?.exitCode).toBe(0);
  expect(requests().map((request) => request.method)).toEqual(['host.describe', 'shutdown']);
  expect(host.processId).toBeUndefined();
});

test('closing twice is closing once', async () => {
  const { host, requests } = fakeHost(['good']);
  await host.describe();
  const first = host.close();
  expect(host.close()).toBe(first);
  await first;
  await host.close();
  expect(requests().filter((request) => request.method === 'shutdown')).toHaveLength(1);
});

test('closing what was never started starts nothing', async () => {
  const { host, children } = fakeHost(['good']);
  await host.close();
  expect(children).toHaveLength(0);
});

test('calls after closing are rejected', async () => {
  const { host, children } = fakeHost(['good']);
  await host.close();
  const error = await errorOf(host.describe());
  expect(error).toMatchObject({ code: 'closed', message: 'Evidence host is closed.', sent: false });
  expect((await errorOf(host.discover({ workspace: '/w' }))).code).toBe('closed');
  expect((await errorOf(host.observe({ workspace: '/w' }))).code).toBe('closed');
  expect(children).toHaveLength(0);
});

test('closing rejects every pending call at once, and does not wait behind them', async () => {
  const { host, children, requests } = fakeHost(['silent']);
  const calls = Array.from({ length: 16 }, () => errorOf(host.describe()));
  await expect.poll(() => requests().length).toBe(1);
  const begun = Date.now();
  const closed = host.close();
  const errors = await Promise.all(calls);
  expect(Date.now() - begun).toBeLessThan(900);
  expect(errors.map((error) => error.code)).toEqual(calls.map(() => 'closed'));
  expect(errors.map((error) => error.sent)).toEqual([true, ...calls.slice(1).map(() => false)]);
  await closed;
  await gone(children[0]!);
  expect(Date.now() - begun).toBeLessThan(5_000);
});

test('parameters that close the client while they are written start nothing', async () => {
  const { host, children } = fakeHost(['good']);
  const workspace = { toJSON: () => void host.close() } as unknown as string;
  expect((await errorOf(host.discover({ workspace }))).code).toBe('closed');
  expect(children).toHaveLength(0);
});

test('closing while the process starts leaves nothing behind', async () => {
  const { host, children } = fakeHost(['good']);
  const call = errorOf(host.describe());
  await host.close();
  expect((await call).code).toBe('closed');
  await gone(children[0]!);
});

test('a process that ignores shutdown, the end of its input and every other signal is killed', async () => {
  const { host, children } = fakeHost(['ignore-shutdown']);
  await host.describe();
  await host.close();
  await gone(children[0]!);
  expect(children[0]?.signalCode).toBe('SIGKILL');
});

test('closing after a crash has nothing to do', async () => {
  const { host } = fakeHost(['crash-before-reply']);
  await errorOf(host.describe());
  await host.close();
});

/** Runs a script with the built package, and a fake host that behaves so. */
function run(behaviour: string, script: string): Promise<{ code: number | null; out: string; err: string }> {
  const built = pathToFileURL(fileURLToPath(new URL('../dist/index.js', import.meta.url))).href;
  const source = `
    import { spawn } from 'node:child_process';
    const { createRustEvidenceHost } = await import(${JSON.stringify(built)});
    const host = createRustEvidenceHost({
      executable: process.execPath,
      spawnProcess: (file, args, options) => spawn(file, [${JSON.stringify(FAKE_HOST)}, ${JSON.stringify(behaviour)}], options),
    });
    ${script}`;
  const child = spawn(process.execPath, ['--input-type=module', '--unhandled-rejections=strict', '-e', source], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 15_000,
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (piece) => (out += piece));
  child.stderr.on('data', (piece) => (err += piece));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

test.each([
  ['that is idle', 'good', 'await host.describe(); console.log(host.processId);', 0],
  ['that was closed', 'good', 'console.log((await host.describe()).pid); await host.close();', 0],
  ['that could not be asked to shut down', 'ignore-shutdown', 'console.log((await host.describe()).pid); await host.close();', 0],
  ['whose call was rejected', 'crash-before-reply', 'await host.describe().catch((error) => console.log(error.code));', 0],
])('a program can end with a host %s', async (_, behaviour, script, code) => {
  const ended = await run(behaviour, script);
  expect(ended).toMatchObject({ code, err: '' });
  const pid = Number(ended.out);
  if (Number.isInteger(pid)) {
    await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false);
  }
});

test('a program stays while a call is pending', async () => {
  const ended = await run('slow', 'host.describe().then(() => console.log("answered"));');
  expect(ended).toEqual({ code: 0, out: 'answered\n', err: '' });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
