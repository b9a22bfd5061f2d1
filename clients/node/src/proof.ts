/** The transport proof: the first frame of a bridge says which process answers. */

import type { Frame } from './frames.js';
import { isObject } from './frames.js';

/** The beginning of what is said when the proof is missing. */
export const UNPROVEN =
  'Evidence host did not prove an NSXPC service before its first frame; refusing a silent stdio fallback';

/**
 * The process id of the service that a proof names, or what is wrong with it.
 *
 * @param bridgePid the process id of the child that this client has started.
 */
export function readProof(frame: Frame, bridgePid: number | undefined): { servicePid: number } | { refusal: string } {
  const event = frame.kind === 'event' ? frame.event : undefined;
  if (!isObject(event) || event['type'] !== 'transport') return { refusal: 'that frame is not a transport proof' };
  if (event['transport'] !== 'nsxpc') return { refusal: 'the proof names another transport' };
  const service = event['servicePid'];
  const bridge = event['bridgePid'];
  if (!isProcessId(service) || !isProcessId(bridge)) return { refusal: 'the proof does not name two processes' };
  if (bridgePid === undefined || bridge !== bridgePid) {
    return { refusal: 'the proof names a bridge that this client has not started' };
  }
  if (service === bridge) return { refusal: 'the proof names the bridge itself as the service' };
  return { servicePid: service };
}

function isProcessId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
