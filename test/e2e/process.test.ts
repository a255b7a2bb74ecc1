import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { getPriority, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import tls from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { Authority } from '#cmd/certificates/issue';
import { freePort } from '../../scripts/free-port.ts';
import { servingFlags } from '../servers/serving-flags.ts';

/** Built by `npm test`. */
const bin = resolve(import.meta.dirname, '../../bin');

let folder: string;
let running: ChildProcess[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-process-'));
  running = [];
});
afterEach(async () => {
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
  readonly lines: readonly string[];
}

async function start(...flags: string[]): Promise<Started> {
  const port = await freePort();
  const child = spawn(join(bin, 'kubenest'), ['serve', `--data-dir=${folder}/data`, `--secure-port=${port}`, ...servingFlags(), ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.push(child);
  const [text] = (await Promise.race([
    once(child.stdout as NonNullable<typeof child.stdout>, 'data'),
    once(child, 'exit').then(() => ['the server ended']),
  ])) as [Buffer | string];
  return { child, port, lines: String(text).trimEnd().split('\n') };
}

/** Resolves to the status of a GET; to 0 if the server does not respond. */
function statusOf(port: number, path: string): Promise<number> {
  return new Promise((resolve) => {
    https
      .get({ host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
      .on('error', () => resolve(0));
  });
}

/** Runs a command to its end. */
function run(command: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { promise, resolve: done } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>();
  execFile(join(bin, command), args, { cwd: folder }, (error, stdout, stderr) =>
    done({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
  );
  return promise;
}

async function servedCertificate(port: number, servername = 'localhost'): Promise<X509Certificate> {
  const socket = tls.connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerX509Certificate() as X509Certificate;
  socket.destroy();
  return certificate;
}

test('without flags it prints its address, the credentials and an example; SIGTERM ends it with 0', async () => {
  const { child, port, lines } = await start();
  expect(lines).toEqual([
    `kubenest serves the Kubernetes API on https://127.0.0.1:${port}`,
    `export KUBECONFIG=${folder}/data/kubeconfig`,
    'kubectl get namespaces',
  ]);
  const trusted = new X509Certificate(await readFile(join(folder, 'data/pki/ca.crt')));
  expect((await servedCertificate(port)).verify(trusted.publicKey)).toBe(true);
  const began = performance.now();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(performance.now() - began).toBeLessThan(5_000);
});

/** Makes a request with the certificate of the administrator's kubeconfig; `code` is that of the response. */
async function asAdmin(port: number, method: string, path: string, body?: object): Promise<{ readonly code: number }> {
  const { users } = parse(await readFile(`${folder}/data/kubeconfig`, 'utf8')) as { users: [{ user: Record<string, string> }] };
  const [cert, key] = ['client-certificate-data', 'client-key-data'].map((name) => Buffer.from(users[0].user[name] ?? '', 'base64'));
  const headers = { 'content-type': 'application/json' };
  const request = https.request({ host: '127.0.0.1', port, path, method, headers, cert, key, rejectUnauthorized: false, agent: false });
  request.end(body && JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const answer = JSON.parse(Buffer.concat(await response.toArray()).toString()) as object;
  return { ...answer, code: response.statusCode ?? 0 };
}

test('with KUBENEST_ENGINE_TUNING=off it starts and serves on Node as it is', async () => {
  const port = await freePort();
  const flags = [`--data-dir=${folder}/data`, `--secure-port=${port}`, ...servingFlags()];
  const { MALLOC_ARENA_MAX: _, ...environment } = process.env;
  const child = spawn(join(bin, 'kubenest'), ['serve', ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...environment, KUBENEST_ENGINE_TUNING: 'off' },
  });
  running.push(child);
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  const commandLine = await readFile(`/proc/${child.pid}/cmdline`, 'utf8');
  expect(commandLine).toContain('--disable-proto=delete');
  expect(commandLine).not.toContain('--max-semi-space-size');
  expect(await readFile(`/proc/${child.pid}/environ`, 'utf8')).not.toContain('MALLOC_ARENA_MAX');
  const threads = await readdir(`/proc/${child.pid}/task`);
  expect(threads.every((id) => getPriority(Number(id)) === getPriority(child.pid!))).toBe(true);
  const configMaps = '/api/v1/namespaces/default/configmaps';
  expect(await asAdmin(port, 'POST', configMaps, { metadata: { name: 'a' }, data: { b: 'c' } })).toMatchObject({ code: 201 });
  expect(await asAdmin(port, 'GET', `${configMaps}/a`)).toMatchObject({ code: 200, data: { b: 'c' } });
  await expectEnd(child);
});

test('refuses another value of KUBENEST_ENGINE_TUNING', async () => {
  const child = spawn(join(bin, 'kubenest'), ['version'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, KUBENEST_ENGINE_TUNING: 'no' },
  });
  const [text] = (await once(child.stderr as NonNullable<typeof child.stderr>, 'data')) as [Buffer];
  expect(String(text)).toBe('kubenest: KUBENEST_ENGINE_TUNING is "no", it must be on or off\n');
});

test('a second signal ends it immediately', async () => {
  const { child, port } = await start('--shutdown-delay-duration=1m');
  child.kill('SIGINT');
  await expect.poll(() => statusOf(port, '/readyz'), { timeout: 10_000 }).toBe(500);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([1, null]);
});

/** Starts a server that logs each request to pipes, and waits until it is ready. */
async function startTalking(): Promise<{ readonly child: ChildProcess; ask(): Promise<number> }> {
  const port = await freePort();
  const child = spawn(join(bin, 'kubenest'), ['serve', `--data-dir=${folder}/data`, `--secure-port=${port}`, ...servingFlags(), '--v=3'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const ask = (): Promise<number> =>
    new Promise((answer, reject) => {
      const request = https.get({ host: '127.0.0.1', port, path: '/livez', agent }, (response) => {
        response.resume().on('end', () => answer(response.statusCode ?? 0));
      });
      request.on('error', reject);
    });
  await vi.waitUntil(async () => (await ask().catch(() => 0)) === 200, { timeout: 30_000 });
  return { child, ask };
}

async function expectEnd(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  const began = performance.now();
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(performance.now() - began).toBeLessThan(10_000);
}

test('a server whose output was closed keeps serving and ends at SIGTERM', async () => {
  const { child, ask } = await startTalking();
  child.stdout?.destroy();
  child.stderr?.destroy();
  for (let i = 0; i < 50; i++) expect(await ask()).toBe(200);
  // The log is flushed at least once a second.
  await sleep(1_500);
  expect(await ask()).toBe(200);
  await expectEnd(child);
});

test('a server whose output is blocked keeps serving and ends at SIGTERM', { timeout: 60_000 }, async () => {
  const { child, ask } = await startTalking();
  // More than the pipe holds.
  for (let i = 0; i < 1_000; i++) expect(await ask()).toBe(200);
  await expectEnd(child);
});

test('a server whose log is on a full disk keeps serving and ends at SIGTERM', async () => {
  const port = await freePort();
  const full = openSync('/dev/full', 'w');
  const args = ['serve', `--data-dir=${folder}/data`, `--secure-port=${port}`, ...servingFlags(), '--v=3'];
  const child = spawn(join(bin, 'kubenest'), args, { stdio: ['ignore', 'pipe', full] });
  closeSync(full);
  running.push(child);
  await once(child.stdout!, 'data');
  await sleep(1_500);
  await expectEnd(child);
});

test.each(['/proc/x', '/proc', '/dev/null/x'])('an unwritable data folder %s is rejected at start', async (path) => {
  const began = performance.now();
  const { code, stdout, stderr } = await run('kubenest', 'serve', `--data-dir=${path}`);
  expect(performance.now() - began).toBeLessThan(10_000);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(new RegExp(`^kubenest serve: --data-dir ${path}: cannot (create the folder|open) [^\\n]*\\n$`));
});

test('a second server on the same data folder or port is rejected with the reason', async () => {
  const { port } = await start();
  const onData = await run('kubenest', 'serve', `--data-dir=${folder}/data`, `--secure-port=${await freePort()}`);
  expect(onData).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `kubenest serve: storage: another process has ${folder}/data/kubenest.db open\n`,
  });
  const onPort = await run('kubenest', 'serve', `--data-dir=${folder}/other`, `--secure-port=${port}`);
  expect(onPort).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `kubenest serve: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
  });
});

test('a damaged data file is named in the error', async () => {
  const { child } = await start();
  child.kill('SIGTERM');
  await once(child, 'exit');
  await writeFile(join(folder, 'data/kubenest.db'), 'this was no database, and never will be one');
  const { code, stderr } = await run('kubenest', 'serve', `--data-dir=${folder}/data`);
  expect([code, stderr]).toEqual([
    1,
    `kubenest serve: storage: ${folder}/data/kubenest.db is damaged or not a kubenest store: file is not a database\n`,
  ]);
});

test('changed certificates are served without a restart, an incomplete pair is not', async () => {
  const authority = await Authority.create('mine');
  const write = async (name: string, commonName: string): Promise<void> => {
    const pair = await authority.issue({ commonName, names: [`${name}.example`], usages: ['server'] });
    for (const [ending, text] of [
      ['crt', pair.cert],
      ['key', pair.key],
    ] as const) {
      await writeFile(join(folder, 'draft'), text);
      await rename(join(folder, 'draft'), join(folder, `${name}.${ending}`));
      // The server polls the files once a second, so it reads each pair while it is incomplete.
      await sleep(1_100);
    }
  };
  await write('main', 'first');
  await write('other', 'first');
  const { port } = await start(
    `--tls-cert-file=${folder}/main.crt`,
    `--tls-private-key-file=${folder}/main.key`,
    `--tls-sni-cert-key=${folder}/other.crt,${folder}/other.key`,
  );
  expect([(await servedCertificate(port)).subject, (await servedCertificate(port, 'other.example')).issuer]).toEqual([
    'CN=first',
    'CN=mine',
  ]);
  await write('main', 'second');
  await write('other', 'second');
  await expect.poll(async () => (await servedCertificate(port)).subject, { timeout: 10_000 }).toBe('CN=second');
  await expect.poll(async () => (await servedCertificate(port, 'other.example')).subject, { timeout: 10_000 }).toBe('CN=second');
  const byName = await servedCertificate(port, 'other.example');
  expect(byName.checkHost('other.example')).toBe('other.example');
});

test("envtest's first call: --help lists no insecure port flag", async () => {
  const help = await run('kube-apiserver', '--help');
  expect([help.code, help.stdout.split('\n')[0]]).toEqual([0, 'Usage: kube-apiserver [flags]']);
  expect(help.stdout).not.toContain('--insecure-port');
});

test.each([
  [['version'], 'v1.36.3\n'],
  [['serve', '--version'], 'Kubernetes v1.36.3\n'],
])('kubenest %j', async (args, stdout) => {
  expect(await run('kubenest', ...args)).toEqual({ code: 0, stdout, stderr: '' });
});

test('an unknown verb is rejected, and help lists the verbs', async () => {
  expect((await run('kubenest', 'sreve')).code).toBe(1);
  expect((await run('kubenest', 'help')).stdout).toMatch(/serve.*version/s);
});

test('a header named __proto__ does not crash the server', async () => {
  const { child, port } = await start();
  const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n__proto__: a\r\n__proto__: b\r\nConnection: close\r\n\r\n');
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString()).toMatch(/^HTTP\/1.1 200 /);
  socket.destroy();
  const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const stream = session.request([':path', '/livez', '__proto__', 'a', '__proto__', 'b'] as never);
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  expect(headers[':status']).toBe(200);
  session.destroy();
  expect(child.exitCode).toBe(null);
});

test.skipIf(process.platform !== 'linux')(
  'compiler and garbage collection threads have a lower priority than serving threads',
  async () => {
    const { child } = await start();
    const tasks = `/proc/${child.pid}/task`;
    const priorities = async (name: string): Promise<number[]> => {
      const ids = await readdir(tasks);
      const names = await Promise.all(ids.map((id) => readFile(`${tasks}/${id}/comm`, 'utf8')));
      return ids.filter((_, i) => names[i]!.trim() === name).map((id) => getPriority(Number(id)));
    };
    const own = getPriority(child.pid!);
    const expected = Math.max(own, 10);
    await expect
      .poll(() => priorities('V8Worker'))
      .toSatisfy((found: number[]) => found.length > 0 && found.every((one) => one === expected));
    expect(await priorities('embedded-storag')).toEqual([own]);
  },
);
