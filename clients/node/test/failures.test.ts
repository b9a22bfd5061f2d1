import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { createRustEvidenceHost } from '../src/index.js';
import { errorOf, fakeHost, gone, temporaryFolder } from './fakes.js';

test.each([
  ['crash-before-reply', 'exited', 'Evidence host exited during a request (code 3). It wrote: [evidence-host] the disk is on fire'],
  ['crash-in-a-reply', 'exited', 'Evidence host exited during a request (code 1).'],
  ['crash-by-signal', 'exited', 'Evidence host exited during a request (signal SIGABRT).'],
  ['exit-at-once', 'exited', 'Evidence host exited during a request (code 7). It wrote: [evidence-host] no home'],
  ['close-output', 'exited', 'Evidence host closed its output during a request.'],
  ['garbage', 'malformed-frame', 'Evidence host returned malformed JSON.'],
  ['not-utf-8', 'malformed-frame', 'Evidence host returned malformed JSON.'],
  ['a-list', 'malformed-frame', 'Evidence host returned a frame that is not an object.'],
  ['version-2', 'malformed-frame', 'Evidence host returned an invalid envelope: its version is not 1.'],
  ['no-version', 'malformed-frame', 'Evidence host returned an invalid envelope: its version is not 1.'],
  ['id-as-text', 'malformed-frame', 'Evidence host returned an invalid envelope: its id is not an integer.'],
  ['no-id', 'malformed-frame', 'Evidence host returned an invalid envelope: its id is not an integer.'],
  ['fractional-id', 'malformed-frame', 'Evidence host returned an invalid envelope: its id is not an integer.'],
  ['neither-result-nor-error', 'malformed-frame', 'Evidence host returned an invalid envelope: it must have either a result or an error.'],
  ['result-and-error', 'malformed-frame', 'Evidence host returned an invalid envelope: it must have either a result or an error.'],
  ['error-as-text', 'malformed-frame', 'Evidence host returned an invalid envelope: its error has no message.'],
  ['unknown-id', 'unknown-id', 'Evidence host returned an unknown id: 2.'],
  ['transport-event', 'unexpected-event', 'Evidence host sent a transport event on stdio, where there is none.'],
  ['too-long-reply', 'frame-limit', 'Evidence host response exceeded 16777216 bytes.'],
  ['a-line-without-an-end', 'frame-limit', 'Evidence host response exceeded 16777216 bytes.'],
])('%s rejects every pending call, and the next call has a fresh process', async (behaviour, code, message) => {
  const { host, children, requests } = fakeHost([behaviour, 'good']);
  const calls = ['/1', '/2', '/3'].map((workspace) => errorOf(host.discover({ workspace })));
  const errors = await Promise.all(calls);
  expect(errors.map((error) => error.code)).toEqual([code, code, code]);
  expect(errors.map((error) => error.message)).toEqual([message, message, message]);
  expect(errors.map((error) => error.sent)).toEqual([true, false, false]);
  await gone(children[0]!);

  expect(await host.discover({ workspace: '/4' })).toMatchObject({ params: { workspace: '/4' } });
  expect(children).toHaveLength(2);
  expect(host.processId).toBe(children[1]?.pid);
  // Nothing is sent again, and what waited was never sent.
  const sent = requests().map((request) => request.params['workspace']);
  expect(sent.filter((workspace) => workspace !== '/1')).toEqual(['/4']);
  expect(sent.length).toBeLessThanOrEqual(2);
});

test('a program that is not there could not start', async () => {
  const host = createRustEvidenceHost({ executable: path.join(temporaryFolder(), 'missing') });
  const [first, second] = await Promise.all([errorOf(host.describe()), errorOf(host.describe())]);
  for (const error of [first, second]) {
    expect(error.code).toBe('start-failed');
    expect(error.message).toMatch(/^Evidence host could not start: spawn .* ENOENT\.$/);
    expect(error.sent).toBe(false);
  }
  expect((await errorOf(host.describe())).code).toBe('start-failed');
  await host.close();
});

test('a path that no program can have could not start', async () => {
  const host = createRustEvidenceHost({ executable: 'a\0b' });
  expect((await errorOf(host.describe())).code).toBe('start-failed');
  await host.close();
});

test('a process that stops reading is ended', async () => {
  const { host, children } = fakeHost(['stop-reading', 'good'], { timeoutMs: 10_000 });
  const error = await errorOf(host.discover({ workspace: 'x'.repeat(3_000_000) }));
  expect(error.code).toBe('input-closed');
  expect(error.message).toBe('Evidence host input closed.');
  await gone(children[0]!);
  await host.describe();
});

test('a process whose input is already gone is ended by the next call', async () => {
  const { host, children } = fakeHost(['good']);
  await host.describe();
  children[0]?.stdin?.destroy();
  // The fake takes the end of its input for the end of its work, and so it may be its exit that is told.
  expect((await errorOf(host.describe())).code).toMatch(/^(input-closed|exited)$/);
  await gone(children[0]!);
  await host.describe();
});

