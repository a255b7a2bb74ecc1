import type { Buffer } from 'node:buffer';
import type { SharedInformer } from 'kubenest/sdk';
import type { Container, PersistentVolumeClaim, Pod, PodSpec, Volume } from 'kubenest/types/core_v1';
import { expect, it } from 'vitest';
import { startProcess } from '../kubelet/remote-process.ts';
import { KnownPods } from './known-pods.ts';
import { PodFiles } from './pod-files.ts';
import { nextLifeStep, type PodHost } from './pod-life.ts';
import { SharedVolumes, sharedKeys } from './shared-volumes.ts';

const start = Date.UTC(2026, 0, 1);
const provisioner = 'simulated';
const claim = {
  metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': provisioner } },
} as unknown as PersistentVolumeClaim;

/** Pods of simulated nodes that share their files, with a clock. */
class World {
  readonly pods = new Map<string, Pod>();
  readonly events: string[] = [];
  readonly files: PodFiles;
  readonly #host: PodHost;
  now = start;

  constructor() {
    const informer = {
      addIndex: () => {},
      byIndex: (_: string, key: string) => [...this.pods.values()].filter((pod) => sharedKeys(pod).includes(key)),
    };
    const volumes = new SharedVolumes((_, name) => (name === 'data' ? claim : undefined), provisioner);
    this.files = new PodFiles(new KnownPods(informer as unknown as SharedInformer<Pod>), volumes);
    this.#host = {
      hasImage: () => true,
      addressesOf: () => ({ hostIP: '10.0.0.1', podIP: '10.244.0.5' }),
      admit: () => undefined,
      isKilling: () => false,
      mountFailures: () => 0,
      files: this.files,
    };
  }

  /** Starts a pod, and lets it live. */
  add(name: string, container: Partial<Container>, spec: PodSpec = {}): void {
    this.pods.set(name, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', uid: `${name}-uid` },
      spec: { restartPolicy: 'Never', nodeName: 'node-1', containers: [{ name: 'c', image: 'nginx', ...container }], ...spec },
      status: { phase: 'Pending' },
    });
    this.pass(0);
  }

  delete(name: string): void {
    const pod = this.pods.get(name) as Pod;
    this.pods.delete(name);
    this.files.podDeleted(pod, this.now);
  }

  /** Lets seconds pass. */
  pass(seconds: number): void {
    const end = this.now + seconds * 1_000;
    for (const name of this.pods.keys()) {
      for (let i = 0, now = this.now; i < 50; i += 1) {
        const pod = this.pods.get(name) as Pod;
        const step = nextLifeStep(pod, this.#host, now);
        if (!step || step.at > end) break;
        now = Math.max(now, step.at);
        const { status, events } = step.run(now);
        this.events.push(...events.map(({ reason, message }) => `${reason}: ${message}`));
        if (status) this.pods.set(name, { ...pod, status });
      }
    }
    this.now = end;
  }

  /** Runs a script in the container of a pod; returns its output. */
  exec(name: string, script: string): string {
    const pod = this.pods.get(name) as Pod;
    let output = '';
    const take = (bytes: Buffer): void => void (output += bytes.toString());
    const mounted = { texts: {}, volumes: new Set<string>(), unknown: [] };
    const container = pod.spec?.containers?.[0] as Container;
    const options = {
      pod,
      container,
      command: ['sh', '-c', script],
      hasStdin: false,
      tty: false,
      mounted,
      files: this.files,
      clock: () => this.now,
    };
    startProcess(options, { stdout: take, stderr: take, exit: () => {} }).hangUp();
    return output;
  }

  /** Phase, readiness and exit code of a pod. */
  state(name: string): string {
    const { phase, containerStatuses: [one] = [] } = this.pods.get(name)?.status ?? {};
    const exitCode = one?.state?.terminated?.exitCode;
    return `${phase}${one?.ready ? ' ready' : ''}${exitCode === undefined ? '' : ` ${exitCode}`}`;
  }
}

