/**
 * The protocol of the evidence host, as types: what is asked and what is answered.
 *
 * Keys are in camel case. A key that is absent means *not observed*, never zero or empty, but for the lists that are
 * absent when they are empty. Times are RFC 3339 in UTC with milliseconds. Values that a later host may add to a list
 * of words are possible: a reader must accept a word that it does not know.
 */

/** The name and version of the protocol, as `host.describe` reports it. */
export const EVIDENCE_PROTOCOL = 'evidence-rust-1.0.0+jsonl-v1';

/** The version in every frame. */
export const ENVELOPE_VERSION = 1;

/** How long a request may be, in bytes of UTF-8, with the line feed that ends it. */
export const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

/** How deep objects and lists of a request may stand in each other, the frame included. */
export const MAX_REQUEST_DEPTH = 128;

/** How long a frame from the host may be, in bytes, without the line feed that ends it. */
export const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** How many calls may be pending: the one that is in flight, and those that wait for it. */
export const MAX_PENDING_CALLS = 16;

/** The greatest id of a request. */
export const MAX_REQUEST_ID = 0xffff_ffff;

/** How frames travel: to the host itself, or through the bridge to the macOS service. */
export type EvidenceTransport = 'stdio' | 'nsxpc';

/** A request. */
export interface RequestFrame {
  version: 1;
  /** From 1 to {@link MAX_REQUEST_ID}. */
  id: number;
  method: string;
  params?: object;
}

/** The reply to a request: either `result` or `error`. */
export type ReplyFrame = ResultFrame | ErrorFrame;

/** The reply to a request that was answered. */
export interface ResultFrame {
  version: 1;
  id: number;
  result: object;
}

/** The reply to a request that was refused. The host goes on. */
export interface ErrorFrame {
  version: 1;
  id: number;
  error: { code: CallErrorCode; message: string };
}

/** The codes of call errors. */
export type CallErrorCode = 'unknown-method' | 'invalid-params' | 'response-limit' | 'internal' | (string & {});

/** The first frame of a bridge: which process answers, and which one carries the bytes. */
export interface TransportProof {
  version: 1;
  event: TransportEvent;
}

/** That a connection to the service was made. */
export interface TransportEvent {
  type: 'transport';
  transport: 'nsxpc';
  /** The process of the service, which runs the host. */
  servicePid: number;
  /** The process that connected to it, as the system reports it. */
  bridgePid: number;
}

/** The parameters of `sessions.discover`. Keys that are not named here are ignored by the host. */
export interface DiscoverParams {
  /** The directory of the project: absolute, or beginning with `~`. */
  workspace: string;
  /** How many sessions at most, the newest first: 1 to 500; 100 when absent. */
  maxSessions?: number | undefined;
  /** Whether summaries have `toolActivity`; they have when absent. */
  includeToolTrace?: boolean | undefined;
  /** Whether summaries have `dialogue`; they have when absent. */
  includeDialogue?: boolean | undefined;
  /** The beginning of the time that is asked for, in milliseconds since 1970, inclusive. */
  fromMs?: number | undefined;
  /** The end of the time that is asked for, in milliseconds since 1970, inclusive. */
  toMs?: number | undefined;
}

/** The parameters of `artifacts.observe`. Keys that are not named here are ignored by the host. */
export interface ObserveParams {
  /** The directory of the project: absolute, or beginning with `~`. */
  workspace: string;
  /** Summaries as `sessions.discover` gives them. */
  sessions?: readonly Summary[] | undefined;
}

/** The answer of `host.describe`. */
export interface Description {
  /** {@link EVIDENCE_PROTOCOL}. */
  protocol: string;
  /** The process id of the host. */
  pid: number;
  /** The platforms, in their order. */
  platforms: string[];
  /** The methods beside `host.describe` and `shutdown`. */
  capabilities?: string[];
}

/** The answer of `sessions.discover`. */
export interface Discovery {
  /** The sessions, those that were active last first. */
  sessions: Summary[];
  /** Every platform, in the order of the protocol. */
  providers: Provider[];
  /** The files of the project that these sessions touched. */
  observations: Observation[];
  /** How much of what there is the answer holds. */
  coverage?: Coverage;
}

/** The answer of `artifacts.observe`. */
export interface Observations {
  /** The files: last saved first, then by path. */
  observations: Observation[];
}

/** The answer of `shutdown`, after which the host ends. */
export interface Shutdown {
  /** `shutting-down`. */
  status: string;
}

/** How much of what belongs to the project an answer holds. */
export interface Coverage {
  /** The sessions of the project that lie in the time that was asked for. */
  inWindow: number;
  /** How many of them are in the answer. */
  included: number;
  /** How many are left out, by `maxSessions` or by the size of the answer. */
  omitted: number;
  /** Whether a time was asked for. */
  windowed: boolean;
}

