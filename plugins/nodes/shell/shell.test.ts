import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedFiles } from './files.ts';
import { UnknownProgramError } from './programs.ts';
import { UnsupportedScriptError } from './script.ts';
import type { ProcessContext, ProcessResult } from './process.ts';
import { runCommand } from './shell.ts';
import { leastThreadTime } from '#apimachinery/testing/least-thread-time';

const context: Omit<ProcessContext, 'files'> = {
  env: { HOME: '/root', COLOR: 'red' },
  hostname: 'web-0',
  now: Date.UTC(2026, 0, 1),
};
const withFiles = (): ProcessContext => ({ ...context, files: new SimulatedFiles({ texts: { '/etc/hosts': '127.0.0.1 localhost\n' } }) });
type Result = Omit<ProcessResult, 'output'>;
function run(...command: string[]): Result {
  const { output: _, ...rest } = runCommand(command, withFiles());
  return rest;
}
const result = (part: Partial<Result>): Result => ({
  stdout: '',
  stderr: '',
  exitCode: 0,
  seconds: 0,
  changeTimes: [],
  ...part,
});

describe('the output of a command', () => {
  const output = (script: string, more: Partial<ProcessContext> = {}): ProcessResult['output'] =>
    runCommand(['sh', '-c', script], { ...withFiles(), ...more }).output;

  it('has its times, and errors in their place', () => {
    expect(output('echo a; echo b >&2; echo c; sleep 2; echo d')).toEqual([
      { seconds: 0, stream: 'stdout', text: 'a\n' },
      { seconds: 0, stream: 'stderr', text: 'b\n' },
      { seconds: 0, stream: 'stdout', text: 'c\n' },
      { seconds: 2, stream: 'stdout', text: 'd\n' },
    ]);
  });

  it('is that of the first and of the last iterations of a loop that repeats itself', () => {
    const found = output('while true; do date +%s; sleep 2; done', { now: 0, untilSeconds: 1_001, showsRepetition: true });
    expect(found[0]).toEqual({ seconds: 0, stream: 'stdout', text: '0\n' });
    expect(found.slice(-2)).toEqual([998, 1_000].map((seconds) => ({ seconds, stream: 'stdout', text: `${seconds}\n` })));
    expect(found.length).toBeLessThan(110);
  });
});

describe('SIGTERM', () => {
  const trapped = (script: string): ProcessResult['trapped'] =>
    runCommand(['sh', '-c', script], { ...withFiles(), isTerminated: true }).trapped;
  it.each<{ script: string; want: ProcessResult['trapped'] }>([
    { script: 'stop() { sleep 5; exit 143; }\ntrap stop SIGTERM\nwhile true; do sleep 1; done', want: { seconds: 5, exitCode: 143 } },
    { script: 'trap "exit 0" TERM INT; sleep infinity', want: { seconds: 0, exitCode: 0 } },
    { script: 'trap "" TERM; sleep infinity', want: { seconds: Infinity, exitCode: 0 } },
    { script: 'trap "exit 1" TERM; trap - TERM; sleep infinity', want: undefined },
    { script: 'trap "exit 1" INT; sleep infinity', want: undefined },
    { script: 'trap "exit 1" TERM; exit 2', want: undefined },
  ])('is handled as by $script', ({ script, want }) => expect(trapped(script)).toEqual(want));
});

it('a missing program is an error of its command if a hint is given', () => {
  const { stdout, stderr, exitCode } = runCommand(['sh', '-c', 'ps | wc -l; ps; echo $?'], { ...withFiles(), notFoundHint: 'simulated' });
  expect({ stdout, stderr, exitCode }).toEqual({ stdout: '0\n127\n', stderr: 'sh: ps: not found (simulated)\n'.repeat(2), exitCode: 0 });
});

