/** bin/kubenest with plugin packages, in a process of its own. */
import type { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import https from 'node:https';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../../scripts/free-port.ts';

export const root = resolve(import.meta.dirname, '../..');

export interface Launch {
  readonly child: ChildProcess;
  readonly port: number;
  readonly stderr: () => string;
}

/** With the `plugins` of a configuration file in the folder. Resolves when the server is ready or has ended. */
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

/** POSTs a body, or else GETs, as the administrator unless the headers say another. */
export function call(
  port: number,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: unknown }> {
  const { promise, resolve: answer, reject } = Promise.withResolvers<{ status: number; body: unknown }>();
  const options = { host: '127.0.0.1', port, path, method: body ? 'POST' : 'GET', rejectUnauthorized: false };
  const request = https.request(
    { ...options, headers: { 'content-type': 'application/json', authorization: 'Bearer admin-token', ...headers } },
    (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (data: string) => {
        text += data;
      });
      response.on('end', () => answer({ status: response.statusCode ?? 0, body: JSON.parse(text) as unknown }));
    },
  );
  request.on('error', reject);
  request.end(body && JSON.stringify(body));
  return promise;
}
