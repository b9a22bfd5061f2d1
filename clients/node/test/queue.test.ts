import { expect, test } from 'vitest';

import { errorOf, fakeHost } from './fakes.js';

test('sixteen calls may be pending, and the next is refused', async () => {
  const { host, requests } = fakeHost([['slow', '20']]);
  const calls = Array.from({ length: 16 }, (_, number) => host.discover({ workspace: `/${number}` }));
  const error = await errorOf(host.discover({ workspace: '/16' }));
  expect(error).toMatchObject({ code: 'queue-full', sent: false });
  expect(error.message).toContain('queue is full');
  const answers = await Promise.all(calls);
  expect(answers.map((answer) => (answer as { params?: unknown }).params)).toEqual(
    calls.map((_, number) => ({ workspace: `/${number}` })),
  );
  expect(requests()).toHaveLength(16);
  await host.discover({ workspace: '/17' });
});

test('one request is in flight at a time', async () => {
  const { host, requests } = fakeHost([['slow', '1500']]);
  const calls = [host.describe(), host.describe(), host.describe()];
  await calls[0];
  // The second has just been written, and the third has not.
  await expect.poll(() => requests().length).toBe(2);
  await new Promise((done) => setTimeout(done, 100));
  expect(requests()).toHaveLength(2);
  await Promise.all(calls);
  expect(requests().map((request) => request.id)).toEqual([1, 2, 3]);
});

test('a call that is refused does not hold a place', async () => {
  const { host } = fakeHost([['slow', '20']]);
  for (let number = 0; number < 20; number += 1) {
    expect((await errorOf(host.discover({ workspace: '\ud800' }))).code).toBe('invalid-request');
  }
  await host.describe();
});