const volume = (source: Partial<Volume>): Pick<PodSpec, 'volumes'> => ({ volumes: [{ name: 'data', ...source }] });
const mounts = { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
const onClaim = volume({ persistentVolumeClaim: { claimName: 'data' } });
const onNode = volume({ hostPath: { path: '/tmp/x', type: 'DirectoryOrCreate' } });
const probe = { periodSeconds: 1, failureThreshold: 1 };
const failsOnce = { ...mounts, command: ['sh', '-c', 'if [[ -r /data/foo ]]; then exit 0; else touch /data/foo; exit 42; fi'] };

it.each([
  { image: 'nginx', args: [], path: '/', document: '/usr/share/nginx/html/index.html' },
  { image: 'httpd:2.4', args: [], path: '/index.html?x', document: '/usr/local/apache2/htdocs/index.html' },
  { image: 'registry.k8s.io/e2e-test-images/agnhost:2.61', args: ['test-webserver'], path: '/localhost.crt', document: '/localhost.crt' },
])('a web server is unready while the document that its probe requests is away: $image', ({ image, args, path, document }) => {
  const world = new World();
  world.add('web', { image, args, readinessProbe: { ...probe, httpGet: { path, port: 80 } } });
  expect(world.state('web')).toBe('Running ready');
  expect(world.exec('web', `mv -v ${document} /tmp/x`)).toBe(`renamed '${document}' -> '/tmp/x'\n`);
  world.pass(2);
  expect(world.state('web')).toBe('Running');
  expect(world.events).toContain('Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 404');
  world.exec('web', `mv /tmp/x ${document}`);
  world.pass(2);
  expect(world.state('web')).toBe('Running ready');
});

it('a probe of a command follows the files that exec changes', () => {
  const world = new World();
  const liveness = { ...probe, exec: { command: ['test', '!', '-f', '/tmp/broken'] } };
  const readiness = { ...probe, exec: { command: ['cat', '/tmp/ready'] } };
  const command = ['sh', '-c', 'sleep 1000'];
  world.add('web', { command, livenessProbe: liveness, readinessProbe: readiness }, { restartPolicy: 'Always' });
  world.pass(10);
  expect(world.state('web')).toBe('Running');
  world.exec('web', 'echo > /tmp/ready');
  world.pass(1);
  expect(world.state('web')).toBe('Running ready');
  world.exec('web', 'touch /tmp/broken');
  world.pass(2);
  // The files end with the container, which restarts.
  expect(world.pods.get('web')?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, ready: false });
  expect(world.exec('web', 'ls /tmp')).toBe('');
});

it('readiness is lost when the process removes the file that the probe needs', () => {
  const world = new World();
  const command = ['sh', '-c', 'touch /tmp/ready; sleep 30; rm /tmp/ready; sleep 30; touch /tmp/ready; sleep 1000'];
  world.add('web', { command, readinessProbe: { ...probe, exec: { command: ['cat', '/tmp/ready'] } } });
  const states = [0, 29, 2, 28, 2].map((seconds) => {
    world.pass(seconds);
    return world.state('web');
  });
  expect(states).toEqual(['Running ready', 'Running ready', 'Running', 'Running', 'Running ready']);
});

it('an empty claim has no file until a command writes it, and keeps it for later pods until it is deleted', () => {
  const world = new World();
  const paused = { ...mounts, readinessProbe: { ...probe, exec: { command: ['test', '-f', '/data/continue'] } } };
  world.add('a', paused, onClaim);
  world.pass(5);
  expect(world.state('a')).toBe('Running');
  world.exec('a', 'dd if=/dev/zero of=/data/continue bs=1 count=1 conv=fsync; ln -s /data/continue /data/link');
  world.pass(1);
  expect(world.state('a')).toBe('Running ready');
  world.delete('a');
  world.add('b', paused, onClaim);
  expect(world.state('b')).toBe('Running ready');
  expect(world.exec('b', 'find /data; cat /data/link | wc -c')).toBe('/data\n/data/continue\n/data/link\n1\n');
  world.files.volumeDeleted('default/data');
  expect(world.exec('b', 'ls /data')).toBe('');
  expect(world.files.used).toBe(0);
});

it.each(['ended', 'deleted', 'running'])(
  'a process finds what an earlier pod has left in a hostPath of its node: the earlier one is %s',
  (earlier) => {
    const world = new World();
    const script = `touch /data/foo; ${earlier === 'ended' ? 'exit 42' : 'sleep 1000'}`;
    world.add('a', { ...mounts, command: ['sh', '-c', script] }, onNode);
    world.pass(5);
    if (earlier === 'deleted') world.delete('a');
    world.add('b', failsOnce, onNode);
    world.add('other-node', failsOnce, { ...onNode, nodeName: 'node-2' });
    world.pass(5);
    expect(world.state('b')).toBe('Succeeded 0');
    expect(world.state('other-node')).toBe('Failed 42');
    // The outcome of a run does not change with what happens later.
    world.exec('b', 'rm /data/foo');
    world.pass(5);
    expect(world.state('b')).toBe('Succeeded 0');
  },
);

it('a pod that restarts finds what its earlier run has left on a claim', () => {
  const world = new World();
  world.add('a', failsOnce, { ...onClaim, restartPolicy: 'OnFailure' });
  world.pass(30);
  expect(world.state('a')).toBe('Succeeded 0');
  expect(world.pods.get('a')?.status?.containerStatuses?.[0]?.restartCount).toBe(1);
});
