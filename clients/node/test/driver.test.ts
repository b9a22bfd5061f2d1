import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import {
  createRustEvidenceHost,
  createRustEvidenceWorkspaceSessionProvider,
  EVIDENCE_PROTOCOL,
  MAX_REQUEST_BYTES,
  startEvidenceHost,
} from '../src/index.js';
import type { RustEvidenceHost, RustEvidenceHostOptions, Summary } from '../src/index.js';
import { errorOf, gone, temporaryFolder } from './fakes.js';

const DRIVER = process.env['HARNESS_EVIDENCE_HOST'];
const NAME = DRIVER
  ? 'on the real host'
  : 'on the real host (skipped: HARNESS_EVIDENCE_HOST does not name a built harness-evidence-host)';

const BRIDGE = fileURLToPath(new URL('stand-in-bridge.mjs', import.meta.url));
const FIXTURES = fileURLToPath(new URL('../../../fixtures', import.meta.url));

// The summary of a run counts what was skipped, and does not name it.
if (!DRIVER) console.warn(`tests ${NAME}`);

/** A real session of Claude Code: it writes, edits and reads `hello.txt` at the root of its project. */
const CLAUDE = 'claude-code/2.1.332/.claude/projects/-home-dev-demo/2beb2722-0229-4018-8f0c-897a97e5366b.jsonl';
const CLAUDE_ID = '2beb2722-0229-4018-8f0c-897a97e5366b';

/** The platforms of the protocol, in its order. */
const PLATFORMS = [
  'qoder',
  'codex',
  'claude',
  'cursor',
  'copilot',
  'grok',
  'augment',
  'qwen',
  'pi',
  'kimi',
  'workbuddy',
  'dsh',
  'harness-run',
];

/** A home with sessions of a project. */
interface Home {
  home: string;
  workspace: string;
}

