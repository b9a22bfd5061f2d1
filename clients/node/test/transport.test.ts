import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { createRustEvidenceHost } from '../src/index.js';
import { errorOf, FAKE_HOST, fakeHost, gone } from './fakes.js';

const NSXPC = { transport: 'nsxpc' } as const;

/** A frame in which `BRIDGE` stands for the process id of the bridge. */
const framed = (event: string) => `{"version":1,"event":${event}}`;

const REFUSED: [string, string | [string, string], string][] = [
  ['missing', 'no-proof', 'that frame is not a transport proof'],
  ['late', 'proof-after-the-reply', 'that frame is not a transport proof'],
  ['preceded by garbage', ['first-frame', 'hello'], 'that frame is not a transport proof'],
  ['another event', ['first-frame', framed('{"type":"progress"}')], 'that frame is not a transport proof'],
  ['not an object', ['first-frame', framed('"nsxpc"')], 'that frame is not a transport proof'],
  ['of another version', ['first-frame', '{"version":2,"event":{"type":"transport","transport":"nsxpc","servicePid":1,"bridgePid":BRIDGE}}'], 'that frame is not a transport proof'],
  ['of another transport', ['proof-of', '{"transport":"stdio"}'], 'the proof names another transport'],
  ['without a service', ['first-frame', framed('{"type":"transport","transport":"nsxpc","bridgePid":BRIDGE}')], 'the proof does not name two processes'],
  ['without a bridge', ['first-frame', framed('{"type":"transport","transport":"nsxpc","servicePid":1}')], 'the proof does not name two processes'],
  ['of service 0', ['proof-of', '{"servicePid":0}'], 'the proof does not name two processes'],
  ['of a negative service', ['proof-of', '{"servicePid":-5}'], 'the proof does not name two processes'],
  ['of a fractional service', ['proof-of', '{"servicePid":1.5}'], 'the proof does not name two processes'],
  ['of a service as text', ['proof-of', '{"servicePid":"17"}'], 'the proof does not name two processes'],
  ['of the wrong bridge', ['proof-of', '{"bridgePid":1}'], 'the proof names a bridge that this client has not started'],
  ['of the bridge as its own service', ['first-frame', framed('{"type":"transport","transport":"nsxpc","servicePid":BRIDGE,"bridgePid":BRIDGE}')], 'the proof names the bridge itself as the service'],
];

test.each(REFUSED)('a proof is refused when it is %s', async (_, behaviour, refusal) => {
  const { host, children } = fakeHost([behaviour], NSXPC);
  const [first, second] = await Promise.all([errorOf(host.describe()), errorOf(host.describe())]);
  for (const error of [first, second]) {
    expect(error.code).toBe('transport-unproven');
    expect(error.message).toBe(
      `Evidence host did not prove an NSXPC service before its first frame; refusing a silent stdio fallback: ${refusal}.`,
    );
  }
  await gone(children[0]!);
  expect(host.processId).toBeUndefined();
  expect(host.bridgeProcessId).toBeUndefined();
});

test('a bridge that says nothing is refused at the deadline', async () => {
  const { host } = fakeHost(['silent'], { ...NSXPC, timeoutMs: 500 });
  const error = await errorOf(host.describe());
  expect(error.code).toBe('timeout');
  expect(error.message).toMatch(/^host\.describe timed out\. Evidence host did not prove an NSXPC service/);
});

test('a bridge that ends before its proof is refused', async () => {
  const { host } = fakeHost(['exit-at-once'], NSXPC);
  const error = await errorOf(host.describe());
  expect(error.code).toBe('exited');
  expect(error.message).toMatch(/\(code 7\)\. Evidence host did not prove an NSXPC service .* \[evidence-host\] no home$/);
});

test('a proof that is repeated before the reply is refused', async () => {
  const { host, children } = fakeHost(['proof-twice'], NSXPC);
  const error = await errorOf(host.describe());
  expect(error).toMatchObject({
    code: 'unexpected-event',
    message: 'Evidence host sent an event after its transport proof.',
  });
  await gone(children[0]!);
});

// evidence defect 13
test('a proof is needed again from every process', async () => {
  const { host, children } = fakeHost(['proof-then-good', 'no-proof', 'proof-then-good'], NSXPC);
  await host.describe();
  expect(host.bridgeProcessId).toBe(children[0]?.pid);
  expect(host.processId).toBe(children[0]!.pid! + 1);
  children[0]?.kill('SIGKILL');
  await gone(children[0]!);

  const error = await errorOf(host.describe());
  expect(error.code).toBe('transport-unproven');
  expect(children).toHaveLength(2);

  await host.describe();
  expect(host.bridgeProcessId).toBe(children[2]?.pid);
});

test('a blank line before the proof is passed over', async () => {
  const proof = framed('{"type":"transport","transport":"nsxpc","servicePid":1,"bridgePid":BRIDGE}');
  const { host } = fakeHost([['first-frame', `\n${proof}`]], NSXPC);
  await host.describe();
  expect(host.processId).toBe(1);
});

test('nothing is named before it is proven', async () => {
  const { host, requests } = fakeHost(['silent'], NSXPC);
  const call = errorOf(host.describe());
  await expect.poll(() => requests().length).toBe(1);
  expect(host.processId).toBeUndefined();
  expect(host.bridgeProcessId).toBeUndefined();
  await host.close();
  expect((await call).message).toBe('Evidence host is closed.');
});

test('the bridge, the service and the host are three processes', async () => {
  const host = createRustEvidenceHost({
    executable: process.execPath,
    transport: 'nsxpc',
    spawnProcess: (file, args, options) =>
      spawn(file, [fileURLToPath(new URL('stand-in-bridge.mjs', import.meta.url)), process.execPath, FAKE_HOST, ...args], options),
  });
  const { pid } = await host.describe();
  const pids = [host.bridgeProcessId, host.processId, pid];
  expect(new Set(pids).size).toBe(3);
  for (const one of pids) expect(one).toBeGreaterThan(0);
  await host.close();
});
