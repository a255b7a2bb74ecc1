import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCommand } from './commands.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-commands-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a command, and returns its exit code and all that it printed as errors. */
async function run(args: readonly string[]): Promise<{ readonly code: number; readonly errors: string }> {
  const errors: string[] = [];
  const spies = [
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => errors.push(String(text)) > 0),
    vi.spyOn(console, 'error').mockImplementation((text: unknown) => void errors.push(`${String(text)}\n`)),
  ];
  try {
    return { code: await runCommand(args), errors: errors.join('') };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe('a file that cannot be read is named in a sentence', () => {
  it.each([
    ['explain -f FILE', 2],
    ['test FILE', 2],
    ['test FILE --config FILE', 2],
    ['plugin list --config FILE', 1],
    ['plugin integrity FILE', 1],
    ['config validate FILE', 1],
    ['config schema --config FILE', 1],
    ['audit --kubeconfig FILE', 2],
    ['webhook --config FILE', 1],
    ['webhook manifests --config FILE --image a', 1],
    ['dev --plugin FILE', 1],
    ['restore FILE --data-dir DATA', 1],
    ['serve --ephemeral --token-auth-file=FILE --data-dir=DATA', 1],
    ['serve --ephemeral --audit-policy-file=FILE --data-dir=DATA', 1],
    ['serve --ephemeral --client-ca-file=FILE --data-dir=DATA', 1],
    ['serve --ephemeral --admission-control-config-file=FILE --data-dir=DATA', 1],
    ['serve --ephemeral --encryption-provider-config=FILE --data-dir=DATA', 1],
    ['serve --ephemeral --authentication-config=FILE --data-dir=DATA', 1],
    ['serve --ephemeral --authorization-config=FILE --data-dir=DATA', 1],
    ['serve --ephemeral --egress-selector-config-file=FILE --data-dir=DATA', 1],
  ])('kubenest %s', async (line, code) => {
    for (const [file, reason] of [
      [join(folder, 'none'), 'there is no such file or folder'],
      [folder, 'it is a folder, and a file is expected'],
    ] as const) {
      const args = line.replaceAll('FILE', file).replaceAll('DATA', join(folder, 'data')).split(' ');
      const isFolderAllowed = file === folder && /^(explain|test|plugin integrity|dev)/.test(line);
      const ran = await run(args);
      expect(ran.code, ran.errors).toBe(code);
      expect(ran.errors).not.toMatch(/\bE[A-Z]{3,}\b|\n +at /);
      expect(ran.errors).toContain(file);
      if (!isFolderAllowed) expect(ran.errors).toContain(reason);
    }
  });
});
