/** bin/kubenest with plugin packages in its own process. */
import type { Buffer } from 'node:buffer';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import https from 'node:https';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { freePort } from '../../scripts/free-port.ts';

export const root = resolve(import.meta.dirname, '../..');

const execute = promisify(execFile);

/** Installs packages of plugins/example like a user: compiled, packed, and installed outside of the checkout. */
export async function installExamples(folder: string, names: readonly string[]): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  if (!existsSync(join(root, 'dist/types/.tsbuildinfo'))) await execute(process.execPath, [join(root, 'scripts/build-types.mjs')]);
  const tarballs = await Promise.all(names.map((name) => packed(name, folder)));
  await execute('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: folder });
}

async function packed(name: string, folder: string): Promise<string> {
  const cwd = join(root, 'plugins/example', name);
  await execute(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], { cwd });
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', folder], { cwd });
  return join(folder, (JSON.parse(stdout) as [{ filename: string }])[0].filename);
}

export interface Launch {
  readonly child: ChildProcess;
  readonly port: number;
  readonly stderr: () => string;
}

/** Starts a server with the `plugins` of a configuration file in the folder. Resolves when the server is ready or has ended. */
export async function launch(plugins: readonly object[], where: string): Promise<Launch> {
  const port = await freePort();
  const file = join(where, `config-${port}.yaml`);
  await writeFile(file, stringify({ apiVersion: 'kubenest.dev/v1alpha1', kind: 'ServerConfiguration', plugins }));
  await writeFile(join(where, 'tokens.csv'), 'admin-token,admin,admin,"system:masters"\n');
  const flags = ['--ephemeral', `--config=${file}`, `--secure-port=${port}`, `--token-auth-file=${join(where, 'tokens.csv')}`];
  const child = spawn(join(root, 'bin/kubenest'), ['serve', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  return { child, port, stderr: () => errors };
}

export async function end({ child }: Launch): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/**
 * Sends a POST with the body, or a GET without one, as the administrator unless the headers name another user. By default, connections are
 * kept; `agent: false` opens one for the request.
 */
export async function call(
  port: number,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
  agent?: https.Agent | false,
): Promise<{ status: number; body: unknown }> {
  const { status, text } = await ask(port, path, body, headers, agent);
  return { status, body: JSON.parse(text) as unknown };
}

/** Returns the body of a GET as text. */
export async function callText(port: number, path: string): Promise<string> {
  return (await ask(port, path, undefined, {})).text;
}

function ask(
  port: number,
  path: string,
  body: object | undefined,
  headers: Record<string, string>,
  agent?: https.Agent | false,
): Promise<{ status: number; text: string }> {
  const { promise, resolve: answer, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const options = { host: '127.0.0.1', port, path, method: body ? 'POST' : 'GET', agent, rejectUnauthorized: false };
  const request = https.request(
    { ...options, headers: { 'content-type': 'application/json', authorization: 'Bearer admin-token', ...headers } },
    (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (data: string) => {
        text += data;
      });
      response.on('end', () => answer({ status: response.statusCode ?? 0, text }));
    },
  );
  request.on('error', reject);
  request.end(body && JSON.stringify(body));
  return promise;
}
