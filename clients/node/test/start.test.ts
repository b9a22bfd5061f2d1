import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { evidenceHostLocation, findEvidenceHost, readEvidenceStartContract, startEvidenceHost } from '../src/index.js';
import { errorOf, FAKE_HOST, gone, temporaryFolder } from './fakes.js';

const CONTRACT = { evidenceHostExecutable: '/opt/harness-evidence-host', evidenceHostTransport: 'stdio' };

test.each(['stdio', 'nsxpc'])('a start message names the host and its transport: %s', (transport) => {
  const message = { token: 'x', ...CONTRACT, evidenceHostTransport: transport };
  expect(readEvidenceStartContract(message)).toEqual({ ...CONTRACT, evidenceHostTransport: transport });
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a list', [CONTRACT]],
  ['a text', 'start'],
  ['no executable', { evidenceHostTransport: 'stdio' }],
  ['a blank executable', { ...CONTRACT, evidenceHostExecutable: ' ' }],
  ['an executable that is not text', { ...CONTRACT, evidenceHostExecutable: ['host'] }],
  ['no transport', { evidenceHostExecutable: '/opt/host' }],
  ['another transport', { ...CONTRACT, evidenceHostTransport: 'tcp' }],
  ['a transport in another case', { ...CONTRACT, evidenceHostTransport: 'STDIO' }],
])('a start message is refused that is or has %s', (_, message) => {
  expect(() => readEvidenceStartContract(message)).toThrow(/^Invalid Studio startup contract$/);
});

function fakeSpawn(...behaviour: string[]) {
  const children: ChildProcess[] = [];
  return {
    children,
    spawnProcess: (_file: string, args: string[], options: object) => {
      const child = spawn(process.execPath, [FAKE_HOST, ...behaviour, ...args], options);
      children.push(child);
      return child;
    },
  };
}

test('a host is handed out when it has said what it is', async () => {
  const { spawnProcess, children } = fakeSpawn('good');
  const started = await startEvidenceHost(CONTRACT, { spawnProcess });
  expect(started.description).toMatchObject({ protocol: 'evidence-rust-1.0.0+jsonl-v1', pid: children[0]?.pid });
  expect(started.receipt).toEqual({ evidenceTransport: 'stdio', evidenceContract: 'evidence-v1-rust' });
  expect(await started.workspaceSessionProvider.discover('/w/demo')).toMatchObject({ label: 'demo', sessionCount: 0 });
  await started.host.close();
});

test('the receipt of a bridge says so', async () => {
  const { spawnProcess } = fakeSpawn('proof-then-good');
  const started = await startEvidenceHost({ ...CONTRACT, evidenceHostTransport: 'nsxpc' }, { spawnProcess });
  expect(started.receipt).toEqual({ evidenceTransport: 'nsxpc', evidenceContract: 'evidence-v1-nsxpc' });
  await started.host.close();
});

test('an Inspector reaches the provider', async () => {
  const { spawnProcess } = fakeSpawn('good');
  const inspector = {
    createInspectorWorkspaceSessionProvider: () => ({ discover: async () => ({ inspectorReport: 'report' }) }),
  };
  const started = await startEvidenceHost(CONTRACT, { spawnProcess, inspector });
  expect(await started.workspaceSessionProvider.discover('/w')).toMatchObject({ inspectorReport: 'report' });
  await started.host.close();
});

test.each([
  ['speaks another protocol', 'stdio', 'other-protocol', 'protocol'],
  ['crashes', 'stdio', 'crash-before-reply', 'exited'],
  ['proves nothing', 'nsxpc', 'no-proof', 'transport-unproven'],
  ['proves what was not asked for', 'stdio', 'transport-event', 'unexpected-event'],
])('a host that %s is closed and not handed out', async (_, transport, behaviour, code) => {
  const { spawnProcess, children } = fakeSpawn(behaviour);
  const error = await errorOf(startEvidenceHost({ ...CONTRACT, evidenceHostTransport: transport }, { spawnProcess }));
  expect(error.code).toBe(code);
  expect(children).toHaveLength(1);
  await gone(children[0]!);
});

test('a host that does not answer in time is closed and not handed out', async () => {
  const { spawnProcess, children } = fakeSpawn('silent');
  const error = await errorOf(startEvidenceHost(CONTRACT, { spawnProcess, startupTimeoutMs: 500 }));
  expect(error).toMatchObject({ code: 'timeout', message: 'Evidence host did not start in 500 ms.' });
  await gone(children[0]!);
});

test('a start message that is refused starts nothing', async () => {
  const { spawnProcess, children } = fakeSpawn('good');
  await expect(startEvidenceHost({}, { spawnProcess })).rejects.toThrow('Invalid Studio startup contract');
  expect(children).toHaveLength(0);
});

test.each([
  ['darwin', { resourcesPath: '/Applications/Studio.app/Contents/Resources' }, '/Applications/Studio.app/Contents/MacOS/harness-evidence-client', 'nsxpc'],
  ['darwin', { developmentRoot: '/src/studio' }, '/src/studio/dist/native/Harness Evidence.app/Contents/MacOS/harness-evidence-client', 'nsxpc'],
  ['linux', { resourcesPath: '/opt/studio/resources' }, '/opt/studio/resources/native/harness-evidence-host', 'stdio'],
  ['linux', { developmentRoot: '/src/studio' }, '/src/studio/dist/native/harness-evidence-host', 'stdio'],
  ['win32', { resourcesPath: 'C:\\Studio\\resources' }, 'C:\\Studio\\resources\\native\\harness-evidence-host.exe', 'stdio'],
  ['win32', { developmentRoot: 'C:\\src\\studio' }, 'C:\\src\\studio\\dist\\native\\harness-evidence-host.exe', 'stdio'],
] as const)('on %s the host beside %o is %s over %s', (platform, place, executable, transport) => {
  expect(evidenceHostLocation({ platform, ...place })).toEqual({ executable, transport });
});

test('without a folder there is nothing to look beside', () => {
  expect(() => evidenceHostLocation({ platform: 'linux' })).toThrow(TypeError);
  expect(() => evidenceHostLocation({ platform: 'linux', resourcesPath: ' ' })).toThrow(TypeError);
});

test('a host is found when it is a file that may be run', async () => {
  const resourcesPath = temporaryFolder();
  const executable = path.join(resourcesPath, 'native', 'harness-evidence-host');
  const place = { platform: 'linux', resourcesPath, developmentRoot: '/elsewhere' } as const;

  expect((await errorOf(findEvidenceHost(place))).code).toBe('executable-missing');
  mkdirSync(executable, { recursive: true });
  expect((await errorOf(findEvidenceHost(place))).message).toBe(
    `There is no evidence host at ${executable}: it is not a file.`,
  );

  const other = { ...place, resourcesPath: temporaryFolder() };
  const file = path.join(other.resourcesPath, 'native', 'harness-evidence-host');
  mkdirSync(path.dirname(file));
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  expect((await errorOf(findEvidenceHost(other))).code).toBe('executable-missing');
  chmodSync(file, 0o755);
  expect(await findEvidenceHost(other)).toEqual({ executable: file, transport: 'stdio' });
});
