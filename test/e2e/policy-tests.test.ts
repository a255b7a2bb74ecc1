import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from './server-with-plugins.ts';

const execute = promisify(execFile);

/** Folder of the files that the commands write. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-guide-'));
  if (!existsSync(join(root, 'dist/types/.tsbuildinfo'))) await execute(process.execPath, [join(root, 'scripts/build-types.mjs')]);
  // The packages whose tests the commands run.
  for (const example of ['required-labels', 'production-rules'])
    await execute(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], { cwd: join(root, 'plugins/example', example) });
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Documented {
  readonly command: string;
  readonly code: number;
  /** The output that the guide shows; undefined: it shows none. */
  readonly output: string | undefined;
}

/** Returns the commands of the guide's chapter, with the output in the block after a block of one command. */
function commandsOf(guide: string): Documented[] {
  const chapter = guide.slice(guide.indexOf('## Tests of policies'), guide.indexOf('## envtest'));
  return [...chapter.matchAll(/```sh\n(.*?)```\n(?:\n```\n(.*?)```)?/gs)].flatMap(([, block = '', output]) =>
    block
      .replaceAll('\\\n', '')
      .trim()
      .split('\n')
      .map((line) => ({ command: line.replace(/ # .*/, ''), code: Number(/# exit code (\d)/.exec(line)?.[1] ?? 0), output })),
  );
}

const withoutTimes = (output: string): string => output.replaceAll(/ \([\d.]+ m?s\)/g, '');
const documented = commandsOf(await readFile(join(root, 'docs/guide/testing.md'), 'utf8'));

it('the guide has commands for policies, packages and one request', () => {
  expect(documented.length).toBeGreaterThanOrEqual(8);
  expect(documented.filter(({ output }) => output !== undefined)).toHaveLength(2);
});

it.each(documented)('$command does what the guide describes', async ({ command, code, output }) => {
  const PATH = `${join(root, 'bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const written = command.replace('junit.xml', join(folder, 'junit.xml'));
  const child = spawn('sh', ['-c', written], {
    cwd: root,
    env: { ...process.env, PATH, VITEST: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect(errors).toBe('');
  expect(child.exitCode, printed).toBe(code);
  if (output !== undefined) expect(withoutTimes(printed)).toBe(withoutTimes(output));
});
