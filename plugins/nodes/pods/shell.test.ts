import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ProcessContext, type ProcessResult, runCommand, UnknownProgramError } from './shell.ts';
import { UnsupportedScriptError } from './shell-words.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

const context: ProcessContext = {
  env: { HOME: '/root', COLOR: 'red' },
  hostname: 'web-0',
  now: Date.UTC(2026, 0, 1),
  files: { '/etc/hosts': '127.0.0.1 localhost\n' },
};
const run = (...command: string[]): ProcessResult => runCommand(command, context);
const result = (part: Partial<ProcessResult>): ProcessResult => ({ stdout: '', stderr: '', exitCode: 0, seconds: 0, ...part });

describe('a command', () => {
  it.each<{ command: string[]; want: Partial<ProcessResult> }>([
    { command: ['true'], want: {} },
    { command: ['/bin/false'], want: { exitCode: 1 } },
    { command: ['sleep', '1.5'], want: { seconds: 1.5 } },
    { command: ['sleep', '2m'], want: { seconds: 120 } },
    { command: ['sleep', 'infinity'], want: { seconds: Infinity } },
    { command: ['sleep', 'x'], want: { exitCode: 1, stderr: "sleep: invalid number 'x'\n" } },
    { command: ['echo', '-n', 'a', 'b'], want: { stdout: 'a b' } },
    { command: ['sh', '-c', 'exit 3'], want: { exitCode: 3 } },
    { command: ['bash', '-ec', 'false; echo never'], want: { exitCode: 1 } },
    { command: ['sh', '-c', 'false; echo $?'], want: { stdout: '1\n' } },
    {
      command: ['sh', '-c', 'echo "a  b" $COLOR $HOME; sleep 5 && exit 4'],
      want: { stdout: 'a  b red /root\n', seconds: 5, exitCode: 4 },
    },
    { command: ['sh', '-c', 'false && echo no || echo yes'], want: { stdout: 'yes\n' } },
    { command: ['sh', '-c', 'A=1; export B=2; echo $A$B'], want: { stdout: '12\n' } },
    { command: ['sh', '-c', 'echo bad >&2\n# done\nexit 1'], want: { stderr: 'bad\n', exitCode: 1 } },
    { command: ['sh', '-c', 'echo hidden > /dev/null'], want: {} },
    { command: ['sh', '-c', "echo 'it''s' \\$HOME"], want: { stdout: 'its $HOME\n' } },
    { command: ['sh', '-c', 'sleep infinity; echo never'], want: { seconds: Infinity } },
    { command: ['sh', '-c', 'sh -c "exit 7"'], want: { exitCode: 7 } },
    { command: ['cat', '/etc/hosts'], want: { stdout: '127.0.0.1 localhost\n' } },
    { command: ['cat', '/none'], want: { exitCode: 1, stderr: "cat: can't open '/none': No such file or directory\n" } },
    { command: ['hostname'], want: { stdout: 'web-0\n' } },
    { command: ['printenv', 'COLOR'], want: { stdout: 'red\n' } },
    { command: ['ls', '/etc'], want: { stdout: 'hosts\n' } },
    { command: ['date', '+%s'], want: { stdout: '1767225600\n' } },
  ])('$command', ({ command, want }) => {
    expect(run(...command)).toEqual(result(want));
  });

  it.each(['nginx', '__proto__', 'constructor'])('%s is not simulated', (program) => {
    expect(() => run(program)).toThrow(UnknownProgramError);
  });

  it.each(['while true; do sleep 1; done', 'echo a | cat', 'sleep 1 &', 'echo $(date)', 'echo > /tmp/x', "echo 'open", 'ls *'])(
    'a script %s is not simulated',
    (script) => {
      expect(() => run('sh', '-c', script)).toThrow(UnsupportedScriptError);
    },
  );

  it('any script either runs or is refused as unsupported', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 60 }), (script) => {
        try {
          expect(run('sh', '-c', script)).toBeTypeOf('object');
        } catch (error) {
          expect(error instanceof UnsupportedScriptError || error instanceof UnknownProgramError).toBe(true);
        }
      }),
    );
  });
});

describe('a script that grows', () => {
  const double = (name: string, previous: string): [string, string] => [name, `sh -c "$${previous}"; sh -c "$${previous}"`];
  it.each<{ name: string; env: Record<string, string>; script: string }>([
    { name: 'a shell that runs itself', env: { X: 'sh -c "$X"' }, script: 'sh -c "$X"' },
    {
      name: 'shells that each run two',
      env: Object.fromEntries([['X0', ':'], ...Array.from({ length: 31 }, (_, i) => double(`X${i + 1}`, `X${i}`))]),
      script: 'sh -c "$X31"',
    },
    { name: 'a variable that doubles', env: { A: 'x' }, script: 'A=$A$A;'.repeat(40) },
    { name: 'a word that repeats a long variable', env: { A: 'x'.repeat(1_000) }, script: `echo ${'$A'.repeat(1_000)}` },
    { name: 'long output that is discarded', env: { A: 'x'.repeat(100_000) }, script: 'env >/dev/null;'.repeat(1_000) },
  ])('is refused before it costs time: $name', ({ env, script }) => {
    const began = threadMilliseconds();
    expect(() => runCommand(['sh', '-c', script], { ...context, env })).toThrow(UnsupportedScriptError);
    expect(threadMilliseconds() - began).toBeLessThan(100);
  });

  it('may be as long as a script can be', () => {
    expect(run('sh', '-c', `${':;'.repeat(32_000)}exit 3`).exitCode).toBe(3);
  });
});