/** One session. */
export interface Summary {
  /** The id, as the harness knows it. */
  sessionId: string;
  /** The platform. */
  platform: string;
  /** The earliest time in it. */
  firstSeen?: string;
  /** The latest time in it. */
  lastSeen?: string;
  /** What the person said, in order and with repeats, each cut at 200 characters. */
  prompts: Prompt[];
  /** How often the person said something. */
  promptCount: number;
  /** The model's messages. */
  assistantMessageCount: number;
  /** The tool calls. */
  toolCallCount: number;
  /** The tool calls one by one, unless `includeToolTrace` is false. */
  toolActivity?: ToolActivity;
  /** What the model said, unless `includeDialogue` is false. */
  dialogue?: Dialogue;
  /** The models that wrote, in the order in which they appear; absent when none is known. */
  models?: string[];
  /** What the model calls used. */
  tokenUsage?: TokenUsage;
}

/** One thing that the person said. */
export interface Prompt {
  /** The text, redacted, at most 200 characters. */
  text: string;
  /** When. */
  timestamp?: string;
}

/** The tool calls of a session. */
export interface ToolActivity {
  /** In order. */
  calls: ToolCall[];
}

/** One tool call. */
export interface ToolCall {
  /** The id of the call; one that is made up from the session's where the harness gives none. */
  id: string;
  /** What kind of work it is. */
  family: Family;
  /** The name to show. */
  actionLabel: string;
  /** The name of the tool, as the harness writes it. */
  toolName: string;
  /** How it ended. */
  status: CallStatus;
  /** The input, redacted and cut. */
  detail?: string;
  /** The output, redacted and cut. */
  output?: string;
  /** From the call to its result, in milliseconds. */
  durationMs?: number;
  /** The first of `filePaths`. */
  filePath?: string;
  /** The files of the project that the input names, relative to it, with `/`; absent when there are none. */
  filePaths?: string[];
  /** Whether the call changes the files that it names, or reads them. */
  access?: Access;
  /** When it was made. */
  startedAt?: string;
}

/**
 * What kind of work a tool call is: `inspect` reads and searches, `change` changes files, `execute` runs commands,
 * `verify` runs tests, linters and builds, `coordinate` is plans, subagents, questions and waiting, `deliver` is
 * committing, pushing, pull requests and publishing.
 */
export type Family =
  | 'inspect'
  | 'change'
  | 'execute'
  | 'verify'
  | 'coordinate'
  | 'deliver'
  | 'other'
  | (string & {});

/**
 * How a tool call ended: `returned` has a result that does not say whether it went well; of `observed` nothing is known
 * but that it was made.
 */
export type CallStatus = 'observed' | 'returned' | 'completed' | 'failed' | 'interrupted' | (string & {});

/** What was done to a file. A session that changed and read it has changed it. */
export type Access = 'read' | 'change' | (string & {});

/** What the model said. */
export interface Dialogue {
  /** In order. */
  turns: Turn[];
}

/** One message of the model. */
export interface Turn {
  /** When. */
  timestamp?: string;
  /** The text, redacted and cut. */
  response?: string;
}

/** Tokens that model calls used. What was not observed is absent. */
export interface TokenUsage {
  /** Input that no cache served. */
  inputTokens?: number;
  /** Output, with reasoning. */
  outputTokens?: number;
  /** Input that a cache served. */
  cacheReadInputTokens?: number;
  /** Input that was put into a cache. */
  cacheCreationInputTokens?: number;
  /** The part of the output that is reasoning. */
  reasoningOutputTokens?: number;
  /** All of it, where the harness says so. */
  totalTokens?: number;
}

/** What was found of one platform. */
export interface Provider {
  /** The platform. */
  platform: string;
  /** Whether there is evidence: `error` when there may be some, but it could not be read. */
  status: ProviderStatus;
  /** The sessions of the project, all of them. */
  discovered: number;
  /** How many of them are in the answer. */
  included: number;
  /** What went wrong, in a sentence. */
  message?: string;
  /** Why there is nothing, or not everything. */
  reason?: Reason;
  /** The sessions and places that could not be read; absent when there are none. */
  unreadable?: number;
}

/** Whether a platform has evidence of the project. */
export type ProviderStatus = 'ok' | 'no-evidence' | 'error' | (string & {});

/**
 * Why a platform has nothing, or not everything: there is no store on this machine, the store has nothing of this
 * project, something cannot be read, sessions lie outside the time that was asked for, or reading took too long.
 */
export type Reason = 'store-missing' | 'no-match' | 'unreadable' | 'window' | 'timeout' | (string & {});

/** One file of the project that a session touched. */
export interface Observation {
  /** The path relative to the project, with `/`. */
  relativePath: string;
  /** `platform:sessionId`. */
  sessionId: string;
  /** The session's last time. */
  savedAt: string;
  /** The session's first prompt, or a name for it. */
  prompt: string;
  /** The platform. */
  provider?: string;
  /** Whether the session changed the file or only read it; absent from a host that does not say. */
  access?: Access;
}