it('hostname prints the names and the address of /etc/hosts', () => {
  const texts = { '/etc/hosts': '127.0.0.1\tlocalhost\n10.1.0.2\tweb-0.web.shop.svc.cluster.local\tweb-0\n' };
  const script = 'hostname; hostname -f; hostname -i; hostname -s';
  const { stdout } = runCommand(['sh', '-c', script], { ...context, files: new SimulatedFiles({ texts }) });
  expect(stdout).toBe('web-0\nweb-0.web.shop.svc.cluster.local\n10.1.0.2\nweb-0\n');
});

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
    { command: ['date'], want: { stdout: 'Thu Jan  1 00:00:00 UTC 2026\n' } },
    { command: ['date', '-u', '+%Y-%m-%dT%TZ %a 100%%'], want: { stdout: '2026-01-01T00:00:00Z Thu 100%\n' } },
    {
      command: [
        'sh',
        '-c',
        'greet() { echo "hello $1 of $#"; [ $# = 2 ] || return 4; N=$1; }\ngreet a b; greet c; echo $? $N $0',
        'script',
      ],
      want: { stdout: 'hello a of 2\nhello c of 1\n4 a script\n' },
    },
    { command: ['sh', '-c', 'f() ( exit 3 ); f || echo $?; true() { return 1; }; true || echo own'], want: { stdout: '3\nown\n' } },
    { command: ['sh', '-c', 'f() { exit 5; }; f; echo never'], want: { exitCode: 5 } },
  ])('$command', ({ command, want }) => {
    expect(run(...command)).toEqual(result(want));
  });

  it.each(['nginx', '__proto__', 'constructor'])('%s is not simulated', (program) => {
    expect(() => run(program)).toThrow(UnknownProgramError);
  });

  it.each([
    '(sleep 1; touch /tmp/a) &',
    'sleep 1 & touch /tmp/a',
    'sleep 1 &> /tmp/a',
    '[[ a == a* ]]',
    "echo 'open",
    'cat <<END\na',
    'case a in a) echo; b',
    'case a in a',
    'echo a;; echo b',
    'f() echo a',
    'trap "echo a" EXIT',
    `echo ${'$'}{A:1:2}`,
    'if true; then echo',
    'for i in a; echo',
    'fi',
    'echo $((1 / 0))',
    'echo $RANDOM',
    'ls --color',
    `${'('.repeat(1_000)}`,
    `echo ${'$('.repeat(1_000)}`,
    `echo $((${'('.repeat(1_000)}`,
  ])('a script %s is not simulated', (script) => {
    expect(() => run('sh', '-c', script)).toThrow(UnsupportedScriptError);
  });

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

