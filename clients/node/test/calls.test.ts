import { expect, test } from 'vitest';

import { createRustEvidenceHost, MAX_REQUEST_BYTES } from '../src/index.js';
import { errorOf, fakeHost, gone } from './fakes.js';

test('nothing is started before the first call', async () => {
  const { host, children } = fakeHost(['good']);
  expect(children).toHaveLength(0);
  expect(host.processId).toBeUndefined();
  await host.describe();
  expect(children).toHaveLength(1);
  expect(host.processId).toBe(children[0]?.pid);
  expect(host.bridgeProcessId).toBeUndefined();
});

test('calls have the ids 1, 2, 3 and share one process', async () => {
  const { host, children, requests } = fakeHost(['good']);
  await host.describe();
  await host.discover({ workspace: '/w/demo', maxSessions: 5 });
  await host.observe({ workspace: '/w/demo', sessions: [] });
  expect(requests()).toEqual([
    { version: 1, id: 1, method: 'host.describe', params: {} },
    { version: 1, id: 2, method: 'sessions.discover', params: { workspace: '/w/demo', maxSessions: 5 } },
    { version: 1, id: 3, method: 'artifacts.observe', params: { workspace: '/w/demo', sessions: [] } },
  ]);
  expect(children).toHaveLength(1);
});

test.each([
  ['an unknown transport', { executable: 'host', transport: 'tcp' as 'stdio' }, TypeError],
  ['a blank executable', { executable: ' ' }, TypeError],
  ['a deadline of nothing', { executable: 'host', timeoutMs: 0 }, RangeError],
  ['a deadline that is not a number', { executable: 'host', timeoutMs: Number.NaN }, RangeError],
  ['a deadline that no timer can wait for', { executable: 'host', timeoutMs: 2 ** 31 }, RangeError],
])('%s is refused at once', (_, options, kind) => {
  expect(() => createRustEvidenceHost(options)).toThrow(kind);
});

test('another protocol is refused by describe', async () => {
  const { host } = fakeHost(['other-protocol']);
  const error = await errorOf(host.describe());
  expect(error.code).toBe('protocol');
  expect(error.message).toBe('Unexpected evidence host protocol: evidence-2\u{fffd}[31m');
});

// evidence defect 13
test('a call error keeps its code, and the process goes on', async () => {
  const { host, children } = fakeHost(['call-error']);
  const first = await errorOf(host.describe());
  expect(first).toMatchObject({
    code: 'response-limit',
    message: 'The answer would be too long.',
    method: 'host.describe',
    sent: true,
  });
  await errorOf(host.describe());
  expect(children).toHaveLength(1);
});

test('a call error without a code has one', async () => {
  const { host } = fakeHost(['call-error-without-a-code']);
  expect(await errorOf(host.describe())).toMatchObject({ code: 'call-failed', message: 'No.' });
});

test.each(['null-result', 'list-as-result'])('a result that is not an object is refused: %s', async (behaviour) => {
  const { host, children } = fakeHost([behaviour]);
  const error = await errorOf(host.discover({ workspace: '/w' }));
  expect(error.code).toBe('empty-result');
  expect(error.message).toBe('Evidence host returned an empty result.');
  await errorOf(host.discover({ workspace: '/w' }));
  expect(children).toHaveLength(1);
});

test('characters that are cut into bytes arrive whole', async () => {
  const { host } = fakeHost(['byte-by-byte']);
  expect(await host.discover({ workspace: '/w' })).toEqual({ text: 'naïve 日本 🧭' });
});

test('blank lines and carriage returns are passed over', async () => {
  const { host } = fakeHost(['blank-lines']);
  await host.discover({ workspace: '/w' });
  expect(await host.discover({ workspace: '/w/2' })).toMatchObject({ params: { workspace: '/w/2' } });
});

test('a reply that comes with the last breath of the process counts', async () => {
  const { host, children } = fakeHost(['reply-with-last-breath']);
  await host.discover({ workspace: '/1' });
  await gone(children[0]!);
  expect(await host.discover({ workspace: '/2' })).toMatchObject({ params: { workspace: '/2' } });
  expect(children).toHaveLength(2);
});

/** A workspace whose request, with the id 1, is this many bytes long with its line feed. */
function workspaceOf(bytes: number, filler: string): string {
  const frame = (workspace: string) =>
    Buffer.byteLength(`${JSON.stringify({ version: 1, id: 1, method: 'sessions.discover', params: { workspace } })}\n`);
  const room = bytes - frame('');
  const fillers = Math.floor(room / Buffer.byteLength(filler));
  return filler.repeat(fillers) + 'x'.repeat(room - fillers * Buffer.byteLength(filler));
}

test.each([
  ['one byte each', 'a'],
  ['three bytes each', '日'],
])('a request of exactly 4 MiB with its line feed is sent, of characters of %s', async (_, filler) => {
  const { host } = fakeHost(['good']);
  const workspace = workspaceOf(MAX_REQUEST_BYTES, filler);
  expect(await host.discover({ workspace })).toMatchObject({ params: { workspace } });
});

test.each([
  ['one byte each', 'a'],
  ['three bytes each', '日'],
])('a request of one byte more is not sent, of characters of %s', async (_, filler) => {
  const { host, children } = fakeHost(['good']);
  const error = await errorOf(host.discover({ workspace: workspaceOf(MAX_REQUEST_BYTES + 1, filler) }));
  expect(error).toMatchObject({ code: 'request-limit', sent: false });
  expect(children).toHaveLength(0);
});

test('a reply of exactly 16 MiB is read', async () => {
  const { host } = fakeHost(['longest-reply']);
  expect(Object.keys(await host.discover({ workspace: '/w' }))).toEqual(['text']);
});

/** Lists that stand in each other so deep. */
function nested(depth: number): unknown {
  return depth === 0 ? 0 : [nested(depth - 1)];
}

const circle: Record<string, unknown> = {};
circle['circle'] = circle;

test.each([
  ['a circle', { workspace: '/w', circle }],
  ['a big integer', { workspace: '/w', maxSessions: 1n }],
  ['half of a character', { workspace: '/w/\ud83e' }],
  ['half of a character after a backslash', { workspace: '\\\\\udded' }],
  ['lists that stand 127 deep below the frame and the parameters', { workspace: '/w', more: nested(127) }],
  ['a list', []],
  ['nothing', null],
])('parameters that cannot be sent reject the call and nothing else: %s', async (_, params) => {
  const { host, children } = fakeHost(['good']);
  expect((await errorOf(host.discover(params as never))).code).toBe('invalid-request');
  expect(children).toHaveLength(0);
  await host.describe();
});

test('parameters as deep as the host reads are sent, and brackets in text are not depth', async () => {
  const { host } = fakeHost(['good']);
  const params = { workspace: `\\" ${'[{'.repeat(200)}`, more: nested(126) };
  expect(await host.discover(params)).toMatchObject({ params });
});

test('text that only looks like half of a character is sent', async () => {
  const { host } = fakeHost(['good']);
  const workspace = 'C:\\ud83e and 🧭';
  expect(await host.discover({ workspace })).toMatchObject({ params: { workspace } });
});

test('parameters are as they were when the call was made', async () => {
  const { host } = fakeHost(['slow']);
  const params = { workspace: '/before' };
  const first = host.describe();
  const second = host.discover(params);
  params.workspace = '/after';
  await first;
  expect(await second).toMatchObject({ params: { workspace: '/before' } });
});
