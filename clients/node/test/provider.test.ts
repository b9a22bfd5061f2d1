import { expect, test, vi } from 'vitest';

import { createRustEvidenceWorkspaceSessionProvider } from '../src/index.js';
import type { Discovery, DiscoverParams, InspectorRuntime } from '../src/index.js';

const DISCOVERY: Discovery = {
  sessions: [
    {
      sessionId: 'a',
      platform: 'claude',
      lastSeen: '2026-09-01T10:00:00.000Z',
      prompts: [{ text: 'Fix the tests' }],
      promptCount: 1,
      assistantMessageCount: 1,
      toolCallCount: 0,
    },
    { sessionId: 'b', platform: 'pi', prompts: [], promptCount: 0, assistantMessageCount: 0, toolCallCount: 0 },
  ],
  providers: [
    { platform: 'claude', status: 'ok', discovered: 4, included: 1 },
    { platform: 'codex', status: 'error', discovered: 0, included: 0, message: 'No.', reason: 'unreadable', unreadable: 2 },
  ],
  observations: [
    { relativePath: 'README.md', sessionId: 'claude:a', savedAt: '2026-09-01T10:00:00.000Z', prompt: 'x', access: 'read' },
  ],
  coverage: { inWindow: 4, included: 2, omitted: 2, windowed: true, more: 'x' } as Discovery['coverage'] & object,
};

function hostOf(discovery: unknown) {
  const asked: DiscoverParams[] = [];
  return {
    asked,
    discover: async (params: DiscoverParams) => {
      asked.push(params);
      return structuredClone(discovery) as Discovery;
    },
  };
}

test('without an Inspector the sessions are projected, and there is no report', async () => {
  const host = hostOf(DISCOVERY);
  const found = await createRustEvidenceWorkspaceSessionProvider(host).discover('/w/demo');
  expect(host.asked).toEqual([
    { workspace: '/w/demo', maxSessions: 100, includeToolTrace: true, includeDialogue: true },
  ]);
  expect(found).toMatchObject({
    label: 'demo',
    sessions: [{ summary: { id: 'claude:a', savedAt: '2026-09-01T10:00:00.000Z', prompt: 'Fix the tests' } }],
    providers: [
      { provider: 'claude', status: 'ok', discovered: 4, included: 1 },
      { provider: 'codex', status: 'error', message: 'No.', reason: 'unreadable', unreadable: 2 },
    ],
    observations: DISCOVERY.observations,
  });
  expect(found.coverage).toEqual({ inWindow: 4, included: 2, omitted: 2, windowed: true });
  expect(found).not.toHaveProperty('inspectorReport');
});

test('the session count is what the host returned, also when a session has no time', async () => {
  const found = await createRustEvidenceWorkspaceSessionProvider(hostOf(DISCOVERY)).discover('/w/demo');
  expect(found.sessionCount).toBe(2);
  expect(found.sessions).toHaveLength(1);
});

test('a time is asked for when one is given', async () => {
  const host = hostOf(DISCOVERY);
  await createRustEvidenceWorkspaceSessionProvider(host).discover({ workspace: '/w', fromMs: 1, toMs: 2 });
  expect(host.asked[0]).toMatchObject({ workspace: '/w', fromMs: 1, toMs: 2 });
});

test.each([
  ['/w/demo', 'demo'],
  ['/w/demo/', 'demo'],
  ['/', '/'],
  ['C:\\work\\demo', 'demo'],
  ['\\\\server\\share\\demo', 'demo'],
])('the workspace %s has the label %s', async (workspace, label) => {
  expect((await createRustEvidenceWorkspaceSessionProvider(hostOf(DISCOVERY)).discover(workspace)).label).toBe(label);
});

test('lists that are none are empty', async () => {
  const host = hostOf({ sessions: {}, providers: 'x', observations: null });
  const found = await createRustEvidenceWorkspaceSessionProvider(host).discover('/w');
  expect(found).toEqual({ label: 'w', sessions: [], providers: [], observations: [], sessionCount: 0 });
});

/** An Inspector that drops a session, and reports what it collected. */
const INSPECTOR: InspectorRuntime = {
  createInspectorWorkspaceSessionProvider: ({ collect }) => ({
    async discover(workspace) {
      const { sessions, providers } = await collect();
      sessions.pop();
      return {
        label: 'from the Inspector',
        inspectorReport: { workspace, sessions: sessions.length },
        sessions: sessions.map(({ sessionId }) => ({ summary: { id: sessionId } })),
        providers: providers.map(({ platform }) => ({ provider: platform })),
        sessionCount: -1,
      };
    },
  }),
};

test('an Inspector is given what the host returned, and its report is handed on', async () => {
  const provider = createRustEvidenceWorkspaceSessionProvider(hostOf(DISCOVERY), { inspector: INSPECTOR });
  expect(await provider.discover('/w/demo')).toEqual({
    label: 'from the Inspector',
    inspectorReport: { workspace: '/w/demo', sessions: 1 },
    sessions: [{ summary: { id: 'a' } }],
    providers: [{ provider: 'claude' }, { provider: 'codex' }],
    observations: DISCOVERY.observations,
    coverage: { inWindow: 4, included: 2, omitted: 2, windowed: true },
    sessionCount: 2,
  });
});

test('an Inspector is loaded only after the host has answered', async () => {
  const load = vi.fn(async () => INSPECTOR);
  const host = { discover: vi.fn().mockRejectedValueOnce(new Error('no host')).mockResolvedValue(DISCOVERY) };
  const provider = createRustEvidenceWorkspaceSessionProvider(host, { inspector: load });
  await expect(provider.discover('/w')).rejects.toThrow('no host');
  expect(load).not.toHaveBeenCalled();
  await provider.discover('/w');
  expect(load).toHaveBeenCalledOnce();
});

test('an Inspector that fails is told, not passed over', async () => {
  const inspector = () => Promise.reject(new Error('no git'));
  const provider = createRustEvidenceWorkspaceSessionProvider(hostOf(DISCOVERY), { inspector });
  await expect(provider.discover('/w')).rejects.toThrow('no git');
});
