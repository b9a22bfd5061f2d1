// An evidence host that misbehaves as its first argument says. What it reads goes to the file that FAKE_HOST_LOG names.
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [behaviour = 'good', argument = ''] = process.argv.slice(2);
const log = process.env.FAKE_HOST_LOG;
const MIB = 1024 * 1024;

const frame = (value) => `${JSON.stringify(value)}\n`;
const result = (id, value = {}) => frame({ version: 1, id, result: value });
const write = (text) => new Promise((done) => process.stdout.write(text, done));
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const forever = () => setInterval(() => {}, 1_000_000);
const proof = (over = {}) =>
  frame({
    version: 1,
    event: { type: 'transport', transport: 'nsxpc', servicePid: process.pid + 1, bridgePid: process.pid, ...over },
  });

function answer({ id, method, params }) {
  switch (method) {
    case 'host.describe':
      return result(id, { protocol: 'evidence-rust-1.0.0+jsonl-v1', pid: process.pid, platforms: ['claude'] });
    case 'sessions.discover':
      return result(id, { sessions: [], providers: [], observations: [], params });
    case 'artifacts.observe':
      return result(id, { observations: [] });
    case 'shutdown':
      return result(id, { status: 'shutting-down' });
    default:
      return frame({ version: 1, id, error: { code: 'unknown-method', message: `unknown method ${method}` } });
  }
}

// A reply whose line is `length` bytes long.
function replyOf(id, length) {
  const empty = result(id, { text: '' }).length - 1;
  return result(id, { text: 'x'.repeat(length - empty) });
}

const behaviours = {
  good: (request) => write(answer(request)),
  slow: async (request) => {
    await pause(Number(argument) || 200);
    await write(answer(request));
  },
  silent: () => {},

  'crash-before-reply': () => {
    process.stderr.write('[evidence-host] the disk is on fire\n', () => process.exit(3));
  },
  'crash-after-reply': async (request) => {
    await write(answer(request));
    process.exit(0);
  },
  'crash-in-a-reply': async (request) => {
    await write(answer(request).slice(0, 20));
    process.exit(1);
  },
  'crash-by-signal': () => process.kill(process.pid, 'SIGABRT'),
  'crash-with-a-child-that-holds-the-output': () => {
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)'], {
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    appendFileSync(argument, `${child.pid}`);
    process.exit(4);
  },

  'byte-by-byte': async (request) => {
    for (const byte of Buffer.from(result(request.id, { text: 'naïve 日本 🧭' }))) {
      await write(Buffer.of(byte));
      await pause(1);
    }
  },
  'blank-lines': (request) => write(`\n\r\n  \n${answer(request).trimEnd()}\r\n\n`),
  'reply-with-last-breath': (request) => process.stdout.write(answer(request), () => process.exit(1)),

  garbage: () => write('Segmentation fault\n'),
  'not-utf-8': () => write(Buffer.from([0x22, 0xff, 0x22, 0x0a])),
  'a-list': () => write('[]\n'),
  'version-2': ({ id }) => write(frame({ version: 2, id, result: {} })),
  'no-version': ({ id }) => write(frame({ id, result: {} })),
  'id-as-text': ({ id }) => write(frame({ version: 1, id: `${id}`, result: {} })),
  'no-id': () => write(frame({ version: 1, result: {} })),
  'fractional-id': ({ id }) => write(frame({ version: 1, id: id + 0.5, result: {} })),
  'unknown-id': ({ id }) => write(result(id + 1)),
  'neither-result-nor-error': ({ id }) => write(frame({ version: 1, id })),
  'result-and-error': ({ id }) => write(frame({ version: 1, id, result: {}, error: { code: 'x', message: 'y' } })),
  'error-as-text': ({ id }) => write(frame({ version: 1, id, error: 'no' })),
  'null-result': ({ id }) => write(frame({ version: 1, id, result: null })),
  'list-as-result': ({ id }) => write(frame({ version: 1, id, result: [] })),
  'call-error': ({ id }) =>
    write(frame({ version: 1, id, error: { code: 'response-limit', message: 'The answer would be too long.' } })),
  'call-error-without-a-code': ({ id }) => write(frame({ version: 1, id, error: { message: 'No.' } })),
  'other-protocol': ({ id }) => write(result(id, { protocol: 'evidence-2\u001b[31m', pid: 1, platforms: [] })),
  'reply-twice': (request) => write(answer(request) + answer(request)),
  'reply-twice-later': async (request) => {
    await write(answer(request));
    await pause(50);
    await write(answer(request));
    forever();
  },
  'transport-event': (request) => write(proof() + answer(request)),
  'longest-reply': ({ id }) => write(replyOf(id, 16 * MIB)),
  'too-long-reply': ({ id }) => write(replyOf(id, 16 * MIB + 1)),
  'a-line-without-an-end': async () => {
    const piece = 'x'.repeat(MIB);
    for (;;) await write(piece);
  },

  'loud': async (request) => {
    await new Promise((done) => process.stderr.write(`${'noise '.repeat(200_000)}the last words\u001b[31m`, done));
    await write(answer(request));
  },
  'loud-crash': async () => {
    await new Promise((done) => process.stderr.write(`${'é'.repeat(200_000)}the last words\u001b[31m`, done));
    process.exit(101);
  },
  'close-output': () => {
    // The streams of a process do not close what they stand for.
    closeSync(1);
    forever();
  },
  'ignore-shutdown': (request) => (request.method === 'shutdown' ? undefined : write(answer(request))),

  // Bridges.
  'proof-then-good': (request) => write(answer(request)),
  'no-proof': (request) => write(answer(request)),
  'proof-after-the-reply': (request) => write(answer(request) + proof()),
  'proof-twice': (request) => write(proof() + answer(request)),
  'proof-of': (request) => write(answer(request)),
  'first-frame': (request) => write(answer(request)),
};

if (behaviour === 'exit-at-once') {
  process.stderr.write('[evidence-host] no home\n', () => process.exit(7));
} else {
  if (behaviour === 'proof-then-good' || behaviour === 'proof-twice') await write(proof());
  if (behaviour === 'proof-of') await write(proof(JSON.parse(argument)));
  if (behaviour === 'first-frame') await write(`${argument.replaceAll('BRIDGE', process.pid)}\n`);
  if (behaviour === 'unasked-frame') await write(result(1));
  if (behaviour === 'ignore-shutdown') {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
    forever();
  }
  const act = behaviours[behaviour] ?? behaviours.good;
  if (behaviour === 'stop-reading') {
    closeSync(0);
    forever();
    await new Promise(() => {});
  }
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
  let turn = Promise.resolve();
  lines.on('line', (line) => {
    if (log) appendFileSync(log, `${line}\n`);
    const request = JSON.parse(line);
    turn = turn.then(() => act(request)).then(() => {
      if (request.method === 'shutdown' && behaviour !== 'ignore-shutdown') process.exit(0);
    });
  });
  if (behaviour === 'silent') forever();
}
