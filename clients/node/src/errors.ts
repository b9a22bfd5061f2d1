/** Why a call was rejected. */

/**
 * The codes that this client gives. A call error has the code that the host gave it (`unknown-method`,
 * `invalid-params`, `response-limit`, `internal`, or one of a later host).
 *
 * - `closed`: the client is closed, or was closed while the call was pending.
 * - `queue-full`: {@link MAX_PENDING_CALLS} calls are pending already.
 * - `request-limit`: the request would be longer than {@link MAX_REQUEST_BYTES}.
 * - `invalid-request`: the parameters cannot be written as a frame.
 * - `start-failed`: the program could not be started.
 * - `input-closed`: the process no longer reads.
 * - `exited`: the process ended while calls were pending.
 * - `timeout`: the reply did not come in time.
 * - `frame-limit`: a frame of the process is longer than {@link MAX_RESPONSE_BYTES}.
 * - `malformed-frame`: a frame of the process is not JSON, or not a reply of this protocol.
 * - `unknown-id`: a reply to a request that is not in flight.
 * - `unexpected-event`: a frame that is not a reply, and not expected on this transport.
 * - `transport-unproven`: the bridge did not prove that a service answers.
 * - `empty-result`: the result is not an object.
 * - `protocol`: the host speaks another protocol.
 * - `call-failed`: a call error that has no code.
 * - `executable-missing`: there is no evidence host where it belongs.
 */
export type EvidenceHostErrorCode =
  | 'closed'
  | 'queue-full'
  | 'request-limit'
  | 'invalid-request'
  | 'start-failed'
  | 'input-closed'
  | 'exited'
  | 'timeout'
  | 'frame-limit'
  | 'malformed-frame'
  | 'unknown-id'
  | 'unexpected-event'
  | 'transport-unproven'
  | 'empty-result'
  | 'protocol'
  | 'call-failed'
  | 'executable-missing'
  | 'unknown-method'
  | 'invalid-params'
  | 'response-limit'
  | 'internal'
  | (string & {});

/** What else is known of a rejected call. */
export interface EvidenceHostErrorDetails {
  /** The method that was called. */
  method?: string;
  /** Whether the request had been handed to the process. A call that waited was never sent. */
  sent?: boolean;
  /** The end of what the process wrote to its standard error, at most 8 KiB, as it wrote it. */
  stderr?: string;
  /** What the system said. */
  cause?: unknown;
}

/** A call that was rejected. */
export class EvidenceHostError extends Error {
  /** Why. */
  readonly code: EvidenceHostErrorCode;
  /** The method that was called, where a call was. */
  readonly method: string | undefined;
  /** Whether the request had been handed to the process. Nothing is sent twice by this client. */
  readonly sent: boolean;
  /** The end of what the process wrote to its standard error, at most 8 KiB; empty where it wrote nothing. */
  readonly stderr: string;

  constructor(code: EvidenceHostErrorCode, message: string, details: EvidenceHostErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'EvidenceHostError';
    this.code = code;
    this.method = details.method;
    this.sent = details.sent ?? false;
    this.stderr = details.stderr ?? '';
  }
}