describe('a script', () => {
  it.each<{ script: string; want: Partial<ProcessResult> }>([
    { script: 'test -f /tmp/x && echo ok', want: { exitCode: 1 } },
    { script: 'touch /tmp/x; test -f /tmp/x && echo ok', want: { stdout: 'ok\n', changeTimes: [0] } },
    { script: 'if [ -d /tmp ]; then echo yes; else echo no; fi', want: { stdout: 'yes\n' } },
    { script: 'if false\nthen echo a\nelif [[ $COLOR == red ]]\nthen echo b\nfi', want: { stdout: 'b\n' } },
    { script: 'if [ ! -e /none ]; then exit 4; fi', want: { exitCode: 4 } },
    { script: '! true', want: { exitCode: 1 } },
    { script: 'for i in a b "c d"; do echo "<$i>"; done', want: { stdout: '<a>\n<b>\n<c d>\n' } },
    { script: 'for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done', want: { stdout: '1\n3\n' } },
    { script: 'for i in 1 2 3; do if [ $i -ge 2 ]; then break; fi; echo $i; done', want: { stdout: '1\n' } },
    { script: 'i=0; while [ $i -lt 3 ]; do i=$((i + 1)); sleep 2; done; echo $i', want: { stdout: '3\n', seconds: 6 } },
    { script: 'while true; do echo tick; sleep 1; done', want: { stdout: 'tick\n', seconds: Infinity } },
    { script: 'until [ -f /tmp/go ]; do sleep 1; done; echo never', want: { seconds: Infinity } },
    { script: 'echo one > /tmp/x; echo two >> /tmp/x; cat < /tmp/x', want: { stdout: 'one\ntwo\n', changeTimes: [0] } },
    { script: 'touch /tmp/x; sleep 30; rm -f /tmp/x; sleep 600', want: { seconds: 630, changeTimes: [0, 30] } },
    { script: 'echo x > /nowhere/x', want: { exitCode: 1, stderr: "sh: can't create /nowhere/x: No such file or directory\n" } },
    { script: 'mkdir -p /a/b && cd /a/b && pwd && ls -A /a', want: { stdout: '/a/b\nb\n', changeTimes: [0] } },
    { script: 'cat /etc/hosts | grep -c localhost', want: { stdout: '1\n' } },
    { script: "printf 'a\\nb\\nc\\n' | tail -n 2 | wc -l", want: { stdout: '2\n' } },
    { script: 'for i in 0 +0 +1 +3 2 9; do echo -n abcd | tail -c $i; echo; done', want: { stdout: '\nabcd\nabcd\ncd\ncd\nabcd\n' } },
    { script: 'echo abcd | tail -c+3; echo abcd | head -c 2', want: { stdout: 'cd\nab' } },
    {
      script: 'cd /tmp; mkdir d; echo a > d/a; ln -s d l; cat l/a; ls l; ln -s a d/b; cat l/b; find .',
      want: { changeTimes: [0], stdout: 'a\na\na\n.\n./d\n./d/a\n./d/b\n./l\n' },
    },
    {
      script: 'cd /tmp; ln -s a b; echo x > b; cat a; rm b; ls; ln -s a a',
      want: { changeTimes: [0], stdout: 'x\na\n', stderr: 'ln: a: File exists\n', exitCode: 1 },
    },
    {
      script: 'cd /tmp; ln -s b a; ln -s a b; cat a',
      want: { changeTimes: [0], stderr: "cat: can't open 'a': No such file or directory\n", exitCode: 1 },
    },
    {
      script: 'echo abc | dd of=/tmp/x bs=2 status=none; dd if=/tmp/x bs=1 count=2 2> /dev/null',
      want: { changeTimes: [0], stdout: 'ab' },
    },
    {
      script: 'find /etc -name hosts; find /etc -type d; find /none',
      want: { stdout: '/etc/hosts\n/etc\n', stderr: 'find: /none: No such file or directory\n', exitCode: 1 },
    },
    { script: 'cd /tmp; echo a > a; mv -v a b; cp -v b c', want: { changeTimes: [0], stdout: "renamed 'a' -> 'b'\n'b' -> 'c'\n" } },
    { script: '(exit 3); echo $?', want: { stdout: '3\n' } },
    { script: 'A=$(echo " x  y "); echo $A; echo "$A"', want: { stdout: 'x y\n x  y \n' } },
    { script: `echo ${'$'}{NONE:-no} \`hostname\``, want: { stdout: 'no web-0\n' } },
    { script: 'set -e; false || true; if false; then :; fi; echo on; false; echo off', want: { stdout: 'on\n', exitCode: 1 } },
    { script: 'if [ $(expr 3 % 2) -ne 0 ]; then exit 1; else exit 0; fi', want: { exitCode: 1 } },
    { script: '{ echo a; echo b >&2; } > /tmp/x 2>&1; cat /tmp/x', want: { stdout: 'a\nb\n', changeTimes: [0] } },
    { script: 'command -v curl || echo none', want: { stdout: 'none\n' } },
    { script: 'echo $((2 * (3 + 4) % 5)) $((1 < 2 && 0))', want: { stdout: '4 0\n' } },
    { script: 'test "$COLOR" = red -a -n "$HOME"', want: {} },
    { script: "sh -c 'echo $0 $1 $#' a b", want: { stdout: 'a b 1\n' } },
    {
      script: 'for i in start stop other; do case $i in start|begin) echo 1 ;; "st"*) echo 2 ;; (*) echo 3; esac; done',
      want: { stdout: '1\n2\n3\n' },
    },
    { script: 'case a[b] in a[b]) echo set ;; "a[b]") echo text ;; esac; case x in y) exit 3;; esac', want: { stdout: 'text\n' } },
    { script: 'case abc in [!a]*|?[x-z]?) echo no ;; ?[a-c]c) echo yes ;; esac', want: { stdout: 'yes\n' } },
    {
      script: 'cat <<END; echo after\n$COLOR \\$COLOR "$(hostname)"\nEND\necho last',
      want: { stdout: 'red $COLOR "web-0"\nafter\nlast\n' },
    },
    { script: "cat <<'END' | wc -l\n$COLOR\n\nEND", want: { stdout: '2\n' } },
    { script: 'cat > /tmp/x <<-END\n\ta\n\tEND\ncat /tmp/x', want: { stdout: 'a\n', changeTimes: [0] } },
    { script: 'if true; then cat <<A <<B; fi\na\nA\nb\nB\necho c', want: { stdout: 'b\nc\n' } },
    { script: '(sleep 2; echo a; exit 3) & echo b; wait $!; echo $?', want: { stdout: 'b\na\n3\n', seconds: 2 } },
    { script: 'sleep 5 & sleep 3 & wait; echo done', want: { stdout: 'done\n', seconds: 5 } },
    { script: 'while true; do sleep 1; done & sleep 3; exit 4', want: { seconds: 3, exitCode: 4 } },
    { script: 'tail -f /dev/null', want: { seconds: Infinity } },
    { script: 'echo a > /tmp/a; tail -n 1 -f /tmp/a; echo never', want: { stdout: 'a\n', seconds: Infinity, changeTimes: [0] } },
    { script: 'sleep infinity & wait', want: { seconds: Infinity } },
    { script: 'false && echo a & wait $!; (sleep 4; echo late) & echo $?', want: { stdout: '0\n' } },
    {
      script: 'cd /tmp; touch b a .c; echo * /e*c/hosts .c* "*" /none/*',
      want: { stdout: 'a b /etc/hosts .c * /none/*\n', changeTimes: [0] },
    },
    {
      script: `F=/a/b.tar.gz; echo \${F#*/} \${F##*/} \${F%.*} \${F%%.*} \${#F} \${F:+set} \${NONE+set} \${NONE:="a b"} $NONE`,
      want: { stdout: 'a/b.tar.gz b.tar.gz /a/b.tar /a/b 11 set a b a b\n' },
    },
    {
      script: `E=; echo "<\${E-unset}> <\${E:-empty}>"; echo \${NONE:?message}; echo never`,
      want: { stdout: '<> <empty>\n', exitCode: 2 },
    },
    { script: 'cd /tmp; touch a.log b.txt; find . -name "*.log"', want: { stdout: './a.log\n', changeTimes: [0] } },
  ])('$script', ({ script, want }) => {
    expect(run('sh', '-c', script)).toEqual(result(want));
  });

  it('is left as it is at a time', () => {
    const left = runCommand(['sh', '-c', 'echo a; sleep 5; echo b; sleep 5; echo c'], { ...context, untilSeconds: 7 });
    expect(left.stdout).toBe('a\nb\n');
  });

  it.each([
    ['writes to a read-only folder', 'echo x > /config/x', "sh: can't create /config/x: Read-only file system\n"],
    ['reads a file there', 'cat /config/key', ''],
  ])('%s', (_, script, stderr) => {
    const files = new SimulatedFiles({ texts: { '/config/key': 'value' }, readOnly: ['/config'] });
    expect(runCommand(['sh', '-c', script], { ...context, files }).stderr).toBe(stderr);
  });

  it('that reads a volume whose files are not known is refused', () => {
    const files = new SimulatedFiles({ folders: ['/data'], unknown: ['/data'] });
    const on = (script: string): ProcessResult => runCommand(['sh', '-c', script], { ...context, files });
    expect(() => on('test -f /data/x')).toThrow(UnsupportedScriptError);
    expect(() => on('ls /data')).toThrow(UnsupportedScriptError);
    expect(on('echo x > /data/x; cat /data/x').stdout).toBe('x\n');
  });
});