function homeWithSessions(): Home {
  const root = realpathSync(temporaryFolder());
  const home = path.join(root, 'home');
  const workspace = path.join(root, 'a project');
  mkdirSync(workspace, { recursive: true });
  writeFileSync(path.join(workspace, 'hello.txt'), 'hello from mock\nzweite Zeile\n');
  const session = readFileSync(path.join(FIXTURES, CLAUDE), 'utf8').replaceAll('/home/dev/demo', workspace);
  const folder = path.join(home, '.claude/projects', workspace.replaceAll(/[^A-Za-z0-9]/g, '-'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${CLAUDE_ID}.jsonl`), session);
  return { home, workspace };
}

describe.skipIf(!DRIVER)(NAME, () => {
  let home: Home;
  let children: ChildProcess[];
  let hosts: RustEvidenceHost[];

  beforeEach(() => {
    home = homeWithSessions();
    children = [];
    hosts = [];
  });

  afterEach(async () => {
    for (const host of hosts) await host.close();
    for (const child of children) await gone(child);
  });

  /** How the host is started in the home of the test, directly or behind the bridge. */
  function inHome(transport: 'stdio' | 'nsxpc'): RustEvidenceHostOptions & { executable: string } {
    return {
      executable: transport === 'stdio' ? DRIVER! : process.execPath,
      transport,
      spawnProcess: (executable, args, options) => {
        const env = { PATH: process.env['PATH'], HOME: home.home, USERPROFILE: home.home };
        const behind = transport === 'stdio' ? args : [BRIDGE, DRIVER!, ...args];
        const child = spawn(executable, behind, { ...options, env });
        children.push(child);
        return child;
      },
    };
  }

  function open(options: Partial<RustEvidenceHostOptions> = {}): RustEvidenceHost {
    const host = createRustEvidenceHost({ ...inHome(options.transport ?? 'stdio'), ...options });
    hosts.push(host);
    return host;
  }

  test('the host says what it is', async () => {
    const host = open();
    const { platforms, ...description } = await host.describe();
    expect(description).toEqual({
      protocol: EVIDENCE_PROTOCOL,
      pid: host.processId,
      capabilities: ['sessions.discover', 'artifacts.observe'],
    });
    expect(platforms).toContain('claude');
    // In this order, as far as the build knows them.
    expect(platforms).toEqual(PLATFORMS.filter((platform) => platforms.includes(platform)));
  });

  test('a session is discovered with its times, counts, calls and files', async () => {
    const host = open();
    const { platforms } = await host.describe();
    const { sessions, providers, observations, coverage } = await host.discover({ workspace: home.workspace });
    const [session] = sessions;
    expect(sessions).toHaveLength(1);
    expect(session).toMatchObject({ sessionId: CLAUDE_ID, platform: 'claude' });
    expect(Date.parse(session?.firstSeen ?? '')).toBeLessThan(Date.parse(session?.lastSeen ?? ''));
    expect(session?.promptCount).toBe(session?.prompts.length);
    expect(session?.toolCallCount).toBe(session?.toolActivity?.calls.length);
    const edit = session?.toolActivity?.calls.find((call) => call.toolName === 'Edit');
    expect(edit).toMatchObject({ family: 'change', access: 'change', filePath: 'hello.txt' });
    expect(edit?.status).toMatch(/^(returned|completed)$/);
    expect(observations).toMatchObject([
      { relativePath: 'hello.txt', sessionId: `claude:${CLAUDE_ID}`, provider: 'claude', access: 'change' },
    ]);
    expect(providers.map(({ platform }) => platform)).toEqual(platforms);
    for (const { platform, status, discovered } of providers) {
      expect([platform, status, discovered]).toEqual(
        platform === 'claude' ? [platform, 'ok', 1] : [platform, 'no-evidence', 0],
      );
    }
    expect(coverage).toEqual({ inWindow: 1, included: 1, omitted: 0, windowed: false });
  });

  test('what is not asked for is left out, and the counts stay', async () => {
    const host = open();
    const whole = await host.discover({ workspace: home.workspace });
    const bare = await host.discover({ workspace: home.workspace, includeToolTrace: false, includeDialogue: false });
    const { toolActivity, dialogue, ...rest } = whole.sessions[0] as Summary;
    expect(toolActivity).toBeDefined();
    expect(dialogue).toBeDefined();
    expect(bare.sessions).toEqual([rest]);
    expect(bare.observations).toEqual(whole.observations);
  });

  test('what discover returns is taken by observe', async () => {
    const host = open();
    const { sessions, observations } = await host.discover({ workspace: home.workspace });
    expect(observations).toHaveLength(1);
    expect(await host.observe({ workspace: home.workspace, sessions })).toEqual({ observations });
  });

  test('a provider reports as many sessions as the host has returned', async () => {
    const provider = createRustEvidenceWorkspaceSessionProvider(open());
    const found = await provider.discover(home.workspace);
    expect(found).toMatchObject({ label: 'a project', sessionCount: 1 });
    expect(found.sessions).toHaveLength(1);
    expect(found.sessions[0]?.summary.id).toBe(`claude:${CLAUDE_ID}`);
    const changes = found.sessions[0]?.debugger.events.filter((event) => event.kind === 'change') ?? [];
    expect(changes.flatMap((event) => event.toolCalls.map((call) => call.resource))).toContain('hello.txt');

    const elsewhere = await provider.discover(home.home);
    expect(elsewhere).toMatchObject({ sessions: [], sessionCount: 0 });
  });

  test('a time is kept to', async () => {
    const provider = createRustEvidenceWorkspaceSessionProvider(open());
    const found = await provider.discover({ workspace: home.workspace, fromMs: 0, toMs: 1 });
    expect(found.sessionCount).toBe(0);
    expect(found.coverage).toMatchObject({ inWindow: 0, windowed: true });
    expect(found.providers.find(({ provider: name }) => name === 'claude')).toMatchObject({ reason: 'window' });
  });

  test('a studio starts it', async () => {
    const { executable, spawnProcess } = inHome('stdio');
    const started = await startEvidenceHost(
      { evidenceHostExecutable: executable, evidenceHostTransport: 'stdio' },
      { spawnProcess },
    );
    hosts.push(started.host);
    expect(started.description.protocol).toBe(EVIDENCE_PROTOCOL);
    expect(await started.workspaceSessionProvider.discover(home.workspace)).toMatchObject({ sessionCount: 1 });
  });

  test('the example prints the sessions, and the files that they changed', async () => {
    const example = fileURLToPath(new URL('../example/sessions.mjs', import.meta.url));
    const child = spawn(process.execPath, [example, DRIVER!, home.workspace], {
      env: { PATH: process.env['PATH'], HOME: home.home, USERPROFILE: home.home },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    let out = '';
    for await (const piece of child.stdout) out += piece;
    expect(out.split('\n')).toEqual([
      expect.stringMatching(`^2026-.*Z  claude:${CLAUDE_ID}  \\d+ prompts, \\d+ tool calls$`),
      `hello.txt  changed by claude:${CLAUDE_ID}`,
      '',
    ]);
  });

  test('the example without a host says what it needs', async () => {
    const example = fileURLToPath(new URL('../example/sessions.mjs', import.meta.url));
    const child = spawn(process.execPath, [example], { stdio: ['ignore', 'ignore', 'pipe'] });
    children.push(child);
    let said = '';
    for await (const piece of child.stderr) said += piece;
    expect(said).toBe('Which evidence host? node example/sessions.mjs path/to/harness-evidence-host [project]\n');
  });

  test('parameters that make no sense are a call error, and the host goes on', async () => {
    const host = open();
    for (const params of [{}, { workspace: 7 }, { workspace: home.workspace, maxSessions: 'all' }]) {
      expect((await errorOf(host.discover(params as never))).code).toBe('invalid-params');
    }
    await host.describe();
    expect(children).toHaveLength(1);
  });

  test('a request of exactly 4 MiB with its line feed is answered', async () => {
    const host = open();
    const around = Buffer.byteLength(
      `${JSON.stringify({ version: 1, id: 1, method: 'artifacts.observe', params: { workspace: home.workspace, more: '' } })}\n`,
    );
    const params = { workspace: home.workspace, more: 'x'.repeat(MAX_REQUEST_BYTES - around) };
    expect(await host.observe(params)).toEqual({ observations: [] });
    expect((await errorOf(host.observe({ ...params, more: `${params.more}xx` } as never))).code).toBe('request-limit');
    await host.describe();
    expect(children).toHaveLength(1);
  });

  test('parameters as deep as this client sends are read', async () => {
    const host = open();
    let more: unknown = 0;
    for (let depth = 0; depth < 126; depth += 1) more = [more];
    expect(await host.observe({ workspace: home.workspace, more } as never)).toEqual({ observations: [] });
    expect((await errorOf(host.observe({ workspace: home.workspace, more: [more] } as never))).code).toBe('invalid-request');
  });

  test('characters of any length come back whole', async () => {
    const host = open();
    const sessions = [summaryOf('naïve 日本 🧭 '.repeat(10_000))];
    const { observations } = await host.observe({ workspace: home.workspace, sessions });
    expect(observations).toHaveLength(1);
    expect('naïve 日本 🧭 '.repeat(10_000)).toContain(observations[0]?.prompt);
  });

  /** A session that changed `hello.txt`, and began with this. */
  function summaryOf(text: string): Summary {
    return {
      sessionId: 's',
      platform: 'claude',
      lastSeen: '2026-09-01T10:00:00.000Z',
      prompts: [{ text }],
      promptCount: 1,
      assistantMessageCount: 0,
      toolCallCount: 1,
      toolActivity: {
        calls: [
          {
            id: 'a',
            family: 'change',
            actionLabel: 'Edit',
            toolName: 'Edit',
            status: 'completed',
            filePath: 'hello.txt',
            filePaths: ['hello.txt'],
            access: 'change',
          },
        ],
      },
    };
  }

  test('a crash during a call rejects every pending call, and the next has a fresh process', async () => {
    const host = open();
    await host.describe();
    children[0]?.kill('SIGSTOP');
    const calls = [host.discover({ workspace: home.workspace }), host.describe()].map((call) => errorOf(call));
    children[0]?.kill('SIGKILL');
    const errors = await Promise.all(calls);
    expect(errors.map((error) => error.code)).toEqual(['exited', 'exited']);
    expect(errors[0]?.message).toBe('Evidence host exited during a request (signal SIGKILL).');
    expect((await host.discover({ workspace: home.workspace })).sessions).toHaveLength(1);
    expect(host.processId).toBe(children[1]?.pid);
  });

  test('a deadline rejects every pending call, and the next has a fresh process', async () => {
    const host = open({ timeoutMs: 5_000 });
    await host.describe();
    children[0]?.kill('SIGSTOP');
    const calls = [host.discover({ workspace: home.workspace }), host.describe()].map((call) => errorOf(call));
    const errors = await Promise.all(calls);
    expect(errors.map((error) => [error.code, error.message, error.sent])).toEqual([
      ['timeout', 'sessions.discover timed out.', true],
      ['timeout', 'sessions.discover timed out.', false],
    ]);
    await gone(children[0]!);
    await host.describe();
    expect(host.processId).toBe(children[1]?.pid);
  });

  test('closing during a call rejects it at once', async () => {
    const host = open();
    await host.describe();
    children[0]?.kill('SIGSTOP');
    const call = errorOf(host.discover({ workspace: home.workspace }));
    const closed = host.close();
    expect((await call).code).toBe('closed');
    await closed;
    await gone(children[0]!);
    expect(children[0]?.signalCode).toBe('SIGKILL');
  });

  test('closing ends it in peace', async () => {
    const host = open();
    await host.describe();
    await host.close();
    await gone(children[0]!);
    expect(children[0]?.exitCode).toBe(0);
  });

  describe('behind a bridge', () => {
    test('the bridge, the service and the host are three processes, and none of them stays', async () => {
      const host = open({ transport: 'nsxpc' });
      const { pid } = await host.describe();
      const pids = [host.bridgeProcessId!, host.processId!, pid];
      expect(pids[0]).toBe(children[0]?.pid);
      expect(new Set(pids).size).toBe(3);
      for (const one of pids) expect(isAlive(one)).toBe(true);

      const found = await createRustEvidenceWorkspaceSessionProvider(host).discover(home.workspace);
      expect(found.sessionCount).toBe(1);

      await host.close();
      for (const one of pids) await expect.poll(() => isAlive(one), { timeout: 5_000 }).toBe(false);
    });

    test('a bridge that crashed is started again, and has its service prove itself again', async () => {
      const host = open({ transport: 'nsxpc' });
      await host.describe();
      const before = [host.bridgeProcessId, host.processId];
      children[0]?.kill('SIGKILL');
      await gone(children[0]!);
      await host.describe();
      const after = [host.bridgeProcessId, host.processId];
      expect(after[0]).toBe(children[1]?.pid);
      expect(new Set([...before, ...after]).size).toBe(4);
    });

    test('the host alone is refused where a bridge is asked for', async () => {
      const { spawnProcess } = inHome('stdio');
      const host = open({ executable: DRIVER!, transport: 'nsxpc', spawnProcess });
      const error = await errorOf(host.describe());
      expect(error.code).toBe('transport-unproven');
      expect(error.message).toContain('refusing a silent stdio fallback');
    });

    test('a bridge is refused where the host alone is asked for', async () => {
      const { spawnProcess } = inHome('nsxpc');
      const host = open({ executable: process.execPath, transport: 'stdio', spawnProcess });
      expect((await errorOf(host.describe())).code).toBe('unexpected-event');
    });
  });

  test('nothing was written to the home', async () => {
    const host = open();
    const before = readdirSync(home.home, { recursive: true });
    const { sessions } = await host.discover({ workspace: home.workspace });
    expect(sessions).toHaveLength(1);
    await host.observe({ workspace: home.workspace, sessions });
    await host.close();
    expect(readdirSync(home.home, { recursive: true })).toEqual(before);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
