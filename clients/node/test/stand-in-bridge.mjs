// Stands in for the bridge and the service of macOS, so that their path can be walked anywhere:
//
//     client  <->  this process (the bridge)  <->  a process of its own (the service)  <->  the host
//
// As there, the service writes the proof before any byte of the host, and both forward bytes and know nothing else.
// The arguments are the program of the host, and what that takes.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [program, ...rest] = process.argv.slice(2);

function forward(child) {
  // Whoever goes first takes the others along.
  for (const stream of [process.stdin, process.stdout, child.stdin, child.stdout]) stream.on('error', () => {});
  process.stdin.pipe(child.stdin);
  child.stdout.pipe(process.stdout);
  child.on('error', () => process.exit(1));
  child.on('close', (code) => process.stdout.write('', () => process.exit(code ?? 1)));
}

if (program === '--service') {
  const [driver, ...args] = rest;
  const event = { type: 'transport', transport: 'nsxpc', servicePid: process.pid, bridgePid: process.ppid };
  process.stdout.write(`${JSON.stringify({ version: 1, event })}\n`, () => {
    forward(spawn(driver, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
  });
} else {
  const service = [fileURLToPath(import.meta.url), '--service', program, ...rest];
  forward(spawn(process.execPath, service, { stdio: ['pipe', 'pipe', 'inherit'] }));
}
