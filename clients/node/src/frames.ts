/** Frames: requests as bytes, and what a line of the process says. */

import { EvidenceHostError } from './errors.js';
import { ENVELOPE_VERSION, MAX_REQUEST_BYTES, MAX_REQUEST_DEPTH } from './protocol.js';
import type { RequestFrame } from './protocol.js';

/** What is wrong with a process, before it is known which calls that concerns. */
export interface Failure {
  code: string;
  /** A sentence. */
  message: string;
  cause?: unknown;
}

/** What a line of the process says. */
export type Frame =
  | { kind: 'result'; id: number; result: unknown }
  | { kind: 'error'; id: number; code: string; message: string }
  | { kind: 'event'; event: unknown }
  | { kind: 'failure'; failure: Failure };

/** Half of a surrogate pair as `JSON.stringify` writes it, and not a backslash that was in the text. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\{}[]');

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A request as the bytes that go to the process.
 *
 * @throws EvidenceHostError when the parameters cannot be written, or the frame would be longer than the host reads.
 */
export function encodeRequest(id: number, method: string, params: object): Buffer {
  let text: string;
  try {
    const frame: RequestFrame = { version: ENVELOPE_VERSION, id, method, params };
    text = JSON.stringify(frame);
  } catch (cause) {
    throw new EvidenceHostError('invalid-request', `The parameters of ${method} cannot be written as JSON.`, {
      method,
      cause,
    });
  }
  // What follows is a fault to the host: it would end, and every pending call with it.
  if (text.includes('\\ud') && LONE_SURROGATE.test(text)) {
    throw new EvidenceHostError(
      'invalid-request',
      `The parameters of ${method} have text that ends or begins in half of a character.`,
      { method },
    );
  }
  const bytes = Buffer.from(`${text}\n`, 'utf8');
  if (bytes.length > MAX_REQUEST_BYTES) {
    throw new EvidenceHostError(
      'request-limit',
      `The request ${method} is ${bytes.length} bytes, over the limit of ${MAX_REQUEST_BYTES} bytes.`,
      { method },
    );
  }
  if (isDeeperThan(MAX_REQUEST_DEPTH, bytes)) {
    throw new EvidenceHostError(
      'invalid-request',
      `The parameters of ${method} stand in each other more than ${MAX_REQUEST_DEPTH - 1} deep.`,
      { method },
    );
  }
  return bytes;
}

/** Whether objects and lists of a JSON text stand in each other more than `limit` deep. */
function isDeeperThan(limit: number, text: Buffer): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1;
    }
  }
  return false;
}

/** What a line says; nothing when it is blank. */
export function decodeFrame(line: Buffer): Frame | undefined {
  let value: unknown;
  try {
    const text = utf8.decode(line);
    if (text.trim() === '') return undefined;
    value = JSON.parse(text);
  } catch (cause) {
    return malformed('Evidence host returned malformed JSON.', cause);
  }
  if (!isObject(value)) return malformed('Evidence host returned a frame that is not an object.');
  if (value['version'] !== ENVELOPE_VERSION) {
    return malformed('Evidence host returned an invalid envelope: its version is not 1.');
  }
  if (Object.hasOwn(value, 'event')) return { kind: 'event', event: value['event'] };
  const id = value['id'];
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) {
    return malformed('Evidence host returned an invalid envelope: its id is not an integer.');
  }
  if (Object.hasOwn(value, 'error') === Object.hasOwn(value, 'result')) {
    return malformed('Evidence host returned an invalid envelope: it must have either a result or an error.');
  }
  if (Object.hasOwn(value, 'result')) return { kind: 'result', id, result: value['result'] };
  const error = value['error'];
  if (!isObject(error) || typeof error['message'] !== 'string') {
    return malformed('Evidence host returned an invalid envelope: its error has no message.');
  }
  const code = typeof error['code'] === 'string' && error['code'] !== '' ? error['code'] : 'call-failed';
  return { kind: 'error', id, code, message: error['message'] };
}

/** Whether a value is an object with keys, and neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(message: string, cause?: unknown): Frame {
  return { kind: 'failure', failure: { code: 'malformed-frame', message, cause } };
}