test('a deadline rejects every pending call, and the next call has a fresh process', async () => {
  const { host, children, requests } = fakeHost(['silent', 'good'], { timeoutMs: 4_000 });
  const [first, second] = await Promise.all([errorOf(host.describe()), errorOf(host.discover({ workspace: '/1' }))]);
  expect(first).toMatchObject({ code: 'timeout', message: 'host.describe timed out.', sent: true });
  expect(second).toMatchObject({ code: 'timeout', message: 'host.describe timed out.', sent: false });
  await gone(children[0]!);
  expect(children[0]?.signalCode).toBe('SIGKILL');
  await host.discover({ workspace: '/2' });
  expect(requests().map((request) => request.params['workspace'])).toEqual([undefined, '/2']);
});

test('a deadline runs from the writing of the request, not from the call', async () => {
  const { host } = fakeHost([['slow', '600']], { timeoutMs: 3_000 });
  const calls = Array.from({ length: 6 }, () => host.describe());
  expect(await Promise.all(calls)).toHaveLength(6);
});

test('a reply that came in time counts even when this process was too busy to read it', async () => {
  const { host } = fakeHost([['slow', '100']], { timeoutMs: 3_000 });
  await host.describe();
  const call = host.describe();
  // Lets the request out, and then keeps the event loop past the deadline; after this phase of it timers come first.
  await new Promise((done) => setTimeout(() => setImmediate(done), 20));
  const until = Date.now() + 3_500;
  while (Date.now() < until);
  expect(await call).toMatchObject({ platforms: ['claude'] });
});

test('a second reply in one piece is found before the next call is sent', async () => {
  const { host, children, requests } = fakeHost(['reply-twice', 'good']);
  const first = host.discover({ workspace: '/1' });
  const second = errorOf(host.discover({ workspace: '/2' }));
  expect(await first).toMatchObject({ params: { workspace: '/1' } });
  expect(await second).toMatchObject({ code: 'unknown-id', sent: false });
  await gone(children[0]!);
  await host.discover({ workspace: '/3' });
  expect(requests().map((request) => request.params['workspace'])).toEqual(['/1', '/3']);
});

test('a reply that nobody waits for ends the process', async () => {
  const { host, children } = fakeHost(['reply-twice-later', 'good']);
  await host.discover({ workspace: '/1' });
  await gone(children[0]!);
  expect(host.processId).toBeUndefined();
  await host.discover({ workspace: '/2' });
  expect(children).toHaveLength(2);
});

test('a frame that nobody asked for ends the process', async () => {
  const { host, children } = fakeHost(['unasked-frame', 'good']);
  // It has the id of this call, and so it is taken for its reply; the reply then is one too many.
  await host.discover({ workspace: '/1' });
  await gone(children[0]!);
  await host.discover({ workspace: '/2' });
  expect(children).toHaveLength(2);
});

test('a process that crashes after its reply is replaced', async () => {
  const { host, children } = fakeHost(['crash-after-reply']);
  await host.discover({ workspace: '/1' });
  await gone(children[0]!);
  await host.discover({ workspace: '/2' });
  expect(children).toHaveLength(2);
});

test('calls that waited when the process crashed are not sent to another', async () => {
  const { host, children, requests } = fakeHost(['crash-after-reply', 'good']);
  const first = host.discover({ workspace: '/1' });
  const second = errorOf(host.discover({ workspace: '/2' }));
  await first;
  expect((await second).code).toMatch(/^(exited|input-closed)$/);
  expect(children).toHaveLength(1);
  expect(requests().map((request) => request.params['workspace'])).toEqual(['/1']);
});

test('a crash is told although something else holds the output of the process open', async () => {
  const note = path.join(temporaryFolder(), 'pid');
  const { host } = fakeHost([['crash-with-a-child-that-holds-the-output', note]]);
  const begun = Date.now();
  const error = await errorOf(host.describe());
  process.kill(Number(readFileSync(note, 'utf8')), 'SIGKILL');
  expect(error).toMatchObject({ code: 'exited', message: 'Evidence host exited during a request (code 4).' });
  expect(Date.now() - begun).toBeLessThan(10_000);
});

test('noise on the standard error does not block the process', async () => {
  const { host } = fakeHost(['loud']);
  for (let call = 0; call < 3; call += 1) await host.describe();
});

// evidence defect 13
test('the last 8 KiB of the standard error are kept, and the end of them is in the message', async () => {
  const { host } = fakeHost(['loud-crash']);
  const error = await errorOf(host.describe());
  expect(error.code).toBe('exited');
  expect(error.message).toMatch(/\(code 101\)\. It wrote: é{950,1000}the last words\u{fffd}\[31m$/u);
  expect(error.stderr).toMatch(/^é+the last words\u001b\[31m$/);
  expect(Buffer.byteLength(error.stderr)).toBeGreaterThan(8 * 1024 - 4);
  expect(Buffer.byteLength(error.stderr)).toBeLessThanOrEqual(8 * 1024);
});

test('a process that nobody waits for may end without a word', async () => {
  const { host, children } = fakeHost(['good']);
  await host.describe();
  children[0]?.kill('SIGKILL');
  await gone(children[0]!);
  await host.describe();
  expect(children).toHaveLength(2);
});
