// Prints the sessions of a project, and the files of it that they changed:
//
//     node example/sessions.mjs path/to/harness-evidence-host [project]
import path from 'node:path';
import process from 'node:process';

import { createRustEvidenceHost } from '@ibid/evidence';

const [executable, workspace = '.'] = process.argv.slice(2);
if (executable === undefined) {
  console.error('Which evidence host? node example/sessions.mjs path/to/harness-evidence-host [project]');
  process.exit(2);
}
const host = createRustEvidenceHost({ executable });
try {
  const { sessions, providers, observations } = await host.discover({ workspace: path.resolve(workspace) });
  for (const { platform, sessionId, lastSeen, promptCount, toolCallCount } of sessions) {
    console.log(`${lastSeen}  ${platform}:${sessionId}  ${promptCount} prompts, ${toolCallCount} tool calls`);
  }
  for (const { relativePath, sessionId, access } of observations) {
    if (access === 'change') console.log(`${relativePath}  changed by ${sessionId}`);
  }
  for (const { platform, status, message } of providers) {
    if (status === 'error') console.error(`${platform} could not be read: ${message}`);
  }
} catch (error) {
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await host.close();
}
