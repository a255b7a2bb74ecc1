// Measures the CPU time of each thread of a running server per operation, user and system, while `kload` (of
// ../shared/bench) loads the server; by thread name, with the threads of V8 and libuv combined. Linux only.
//   node test/bench/threads.mjs --pid PID --url https://127.0.0.1:6443 [--seconds 3] [--only regex]
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { parseArgs, promisify } from 'node:util';

const { values } = parseArgs({
  options: {
    pid: { type: 'string' },
    url: { type: 'string', default: 'https://127.0.0.1:6443' },
    token: { type: 'string', default: 'admin-token' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string', default: '.' },
  },
});
const kload = process.env.KLOAD ?? `${homedir()}/.cache/reference/bin/kload`;
const run = promisify(execFile);
const pods = ['-kind', 'pods', '-ns', 'pods'];
const loads = {
  'GET, HTTP/1.1': ['-op', 'get', '-h1'],
  'GET, HTTP/2': ['-op', 'get'],
  'create, HTTP/1.1': ['-op', 'create', '-h1', '-ns', 'c1'],
  'create, HTTP/2': ['-op', 'create', '-ns', 'c1'],
  update: ['-op', 'update'],
  'patch of a Pod': ['-op', 'patch', ...pods],
  'list of 50': ['-op', 'list', '-limit', '50'],
  'list of 5,000 Pods': ['-op', 'list', '-c', '2', ...pods],
  'event to one of 1,000 watchers': ['-op', 'watch', '-ns', 'watch1000', '-c', '1000', '-conns', '20', '-n', '300', '-rate', '50'],
};
/** Linux counts CPU time in hundredths of a second. */
const tickUs = 10_000;

/** Returns CPU microseconds by kind of thread. */
function spent() {
  const times = new Map();
  const folder = `/proc/${values.pid}/task`;
  for (const id of readdirSync(folder)) {
    const name = readFileSync(`${folder}/${id}/comm`, 'utf8').trim();
    const fields = readFileSync(`${folder}/${id}/stat`, 'utf8').split(') ')[1].split(' ');
    times.set(name, (times.get(name) ?? 0) + (Number(fields[11]) + Number(fields[12])) * tickUs);
  }
  return times;
}

async function load(args) {
  const common = ['-server', values.url, '-token', values.token, '-d', `${values.seconds}s`];
  const { stdout } = await run(kload, [...common, ...args]);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

await load(['-op', 'fill', '-n', '1000']);
await load(['-op', 'fill', '-n', '5000', ...pods]);
for (const [name, args] of Object.entries(loads)) {
  if (!new RegExp(values.only).test(name)) continue;
  // The first run warms up the code.
  await load(args);
  const before = spent();
  const line = await load(args);
  const operations = line.delivered ?? line.ops * Number(values.seconds);
  const parts = [...spent()]
    .map(([thread, us]) => [thread, (us - (before.get(thread) ?? 0)) / operations])
    .filter(([, us]) => us >= 0.1)
    .map(([thread, us]) => `${thread} ${us.toFixed(us < 10 ? 1 : 0)}`);
  const rate = line.ops === undefined ? `p99 ${line.p99_ms} ms` : `${Math.round(line.ops)}/s`;
  console.log(`${name.padEnd(32)} ${rate.padStart(12)}  µs: ${parts.join(', ')}`);
}
