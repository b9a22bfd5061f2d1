/** The sessions of a workspace, for a studio. */

import path from 'node:path';

import { isObject } from './frames.js';
import type { RustEvidenceHost } from './host.js';
import { projectSession } from './projection.js';
import type { ProjectedSession } from './projection.js';
import type { Coverage, Observation, Provider, ProviderStatus, Reason, Summary } from './protocol.js';

/** How many sessions a studio asks for. */
const MAX_SESSIONS = 100;

/** What a studio asks. */
export interface WorkspaceQuery {
  /** The directory of the project. */
  workspace: string;
  /** The beginning of the time that is asked for, in milliseconds since 1970, inclusive. */
  fromMs?: number | undefined;
  /** The end of the time that is asked for, in milliseconds since 1970, inclusive. */
  toMs?: number | undefined;
}

/** What was found of one platform, as a studio takes it. */
export interface WorkspaceProvider {
  provider: string;
  status: ProviderStatus;
  discovered: number;
  included: number;
  message?: string;
  reason?: Reason;
  unreadable?: number;
}

/** The sessions of a workspace. */
export interface WorkspaceSessions {
  /** The name of the workspace. */
  label: string;
  sessions: readonly unknown[];
  providers: readonly unknown[];
  /** How many sessions the host has returned; `sessions` lacks those that have no time that can be read. */
  sessionCount: number;
  /** The files of the project that the sessions touched. */
  observations: Observation[];
  /** How much of what there is the host's answer holds. */
  coverage?: Coverage;
  /** The report of the Inspector, when there is an Inspector. */
  inspectorReport?: unknown;
}

/** The sessions of a workspace as this package projects them, without an Inspector. */
export interface ProjectedWorkspaceSessions extends WorkspaceSessions {
  sessions: ProjectedSession[];
  providers: WorkspaceProvider[];
}

/** What the Inspector is given in place of its own collecting: what the host has returned. */
export type CollectEvidence = () => Promise<{ sessions: Summary[]; providers: Provider[] }>;

/**
 * The Inspector: what makes the git history and the report out of collected sessions. It is not part of this package.
 */
export interface InspectorRuntime {
  createInspectorWorkspaceSessionProvider(options: { collect: CollectEvidence }): {
    discover(workspace: string): Promise<object>;
  };
}

/** How a provider is made. */
export interface RustEvidenceWorkspaceSessionProviderOptions {
  /**
   * The Inspector, or what loads it when it is needed first. Without one there is no report, and this package projects
   * the sessions itself.
   */
  inspector?: InspectorRuntime | (() => InspectorRuntime | Promise<InspectorRuntime>) | undefined;
}

/** Finds the sessions of a workspace. */
export interface RustEvidenceWorkspaceSessionProvider {
  /** Rejected when the host or the Inspector fails; a store that cannot be read is part of the answer. */
  discover(workspace: string | WorkspaceQuery): Promise<WorkspaceSessions>;
}

/** A provider that asks a host, and hands what it returns to the Inspector, if there is one. */
export function createRustEvidenceWorkspaceSessionProvider(
  host: Pick<RustEvidenceHost, 'discover'>,
  options?: { inspector?: undefined },
): { discover(workspace: string | WorkspaceQuery): Promise<ProjectedWorkspaceSessions> };
export function createRustEvidenceWorkspaceSessionProvider(
  host: Pick<RustEvidenceHost, 'discover'>,
  options?: RustEvidenceWorkspaceSessionProviderOptions,
): RustEvidenceWorkspaceSessionProvider;
export function createRustEvidenceWorkspaceSessionProvider(
  host: Pick<RustEvidenceHost, 'discover'>,
  { inspector }: RustEvidenceWorkspaceSessionProviderOptions = {},
): RustEvidenceWorkspaceSessionProvider {
  return {
    async discover(asked) {
      const { workspace, fromMs, toMs } = typeof asked === 'string' ? { workspace: asked } : (asked as WorkspaceQuery);
      const answer = await host.discover({
        workspace,
        maxSessions: MAX_SESSIONS,
        includeToolTrace: true,
        includeDialogue: true,
        fromMs,
        toMs,
      });
      const sessions = listOf<Summary>(answer.sessions);
      const providers = listOf<Provider>(answer.providers);
      const found = {
        sessionCount: sessions.length,
        observations: listOf<Observation>(answer.observations),
        ...(isObject(answer.coverage) ? { coverage: boundedCoverage(answer.coverage) } : {}),
      };
      if (inspector === undefined) {
        return {
          label: labelOf(workspace),
          sessions: sessions.map(projectSession).filter((session) => session !== undefined),
          providers: providers.filter((provider) => isObject(provider)).map(projectProvider),
          ...found,
        };
      }
      const runtime = typeof inspector === 'function' ? await inspector() : inspector;
      const inspected = await runtime
        .createInspectorWorkspaceSessionProvider({ collect: async () => ({ sessions, providers }) })
        .discover(workspace);
      return { label: labelOf(workspace), sessions: [], providers: [], ...inspected, ...found };
    },
  };
}

function projectProvider({ platform, status, discovered, included, message, reason, unreadable }: Provider): WorkspaceProvider {
  return {
    provider: platform,
    status,
    discovered,
    included,
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}

function boundedCoverage({ inWindow, included, omitted, windowed }: Coverage): Coverage {
  return { inWindow, included, omitted, windowed };
}

/** The last name of a path of either kind of system. */
function labelOf(workspace: string): string {
  const { basename } = /^[A-Za-z]:[\\/]|^\\\\/.test(workspace) ? path.win32 : path.posix;
  return basename(workspace) || workspace;
}

function listOf<Entry>(value: Entry[] | undefined): Entry[] {
  return Array.isArray(value) ? value : [];
}
