/** Summaries as a studio shows them: one entry for its list, and the events of its debugger. */

import { isObject } from './frames.js';
import type { Access, CallStatus, Summary, ToolCall } from './protocol.js';

/** A session in a list. */
export interface SessionEntry {
  /** `platform:sessionId`. */
  id: string;
  platform: string;
  sessionId: string;
  /** The last time of the session, else its first: ISO 8601 in UTC with milliseconds. */
  savedAt: string;
  /** The first prompt, or a name for the session. */
  prompt: string;
  /** The person's and the model's messages. */
  messageCount: number;
  toolCallCount: number;
}

/**
 * What an event is: what the person said, a tool call by what it did, what the model said, or, in a session of which
 * nothing else is known, that it was seen.
 */
export type DebuggerEventKind = 'prompt' | 'change' | 'verify' | 'explore' | 'response' | 'observed';

/** A tool call in an event. */
export interface DebuggerToolCall {
  id: string;
  name: string;
  status: CallStatus;
  /** The input, or that none is kept. */
  input: string;
  output?: string;
  /** The file of the project that the call names first. */
  resource?: string;
  /** Whether the call changes that file, or reads it. */
  access?: Access;
  durationMs?: number;
}

/** One event of a session. */
export interface DebuggerEvent {
  /** Unlike that of every other event of the session. */
  id: string;
  kind: DebuggerEventKind;
  /** ISO 8601 in UTC with milliseconds. */
  timestamp: string;
  /** A line to show. */
  title: string;
  /** What was said. */
  text?: string;
  /** The call, in an event that is one. */
  toolCalls: DebuggerToolCall[];
  durationMs?: number;
}

/** A session as a studio takes it. */
export interface ProjectedSession {
  summary: SessionEntry;
  debugger: { events: DebuggerEvent[] };
}

/** What is shown where the input of a call is not kept. */
export const NOT_RETAINED = 'The input was not retained.';

/** How many characters of a session's id name it where it has no prompt. */
const NAMING_CHARACTERS = 12;

/**
 * A session as a studio takes it; nothing when it has neither an id nor a time that can be read. The host has already
 * checked and bounded what is in it, but another host may not have.
 */
export function projectSession(summary: Summary): ProjectedSession | undefined {
  if (!isObject(summary) || !isText(summary.platform) || !isText(summary.sessionId)) return undefined;
  const savedAt = instant(summary.lastSeen) ?? instant(summary.firstSeen);
  if (savedAt === undefined) return undefined;
  return {
    summary: {
      id: `${summary.platform}:${summary.sessionId}`,
      platform: summary.platform,
      sessionId: summary.sessionId,
      savedAt,
      prompt: firstPrompt(summary) ?? nameOf(summary),
      messageCount: count(summary.promptCount) + count(summary.assistantMessageCount),
      toolCallCount: count(summary.toolCallCount),
    },
    debugger: { events: eventsOf(summary, savedAt) },
  };
}

function eventsOf(summary: Summary, savedAt: string): DebuggerEvent[] {
  const firstSeen = instant(summary.firstSeen) ?? savedAt;
  const events: DebuggerEvent[] = [];
  for (const prompt of listOf(summary.prompts)) {
    if (!isText(prompt.text)) continue;
    events.push({
      id: `prompt-${events.length}`,
      kind: 'prompt',
      timestamp: instant(prompt.timestamp) ?? firstSeen,
      title: prompt.text,
      text: prompt.text,
      toolCalls: [],
    });
  }
  for (const call of listOf(summary.toolActivity?.calls)) {
    events.push({
      id: `call-${events.length}`,
      kind: kindOf(call.family),
      timestamp: instant(call.startedAt) ?? savedAt,
      title: text(call.actionLabel) ?? text(call.toolName) ?? 'tool',
      toolCalls: [projectCall(call)],
      ...present({ durationMs: duration(call.durationMs) }),
    });
  }
  for (const turn of listOf(summary.dialogue?.turns)) {
    if (!isText(turn.response)) continue;
    events.push({
      id: `response-${events.length}`,
      kind: 'response',
      timestamp: instant(turn.timestamp) ?? savedAt,
      title: turn.response,
      text: turn.response,
      toolCalls: [],
    });
  }
  if (events.length === 0) {
    events.push({ id: 'observed-0', kind: 'observed', timestamp: savedAt, title: nameOf(summary), toolCalls: [] });
  }
  // Stable: what has one time stays in the order of the session. All times have one form, so text order is their order.
  return events.sort((one, other) => (one.timestamp < other.timestamp ? -1 : one.timestamp > other.timestamp ? 1 : 0));
}

function projectCall(call: ToolCall): DebuggerToolCall {
  return {
    id: text(call.id) ?? '',
    name: text(call.toolName) ?? 'tool',
    status: text(call.status) ?? 'observed',
    input: text(call.detail) ?? NOT_RETAINED,
    ...present({
      output: text(call.output),
      resource: text(call.filePath),
      access: text(call.access),
      durationMs: duration(call.durationMs),
    }),
  };
}

/** The kind of a call, by its family. What a commit or a push carries away was changed before. */
function kindOf(family: unknown): DebuggerEventKind {
  switch (family) {
    case 'change':
    case 'deliver':
      return 'change';
    case 'verify':
      return 'verify';
    default:
      return 'explore';
  }
}

function firstPrompt(summary: Summary): string | undefined {
  return listOf(summary.prompts).find((prompt) => isText(prompt.text))?.text;
}

function nameOf(summary: Summary): string {
  return `${summary.platform} Session ${[...summary.sessionId].slice(0, NAMING_CHARACTERS).join('')}`;
}

/** A time in one form; older analyzers give it in milliseconds since 1970. */
function instant(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const date = new Date(value);
  // Years outside four digits are written in another form, which does not sort with the rest.
  return date.getTime() >= 0 && date.getUTCFullYear() <= 9999 ? date.toISOString() : undefined;
}

function listOf<Entry extends object>(value: readonly Entry[] | undefined): Entry[] {
  return Array.isArray(value) ? value.filter((entry: unknown): entry is Entry => isObject(entry)) : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function text(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function duration(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The entries that have a value. */
function present<Values extends object>(values: Values): { [Key in keyof Values]?: NonNullable<Values[Key]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Values]?: NonNullable<Values[Key]>;
  };
}
