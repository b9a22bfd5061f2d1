/** Where the evidence host lies beside an application. */

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';

import { EvidenceHostError } from './errors.js';
import type { EvidenceTransport } from './protocol.js';

/** Where an application is. */
export interface EvidenceHostPlace {
  /** `process.platform` when absent. */
  platform?: NodeJS.Platform | undefined;
  /**
   * The resources folder of a packaged application, as Electron's `process.resourcesPath`: on macOS
   * `<App>/Contents/Resources`.
   */
  resourcesPath?: string | undefined;
  /** The folder of a development build, which has `dist/native`. Not looked at when there is a `resourcesPath`. */
  developmentRoot?: string | undefined;
}

/** What is to be started, and how it is spoken to. */
export interface EvidenceHostLocation {
  executable: string;
  transport: EvidenceTransport;
}

/**
 * Where the evidence host belongs, whether it is there or not. On macOS that is the bridge, and the transport `nsxpc`;
 * elsewhere the host itself, and `stdio`.
 *
 * @throws TypeError when neither folder is given.
 */
export function evidenceHostLocation(place: EvidenceHostPlace): EvidenceHostLocation {
  const { platform = process.platform, resourcesPath, developmentRoot } = place;
  const { join } = platform === 'win32' ? path.win32 : path.posix;
  if (!isPath(resourcesPath) && !isPath(developmentRoot)) {
    throw new TypeError('An evidence host is looked for beside a resourcesPath or a developmentRoot.');
  }
  const native = isPath(resourcesPath) ? join(resourcesPath, 'native') : join(developmentRoot!, 'dist', 'native');
  if (platform === 'darwin') {
    const contents = isPath(resourcesPath) ? join(resourcesPath, '..') : join(native, 'Harness Evidence.app', 'Contents');
    return { executable: join(contents, 'MacOS', 'harness-evidence-client'), transport: 'nsxpc' };
  }
  const name = platform === 'win32' ? 'harness-evidence-host.exe' : 'harness-evidence-host';
  return { executable: join(native, name), transport: 'stdio' };
}

/**
 * The evidence host where it belongs. Nothing else is tried.
 *
 * @throws TypeError as {@link evidenceHostLocation}; EvidenceHostError `executable-missing` when there is no file, or
 * none that may be run.
 */
export async function findEvidenceHost(place: EvidenceHostPlace): Promise<EvidenceHostLocation> {
  const location = evidenceHostLocation(place);
  try {
    const found = await stat(location.executable);
    if (!found.isFile()) throw new Error('it is not a file');
    await access(location.executable, constants.X_OK);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EvidenceHostError('executable-missing', `There is no evidence host at ${location.executable}: ${why}.`, {
      cause,
    });
  }
  return location;
}

function isPath(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}
