import type { Buffer } from 'node:buffer';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { SharedInformer } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { KnownPods } from './known-pods.ts';
import { SharedVolumes } from './shared-volumes.ts';
import { PodFiles } from './pod-files.ts';
import { startProcess } from '../kubelet/remote-process.ts';

const informer = { addIndex: () => {} } as unknown as SharedInformer<Pod>;
const mounted = { texts: {}, volumes: new Set<string>(), unknown: [] };

function pod(name: string, more: { containerID?: string; state?: object; phase?: string } = {}): Pod {
  const { containerID = 'first', state = { running: { startedAt: '2026-01-01T00:00:00Z' } }, phase = 'Running' } = more;
  return {
    metadata: { name, namespace: 'default', uid: name },
    spec: {
      containers: [{ name: 'c', image: 'nginx', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
    status: { phase, containerStatuses: [{ name: 'c', state, containerID }] },
  } as Pod;
}

/** Runs a script in the container of a pod; returns its output. */
function exec(files: PodFiles, one: Pod, script: string): string {
  let output = '';
  const take = (bytes: Buffer): void => void (output += bytes.toString());
  const [container] = one.spec?.containers ?? [];
  const options = { pod: one, container: container!, command: ['sh', '-c', script], hasStdin: false, tty: false, mounted, files };
  startProcess(options, { stdout: take, stderr: take, exit: () => {} }).hangUp();
  return output;
}

const capacity = 4_096;
const fill = `printf '${'x'.repeat(1_000)}' >`;
const full = 'No space left on device';

describe('the files of all pods', () => {
  it('share one capacity, and refuse what exceeds it as a full disk does', () => {
    const files = new PodFiles(new KnownPods(informer), new SharedVolumes(() => undefined, ''), undefined, capacity);
    for (const name of ['a', 'b', 'c']) expect(exec(files, pod(name), `${fill} /tmp/x; cat /tmp/x | wc -c`)).toBe('1000\n');
    const used = files.used;
    expect(exec(files, pod('d'), `${fill} /tmp/x`)).toBe(`sh: write error: ${full}\n`);
    expect(exec(files, pod('a'), `cp /tmp/x /tmp/y; echo $?`)).toBe(`cp: /tmp/x: ${full}\n1\n`);
    expect(exec(files, pod('a'), `for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do mkdir /tmp/$i; done`)).toContain(full);
    expect(files.used).toBeGreaterThan(used);
    expect(files.used).toBeLessThanOrEqual(capacity);
    expect(exec(files, pod('b'), `rm /tmp/x; ls /tmp; ${fill} /tmp/x; cat /tmp/x | wc -c`)).toBe('1000\n');
  });

  it.each<{ name: string; now: Pod | undefined; left: RegExp }>([
    { name: 'the pod is deleted', now: undefined, left: /^$/ },
    { name: 'the pod ends', now: pod('a', { phase: 'Failed' }), left: /^$/ },
    { name: 'the container ends', now: pod('a', { state: { terminated: { exitCode: 1 } } }), left: /^\/data\/x$/ },
    { name: 'the container starts again', now: pod('a', { containerID: 'second' }), left: /^\/data\/x$/ },
    { name: 'the pod changes', now: pod('a'), left: /^\/tmp\/x \/data\/x$/ },
  ])('are kept as long as on a node: $name', ({ now, left }) => {
    const known = new KnownPods(informer);
    const files = new PodFiles(known, new SharedVolumes(() => undefined, ''), undefined, capacity);
    exec(files, pod('a'), 'echo 1 > /tmp/x; echo 2 > /data/x');
    const used = files.used;
    known.changed(now ?? pod('a'), now === undefined);
    const present = now?.status?.phase === 'Failed' ? pod('a') : (now ?? pod('a'));
    const found = exec(files, present, 'for i in /tmp/x /data/x; do [ -f $i ] && echo $i; done').trim().replace('\n', ' ');
    expect(found).toMatch(left);
    expect(files.used > 0).toBe(found !== '');
    if (found === '/data/x') expect(files.used).toBeLessThan(used);
  });

  it('take the memory of what they hold, not that of the text of which it is a part', () => {
    const files = new PodFiles(new KnownPods(informer), new SharedVolumes(() => undefined, ''));
    const text = `${'y'.repeat(99)}\n`.repeat(2_000);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heap = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const one = pod('a');
    const [container] = one.spec?.containers ?? [];
    exec(files, one, 'echo > /tmp/first');
    const before = heap();
    for (let i = 0; i < 200; i += 1) {
      const mounted = { texts: { '/etc/big': text.slice(0, -1) + String(i) }, volumes: new Set<string>(), unknown: [] };
      const options = {
        pod: one,
        container: container!,
        command: ['sh', '-c', `head -n 1 /etc/big > /tmp/${i}`],
        hasStdin: false,
        tty: false,
      };
      startProcess({ ...options, mounted, files }, { stdout: () => {}, stderr: () => {}, exit: () => {} }).hangUp();
    }
    expect(heap() - before).toBeLessThan(8_000_000);
  });
});
