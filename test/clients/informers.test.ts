import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { buildGoProgram, goObstacle } from '../servers/go-programs.ts';
import { Kubenest } from '../servers/kubenest.ts';

const programs = join(import.meta.dirname, 'go');
const count = 3_000;

/** The client program, which answers each line with one line. */
class Informers {
  readonly #lines: AsyncIterator<string>;

  constructor(readonly child: ChildProcess) {
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  }

  async ask(line: string): Promise<string> {
    this.child.stdin?.write(`${line}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the program ended at: ${line}`);
    return value;
  }
}

it(`client-go's informers in protobuf follow ${count} objects through restarts`, async ({ skip }) => {
  const reason = goObstacle(programs);
  if (reason !== undefined) skip(reason);
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-informers-'));
  try {
    await buildGoProgram(programs, './informers', join(folder, 'informers'));
    await using server = await Kubenest.start(folder);
    const env = { ...process.env, KUBECONFIG: server.kubeconfig('admin-token') };
    const child = spawn(join(folder, 'informers'), { env, stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      const informers = new Informers(child);
      expect(await informers.ask(`create 0 ${count}`)).toBe('created');
      // No controller creates kube-root-ca.crt in this test.
      expect(await informers.ask(`await ${count}`)).toBe(`${count} added, 0 updated, 0 deleted`);

      await server.kill('SIGTERM');
      await server.restart();
      expect(await informers.ask('touch 7')).toBe('touched');
      expect(await informers.ask('delete 8')).toBe('deleted');
      expect(await informers.ask(`await ${count - 1}`)).toBe(`${count} added, 1 updated, 1 deleted`);

      await server.kill('SIGKILL');
      await server.restart();
      // A change by another client before the informer watches.
      const path = '/api/v1/namespaces/default/configmaps';
      expect((await server.fetch(`${path}/map-00009`, { method: 'DELETE' })).status).toBe(200);
      expect((await server.fetch(path, { body: { metadata: { name: 'later' } } })).status).toBe(201);
      expect((await server.fetch(path, { body: { metadata: { name: 'last' } } })).status).toBe(201);
      expect(await informers.ask(`await ${count}`)).toBe(`${count + 2} added, 1 updated, 2 deleted`);
    } finally {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 300_000);
