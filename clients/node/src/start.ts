/** Starting a host for a studio: what it is told, and that the host answers before anything is handed out. */

import { EvidenceHostError } from './errors.js';
import { isObject } from './frames.js';
import { createRustEvidenceHost } from './host.js';
import type { RustEvidenceHost, RustEvidenceHostOptions } from './host.js';
import { createRustEvidenceWorkspaceSessionProvider } from './provider.js';
import type {
  RustEvidenceWorkspaceSessionProvider,
  RustEvidenceWorkspaceSessionProviderOptions,
} from './provider.js';
import type { Description, EvidenceTransport } from './protocol.js';

/** The part of a studio's start message that says which evidence host to run. Both are required. */
export interface EvidenceStartContract {
  evidenceHostExecutable: string;
  evidenceHostTransport: EvidenceTransport;
}

/**
 * The evidence host that a start message names.
 *
 * @throws Error `Invalid Studio startup contract` when either part is missing, or is not what it must be.
 */
export function readEvidenceStartContract(message: unknown): EvidenceStartContract {
  const { evidenceHostExecutable, evidenceHostTransport } = isObject(message) ? message : {};
  if (
    typeof evidenceHostExecutable !== 'string' ||
    evidenceHostExecutable.trim() === '' ||
    (evidenceHostTransport !== 'stdio' && evidenceHostTransport !== 'nsxpc')
  ) {
    throw new Error('Invalid Studio startup contract');
  }
  return { evidenceHostExecutable, evidenceHostTransport };
}

/** How a host is started for a studio. */
export interface StartEvidenceHostOptions
  extends Omit<RustEvidenceHostOptions, 'executable' | 'transport'>,
    RustEvidenceWorkspaceSessionProviderOptions {
  /** How long the host may take to say what it is, in milliseconds; 30,000 when absent. */
  startupTimeoutMs?: number | undefined;
}

/** A host that has said what it is. */
export interface StartedEvidenceHost {
  /** The host, to be closed when the studio stops. */
  host: RustEvidenceHost;
  /** What it has said. */
  description: Description;
  /** The value for the studio's option of this name. */
  workspaceSessionProvider: RustEvidenceWorkspaceSessionProvider;
  /** What goes into the studio's diagnostics. */
  receipt: { evidenceTransport: EvidenceTransport; evidenceContract: 'evidence-v1-nsxpc' | 'evidence-v1-rust' };
}

/** How long the host may take to say what it is, when nothing else is said, in milliseconds. */
const STARTUP_TIMEOUT = 30_000;

/**
 * Starts the host that a start message names. Nothing is handed out before the host has answered `host.describe` with
 * the protocol of this package; when it does not, it is closed again.
 *
 * @throws Error as {@link readEvidenceStartContract}; EvidenceHostError when the host cannot be started, does not prove
 * its transport, speaks another protocol, or does not answer in time.
 */
export async function startEvidenceHost(
  message: unknown,
  { inspector, startupTimeoutMs = STARTUP_TIMEOUT, ...options }: StartEvidenceHostOptions = {},
): Promise<StartedEvidenceHost> {
  const { evidenceHostExecutable: executable, evidenceHostTransport: transport } = readEvidenceStartContract(message);
  const host = createRustEvidenceHost({ ...options, executable, transport });
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(
          new EvidenceHostError('timeout', `Evidence host did not start in ${startupTimeoutMs} ms.`, {
            method: 'host.describe',
          }),
        );
      }, startupTimeoutMs).unref();
    });
    const description = await Promise.race([host.describe(), late]);
    return {
      host,
      description,
      workspaceSessionProvider: createRustEvidenceWorkspaceSessionProvider(host, { inspector }),
      receipt: {
        evidenceTransport: transport,
        evidenceContract: transport === 'nsxpc' ? 'evidence-v1-nsxpc' : 'evidence-v1-rust',
      },
    };
  } catch (error) {
    await host.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
