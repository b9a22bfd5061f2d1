/**
 * A supervised client of the evidence host: which agent sessions belong to a project, what happened in them, and which
 * files of the project they touched.
 *
 * @packageDocumentation
 */

export { EvidenceHostError } from './errors.js';
export type { EvidenceHostErrorCode } from './errors.js';
export { evidenceHostLocation, findEvidenceHost } from './executable.js';
export type { EvidenceHostLocation, EvidenceHostPlace } from './executable.js';
export { createRustEvidenceHost } from './host.js';
export type { RustEvidenceHost, RustEvidenceHostOptions } from './host.js';
export type { SpawnProcess } from './process.js';
export { projectSession } from './projection.js';
export type {
  DebuggerEvent,
  DebuggerEventKind,
  DebuggerToolCall,
  ProjectedSession,
  SessionEntry,
} from './projection.js';
export * from './protocol.js';
export { createRustEvidenceWorkspaceSessionProvider } from './provider.js';
export type {
  CollectEvidence,
  InspectorRuntime,
  ProjectedWorkspaceSessions,
  RustEvidenceWorkspaceSessionProvider,
  RustEvidenceWorkspaceSessionProviderOptions,
  WorkspaceProvider,
  WorkspaceQuery,
  WorkspaceSessions,
} from './provider.js';
export { readEvidenceStartContract, startEvidenceHost } from './start.js';
export type { EvidenceStartContract, StartedEvidenceHost, StartEvidenceHostOptions } from './start.js';