describe('a script that grows', () => {
  const double = (name: string, previous: string): [string, string] => [name, `sh -c "$${previous}"; sh -c "$${previous}"`];
  const lines = `printf '${'\\n'.repeat(20_000)}' > /tmp/a`;
  it.each<{ name: string; env: Record<string, string>; script: string; args?: string[] }>([
    { name: 'a shell that runs itself', env: { X: 'sh -c "$X"' }, script: 'sh -c "$X"' },
    {
      name: 'shells that each run two',
      env: Object.fromEntries([['X0', ':'], ...Array.from({ length: 31 }, (_, i) => double(`X${i + 1}`, `X${i}`))]),
      script: 'sh -c "$X31"',
    },
    { name: 'a variable that doubles', env: { A: 'x' }, script: 'A=$A$A;'.repeat(40) },
    { name: 'a word that repeats a long variable', env: { A: 'x'.repeat(1_000) }, script: `echo ${'$A'.repeat(1_000)}` },
    {
      name: 'a file that doubles',
      env: { A: 'x' },
      script: 'echo $A > /tmp/a;' + 'cat /tmp/a /tmp/a > /tmp/b; mv /tmp/b /tmp/a;'.repeat(40),
    },
    { name: 'a loop that counts', env: {}, script: 'i=0; while true; do i=$((i + 1)); done' },
    { name: 'a loop that makes files', env: {}, script: 'i=0; while true; do i=$((i + 1)); touch /tmp/$i; done' },
    {
      name: 'loops in loops',
      env: {},
      script: 'for a in $(seq 1 100); do for b in $(seq 1 100); do for c in $(seq 1 100); do :; done; done; done',
    },
    { name: 'a file that is searched often', env: {}, script: `${lines};${'grep -q x /tmp/a;'.repeat(1_000)}` },
    { name: 'a file that is printed many times', env: {}, script: `${lines}; cat ${'/tmp/a '.repeat(10_000)} | wc -l` },
    { name: 'a folder that is listed many times', env: {}, script: `ls -l ${'/ '.repeat(20_000)}` },
    { name: 'folders in folders', env: {}, script: `mkdir -p ${'/a'.repeat(30_000)}` },
    { name: 'a text that is parsed often', env: {}, script: `i=0; while true; do i=$((i + 1)); eval '#${'x'.repeat(60_000)}'; done` },
    { name: 'a long word that is used often', env: {}, script: `i=0; while true; do i=$((i + 1)); export 'A=${'x'.repeat(60_000)}'; done` },
    {
      name: 'programs in a shell with many variables',
      env: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`V${i}`, ''])),
      script: '(:);'.repeat(8_000),
    },
    { name: 'long arguments', env: {}, script: 'i=0; while true; do i=$((i + 1)); done', args: ['x'.repeat(1_000_000)] },
    { name: 'sets that do not end', env: {}, script: `case a in ${'['.repeat(60_000)}) ;; esac` },
    { name: 'a pattern that is searched in a long text', env: { A: 'x'.repeat(100_000) }, script: `echo \${A#*[yz]}` },
    { name: 'long output that is discarded', env: { A: 'x'.repeat(100_000) }, script: 'env >/dev/null;'.repeat(1_000) },
  ])('is refused before it costs time: $name', ({ env, script, args = [] }) => {
    const refuse = (): void => expect(() => runCommand(['sh', '-c', script, ...args], { ...context, env })).toThrow(UnsupportedScriptError);
    expect(leastThreadTime(refuse, 100)).toBeLessThan(100);
  });

  it.each([
    ['many negations', `[ ${'! '.repeat(20_000)}x ]`, 0],
    ['many conditions', `[ x${' -a x'.repeat(10_000)} ]`, 0],
    ['many alternatives', `[ ""${' -o ""'.repeat(8_000)} ]`, 1],
  ])('a test with %s runs', (_, script, exitCode) => {
    expect(leastThreadTime(() => expect(run('sh', '-c', script).exitCode).toBe(exitCode), 100)).toBeLessThan(100);
  });

  it('may have thousands of commands', () => {
    expect(run('sh', '-c', `${':;'.repeat(5_000)}exit 3`).exitCode).toBe(3);
  });
});
