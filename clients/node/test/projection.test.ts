import { expect, test } from 'vitest';

import { projectSession } from '../src/index.js';
import type { Summary } from '../src/index.js';

const BARE: Summary = {
  sessionId: '01234567-89ab-cdef',
  platform: 'claude',
  lastSeen: '2026-09-01T10:00:05.000Z',
  prompts: [],
  promptCount: 0,
  assistantMessageCount: 0,
  toolCallCount: 0,
};

test('a session becomes an entry and the events of its debugger, by time', () => {
  const projected = projectSession({
    ...BARE,
    firstSeen: '2026-09-01T10:00:00.000Z',
    prompts: [
      { text: 'Fix the tests', timestamp: '2026-09-01T10:00:00.000Z' },
      { text: 'Go on', timestamp: '2026-09-01T10:00:03.000Z' },
    ],
    promptCount: 2,
    assistantMessageCount: 3,
    toolCallCount: 1,
    toolActivity: {
      calls: [
        {
          id: 'call-a',
          family: 'change',
          actionLabel: 'Edit',
          toolName: 'Edit',
          status: 'completed',
          detail: '{"file":"src/a.rs"}',
          output: 'done',
          durationMs: 120,
          filePath: 'src/a.rs',
          filePaths: ['src/a.rs'],
          access: 'change',
          startedAt: '2026-09-01T10:00:01.500Z',
        },
      ],
    },
    dialogue: { turns: [{ timestamp: '2026-09-01T10:00:02.000Z', response: 'Fixed.' }, { response: 'All done.' }] },
  });
  expect(projected?.summary).toEqual({
    id: 'claude:01234567-89ab-cdef',
    platform: 'claude',
    sessionId: '01234567-89ab-cdef',
    savedAt: '2026-09-01T10:00:05.000Z',
    prompt: 'Fix the tests',
    messageCount: 5,
    toolCallCount: 1,
  });
  const events = projected?.debugger.events ?? [];
  expect(events.map((event) => [event.timestamp, event.kind, event.title])).toEqual([
    ['2026-09-01T10:00:00.000Z', 'prompt', 'Fix the tests'],
    ['2026-09-01T10:00:01.500Z', 'change', 'Edit'],
    ['2026-09-01T10:00:02.000Z', 'response', 'Fixed.'],
    ['2026-09-01T10:00:03.000Z', 'prompt', 'Go on'],
    ['2026-09-01T10:00:05.000Z', 'response', 'All done.'],
  ]);
  expect(events[1]).toMatchObject({
    durationMs: 120,
    toolCalls: [
      {
        id: 'call-a',
        name: 'Edit',
        status: 'completed',
        input: '{"file":"src/a.rs"}',
        output: 'done',
        resource: 'src/a.rs',
        access: 'change',
        durationMs: 120,
      },
    ],
  });
  expect(new Set(events.map((event) => event.id)).size).toBe(5);
});

test.each([
  ['inspect', 'explore'],
  ['change', 'change'],
  ['execute', 'explore'],
  ['verify', 'verify'],
  ['coordinate', 'explore'],
  ['deliver', 'change'],
  ['other', 'explore'],
  ['of-a-later-host', 'explore'],
])('a call of the family %s is an event of the kind %s', (family, kind) => {
  const call = { id: 'a', family, actionLabel: 'x', toolName: 'x', status: 'observed' };
  const events = projectSession({ ...BARE, toolActivity: { calls: [call] } })?.debugger.events;
  expect(events?.map((event) => event.kind)).toEqual([kind]);
  expect(events?.[0]?.toolCalls[0]?.input).toBe('The input was not retained.');
});

test('a session of which nothing is known was observed', () => {
  expect(projectSession(BARE)?.debugger.events).toEqual([
    {
      id: 'observed-0',
      kind: 'observed',
      timestamp: '2026-09-01T10:00:05.000Z',
      title: 'claude Session 01234567-89a',
      toolCalls: [],
    },
  ]);
});

test('a session without a prompt is named by twelve whole characters of its id', () => {
  const prompt = (sessionId: string) => projectSession({ ...BARE, sessionId })?.summary.prompt;
  expect(prompt('0123456789abcdef')).toBe('claude Session 0123456789ab');
  expect(prompt('🧭'.repeat(20))).toBe(`claude Session ${'🧭'.repeat(12)}`);
});

test('the last time counts, else the first, else there is no session', () => {
  const saved = (firstSeen?: unknown, lastSeen?: unknown) =>
    projectSession({ ...BARE, firstSeen, lastSeen } as Summary)?.summary.savedAt;
  expect(saved('2026-09-01T10:00:00Z', '2026-09-01T11:00:00+01:00')).toBe('2026-09-01T10:00:00.000Z');
  expect(saved('2026-09-01T10:00:00Z')).toBe('2026-09-01T10:00:00.000Z');
  expect(saved('2026-09-01T10:00:00Z', 'soon')).toBe('2026-09-01T10:00:00.000Z');
  expect(saved(undefined, 1_788_256_800_000)).toBe('2026-09-01T10:00:00.000Z');
  expect(saved('soon', 'later')).toBeUndefined();
  expect(saved()).toBeUndefined();
});

test.each([
  ['nothing', null],
  ['a text', 'session'],
  ['a summary without an id', { ...BARE, sessionId: '' }],
  ['a summary without a platform', { ...BARE, platform: 7 }],
])('%s is no session', (_, summary) => {
  expect(projectSession(summary as unknown as Summary)).toBeUndefined();
});

test('lists and numbers that are something else count as absent', () => {
  const broken = {
    ...BARE,
    prompts: { length: 3 },
    promptCount: '3',
    assistantMessageCount: -1,
    toolCallCount: Number.NaN,
    toolActivity: { calls: [null, 7, { family: 3, durationMs: 'long' }] },
    dialogue: { turns: 'none' },
  } as unknown as Summary;
  const projected = projectSession(broken);
  expect(projected?.summary).toMatchObject({ messageCount: 0, toolCallCount: 0 });
  expect(projected?.debugger.events).toEqual([
    {
      id: 'call-0',
      kind: 'explore',
      timestamp: BARE.lastSeen,
      title: 'tool',
      toolCalls: [{ id: '', name: 'tool', status: 'observed', input: 'The input was not retained.' }],
    },
  ]);
});
