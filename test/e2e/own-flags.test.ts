import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../scripts/free-port.ts';

/** Built by `npm test`. */
const bin = resolve(import.meta.dirname, '../../bin/kubenest');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-own-flags-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly server: string } }[];
}

describe('--kubeconfig-out', () => {
  it('contains the free port of --secure-port=0 once the server is ready', { timeout: 30_000 }, async () => {
    const file = join(folder, 'kubeconfig');
    const child = spawn(bin, ['serve', '--ephemeral', '--secure-port=0', `--kubeconfig-out=${file}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [text] = (await once(child.stdout, 'data')) as [Buffer];
      const [, url = '', named = ''] = /on (https:\S+)\nexport KUBECONFIG=(\S+)/.exec(text.toString()) ?? [];
      expect(named).toBe(file);
      const [{ cluster } = { cluster: { server: '' } }] = (JSON.parse(await readFile(file, 'utf8')) as Kubeconfig).clusters;
      expect(cluster.server).toBe(url);
      expect(Number(new URL(url).port)).toBeGreaterThan(0);
    } finally {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });

  it.each([
    { what: 'a free port that no file would name', flags: ['--secure-port=0'], says: '--secure-port 0 must be between 1 and 65535' },
    {
      what: 'a file where another authority signs',
      flags: ['--kubeconfig-out=kubeconfig', '--client-ca-file=ca.crt'],
      says: "--kubeconfig-out needs a client certificate of the server's own authority",
    },
  ])('with $what is rejected', async ({ flags, says }) => {
    const child = spawn(bin, ['serve', '--ephemeral', ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(errors).toContain(says);
  });
});

describe('--exit-with-parent', () => {
  it('ends the server when its parent process was killed', { timeout: 30_000 }, async () => {
    const port = await freePort();
    const parent = spawn('sh', ['-c', '"$0" serve --ephemeral --exit-with-parent --secure-port="$1" & wait', bin, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [text] = (await once(parent.stdout, 'data')) as [Buffer];
    expect(text.toString()).toContain('kubenest serves');
    parent.kill('SIGKILL');
    // The server holds the other end of the pipe.
    await once(parent.stdout, 'close');
  });
});
