import type { Container, Pod, PodSpec, Probe } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { timeText } from '../time.ts';
import { leastThreadTime } from '#apimachinery/testing/least-thread-time';
import { noStore } from './file-store.ts';
import { nextLifeStep, type PodHost } from './pod-life.ts';
import { annotationPrefix, settingProblems } from './settings.ts';

const start = Date.UTC(2026, 0, 1);
const host: PodHost = {
  hasImage: () => false,
  addressesOf: () => ({ hostIP: '10.0.0.1', podIP: '10.244.0.5' }),
  admit: () => undefined,
  isKilling: () => false,
  mountFailures: () => 0,
  files: noStore,
};

function pod(
  containers: Partial<Container>[],
  more: { spec?: PodSpec; annotations?: Record<string, string>; metadata?: object } = {},
): Pod {
  const annotations = Object.fromEntries(Object.entries(more.annotations ?? {}).map(([name, value]) => [annotationPrefix + name, value]));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'u1', generation: 1, annotations, ...more.metadata },
    spec: { restartPolicy: 'Always', containers: containers.map((one, i) => ({ name: `c${i}`, image: 'nginx', ...one })), ...more.spec },
    status: {
      phase: 'Pending',
      qosClass: 'BestEffort',
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: timeText(start) }],
    },
  };
}

interface Moment {
  readonly second: number;
  readonly phase: string;
  readonly containers: string;
}

function describeContainers({ status = {} }: Pod): string {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
    .map(({ state = {}, ready, restartCount }) => {
      const what = state.running ? 'running' : state.terminated ? `exit ${state.terminated.exitCode}` : state.waiting?.reason;
      return `${what}${ready ? ' ready' : ''}${restartCount ? ` #${restartCount}` : ''}`;
    })
    .join(', ');
}

/** Lives a pod's life until `seconds` have passed, and returns each written state. */
function live(first: Pod, seconds = 3_600): { moments: Moment[]; events: string[]; last: Pod; deleted: boolean } {
  let current = first;
  let now = start;
  const moments: Moment[] = [];
  const events: string[] = [];
  const killing = { value: false };
  for (let i = 0; i < 100; i += 1) {
    const step = nextLifeStep(current, { ...host, isKilling: () => killing.value }, now);
    if (!step || step.at > start + seconds * 1_000) break;
    now = Math.max(now, step.at);
    const outcome = step.run(now);
    events.push(...outcome.events.map(({ reason, message }) => `${reason}: ${message}`));
    killing.value ||= outcome.events.some(({ reason }) => reason === 'Killing');
    if (outcome.deletes) return { moments, events, last: current, deleted: true };
    if (!outcome.status) continue;
    current = { ...current, status: outcome.status };
    moments.push({ second: (now - start) / 1_000, phase: outcome.status.phase ?? '', containers: describeContainers(current) });
  }
  return { moments, events, last: current, deleted: false };
}

const job = { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u2', controller: true }] };
const deleted = (grace: number, more: object = {}): object => ({
  deletionTimestamp: timeText(start + grace * 1_000),
  deletionGracePeriodSeconds: grace,
  ...more,
});

describe('the life of a pod', () => {
  it.each<{ name: string; pod: Pod; seconds?: number; want: [second: number, phase: string, containers: string][] }>([
    { name: 'a server runs', pod: pod([{}]), want: [[0, 'Running', 'running ready']] },
    {
      name: 'two containers start together',
      pod: pod([{}, {}]),
      want: [[0, 'Running', 'running ready, running ready']],
    },
    {
      name: 'a readiness probe succeeds at its first check, again and again as often as it has to',
      pod: pod([{ readinessProbe: { initialDelaySeconds: 5 } }, { readinessProbe: { successThreshold: 3, periodSeconds: 2 } }]),
      want: [
        [0, 'Running', 'running, running'],
        [4, 'Running', 'running, running ready'],
        [5, 'Running', 'running ready, running ready'],
      ],
    },
    {
      name: 'readiness follows the startup probe',
      pod: pod(
        [{ startupProbe: { periodSeconds: 5, failureThreshold: 9 }, readinessProbe: { initialDelaySeconds: 1, periodSeconds: 4 } }],
        {
          annotations: { 'startup-delay': '7s' },
        },
      ),
      want: [
        [0, 'Running', 'running'],
        [10, 'Running', 'running'],
        [13, 'Running', 'running ready'],
      ],
    },
    {
      name: 'a failed startup probe restarts the container',
      pod: pod([{ startupProbe: { periodSeconds: 1 } }], { annotations: { 'startup-delay': 'forever' } }),
      seconds: 4,
      want: [
        [0, 'Running', 'running'],
        [2, 'Running', 'running #1'],
        [4, 'Running', 'CrashLoopBackOff #1'],
      ],
    },
    {
      name: 'a failed liveness probe restarts the container',
      pod: pod([{ livenessProbe: { periodSeconds: 10 } }], { annotations: { 'liveness-failure': '15s' } }),
      seconds: 50,
      want: [
        [0, 'Running', 'running ready'],
        [40, 'Running', 'running ready #1'],
      ],
    },
    {
      name: 'a failed liveness probe fails a pod that does not restart',
      pod: pod([{ livenessProbe: { failureThreshold: 1 } }], {
        spec: { restartPolicy: 'Never' },
        annotations: { 'liveness-failure': '0s' },
      }),
      want: [
        [0, 'Running', 'running ready'],
        [0, 'Failed', 'exit 137'],
      ],
    },
    {
      name: 'a container without a liveness probe is not killed',
      pod: pod([{}], { annotations: { 'liveness-failure': '1s', 'startup-delay': '9s' } }),
      want: [[0, 'Running', 'running ready']],
    },
    {
      name: 'a readiness probe by a command that fails',
      pod: pod([{ readinessProbe: { exec: { command: ['false'] } } }]),
      want: [[0, 'Running', 'running']],
    },
    {
      name: 'a readiness probe by a command that is not simulated',
      pod: pod([{ readinessProbe: { exec: { command: ['pg_isready'] } } }]),
      want: [[0, 'Running', 'running ready']],
    },
    {
      name: 'a readiness probe for a file of an image whose files are not known',
      pod: pod([{ readinessProbe: { exec: { command: ['cat', '/tmp/healthy'] } } }]),
      want: [[0, 'Running', 'running ready']],
    },
    {
      name: 'a readiness probe for a file that the container writes later',
      pod: pod([
        {
          command: ['sh', '-c', 'sleep 12; touch /tmp/ready; sleep infinity'],
          readinessProbe: { exec: { command: ['test', '-f', '/tmp/ready'] }, periodSeconds: 5 },
        },
      ]),
      want: [
        [0, 'Running', 'running'],
        [15, 'Running', 'running ready'],
      ],
    },
    {
      name: 'a liveness probe for a file that the container removes',
      pod: pod([
        {
          command: ['sh', '-c', 'touch /tmp/healthy; sleep 32; rm -f /tmp/healthy; sleep 600'],
          livenessProbe: { exec: { command: ['cat', '/tmp/healthy'] }, initialDelaySeconds: 5, periodSeconds: 5 },
        },
      ]),
      seconds: 50,
      want: [
        [0, 'Running', 'running ready'],
        [45, 'Running', 'running ready #1'],
      ],
    },
    {
      name: 'a process finds what its earlier run left in an emptyDir volume',
      pod: pod(
        [
          {
            command: ['sh', '-c', 'if [[ -r /data/foo ]]; then exit 0; else touch /data/foo; exit 1; fi'],
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
        { spec: { restartPolicy: 'OnFailure', volumes: [{ name: 'data', emptyDir: {} }] } },
      ),
      want: [
        [0, 'Running', 'running ready'],
        [0, 'Running', 'running ready #1'],
        [0, 'Succeeded', 'exit 0 #1'],
      ],
    },
    {
      name: 'a process that reads a volume whose files are not known runs',
      pod: pod([{ command: ['cat', '/data/foo'], volumeMounts: [{ name: 'data', mountPath: '/data' }] }], {
        spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
      }),
      want: [[0, 'Running', 'running ready']],
    },
    {
      name: 'a process sees the fields of its pod',
      pod: pod(
        [
          {
            command: ['sh', '-c', 'exit $(expr $INDEX % 2)'],
            env: [{ name: 'INDEX', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['index']" } } }],
          },
        ],
        { spec: { restartPolicy: 'Never' }, metadata: { annotations: { index: '3' } } },
      ),
      want: [
        [0, 'Running', 'running ready'],
        [0, 'Failed', 'exit 1'],
      ],
    },
    {
      name: 'init containers wait for the startup probe of a sidecar',
      pod: pod([{}], {
        spec: { initContainers: [{ name: 'proxy', restartPolicy: 'Always', startupProbe: { initialDelaySeconds: 3 } }] },
      }),
      want: [
        [0, 'Pending', 'running, PodInitializing'],
        [3, 'Running', 'running ready, running ready'],
      ],
    },
    {
      name: 'init containers run one after another',
      pod: pod([{}], { spec: { initContainers: [{ name: 'a', command: ['sleep', '2'] }, { name: 'b' }] } }),
      want: [
        [0, 'Pending', 'running, PodInitializing, PodInitializing'],
        [2, 'Pending', 'exit 0 ready, running, PodInitializing'],
        [2, 'Running', 'exit 0 ready, exit 0 ready, running ready'],
      ],
    },
    {
      name: 'a failed init container fails a pod that does not restart',
      pod: pod([{}], { spec: { restartPolicy: 'Never', initContainers: [{ name: 'a', command: ['false'] }] } }),
      want: [
        [0, 'Pending', 'running, PodInitializing'],
        [0, 'Failed', 'exit 1, PodInitializing'],
      ],
    },
    {
      name: 'a sidecar runs beside the main container and ends after it',
      pod: pod([{ command: ['sleep', '3'] }], {
        spec: { restartPolicy: 'Never', initContainers: [{ name: 's', restartPolicy: 'Always' }] },
      }),
      want: [
        [0, 'Pending', 'running ready, PodInitializing'],
        [0, 'Running', 'running ready, running ready'],
        [3, 'Succeeded', 'exit 0, exit 0'],
      ],
    },
    {
      name: 'a Job whose command is not simulated completes',
      pod: pod([{ command: ['perl', '-e', '1'] }], { metadata: job, spec: { restartPolicy: 'Never' } }),
      want: [
        [0, 'Running', 'running ready'],
        [0, 'Succeeded', 'exit 0'],
      ],
    },
    {
      name: 'a command that is not simulated completes in a pod that does not restart',
      pod: pod([{ image: 'busybox', command: ['wget', 'http://web'] }], { spec: { restartPolicy: 'Never' } }),
      want: [
        [0, 'Running', 'running ready'],
        [0, 'Succeeded', 'exit 0'],
      ],
    },
    {
      name: 'runs the entry point of an image without a command, also in a pod that does not restart',
      pod: pod([{ image: 'example.com/api' }], { spec: { restartPolicy: 'Never' } }),
      want: [[0, 'Running', 'running ready']],
    },
    {
      name: 'runs a shell of a pod that does not restart while a client can type into it',
      pod: pod([{ image: 'busybox', command: ['sh'], stdin: true, tty: true }], { spec: { restartPolicy: 'Never' } }),
      want: [[0, 'Running', 'running ready']],
    },
    {
      name: 'a Job whose image never exits runs',
      pod: pod([{ image: 'registry.k8s.io/pause:3.10' }], { metadata: job, spec: { restartPolicy: 'Never' } }),
      want: [[0, 'Running', 'running ready']],
    },
    {
      name: 'a command ends with its exit code',
      pod: pod([{ command: ['sh', '-c', 'sleep 5; exit 3'] }], { spec: { restartPolicy: 'Never' } }),
      want: [
        [0, 'Running', 'running ready'],
        [5, 'Failed', 'exit 3'],
      ],
    },
    {
      name: 'a failed container restarts, at once first and then after a back-off',
      pod: pod([{ command: ['false'] }], { spec: { restartPolicy: 'OnFailure' } }),
      seconds: 30,
      want: [
        [0, 'Running', 'running ready'],
        [0, 'Running', 'running ready #1'],
        [0, 'Running', 'CrashLoopBackOff #1'],
        [10, 'Running', 'running ready #2'],
        [10, 'Running', 'CrashLoopBackOff #2'],
        [30, 'Running', 'running ready #3'],
        [30, 'Running', 'CrashLoopBackOff #3'],
      ],
    },
    {
      name: 'an annotation makes a container crash',
      pod: pod([{}], { annotations: { 'crash-loop': 'true', 'run-for': '2s' } }),
      seconds: 5,
      want: [
        [0, 'Running', 'running ready'],
        [2, 'Running', 'running ready #1'],
        [4, 'Running', 'CrashLoopBackOff #1'],
      ],
    },
    {
      name: 'the exit code of one container of two comes from its annotation',
      pod: pod([{}, {}], { annotations: { 'exit-code.c1': '7', 'run-for.c0': '4s' }, spec: { restartPolicy: 'Never' } }),
      want: [
        [0, 'Running', 'running ready, running ready'],
        [0, 'Running', 'running ready, exit 7'],
        [4, 'Failed', 'exit 0, exit 7'],
      ],
    },
    {
      name: 'a slow pull delays the start',
      pod: pod([{}], { annotations: { 'pull-delay': '3s' } }),
      want: [
        [0, 'Pending', 'ContainerCreating'],
        [3, 'Running', 'running ready'],
      ],
    },
    {
      name: 'a failed pull backs off',
      pod: pod([{}], { annotations: { 'pull-error': 'not found' } }),
      want: [
        [0, 'Pending', 'ErrImagePull'],
        [10, 'Pending', 'ImagePullBackOff'],
      ],
    },
    {
      name: 'a container becomes ready late',
      pod: pod([{}], { annotations: { 'ready-delay': '4s' } }),
      want: [
        [0, 'Running', 'running'],
        [4, 'Running', 'running ready'],
      ],
    },
    { name: 'a container never becomes ready', pod: pod([{}], { annotations: { ready: 'false' } }), want: [[0, 'Running', 'running']] },
    {
      name: 'a pod exceeds its deadline',
      pod: pod([{}], { spec: { activeDeadlineSeconds: 60 } }),
      want: [
        [0, 'Running', 'running ready'],
        [60, 'Failed', 'exit 0'],
      ],
    },
  ])('$name', ({ pod: first, seconds, want }) => {
    const { moments } = live(first, seconds);
    expect(moments.map(({ second, phase, containers }) => [second, phase, containers])).toEqual(want);
  });

  it('sends the events of a real kubelet', () => {
    expect(live(pod([{}])).events).toEqual([
      'Pulling: Pulling image "nginx"',
      'Pulled: Successfully pulled image "nginx" in 0ms (0ms including waiting). Image size: 0 bytes.',
      'Created: Container created',
      'Started: Container started',
    ]);
  });

  it('writes the whole status of a real kubelet', () => {
    const { status } = live(pod([{ resources: { requests: { cpu: '1' } } }])).last;
    const time = '2026-01-01T00:00:00Z';
    const condition = (type: string): object => ({ type, observedGeneration: 1, status: 'True', lastTransitionTime: time });
    expect(status).toEqual({
      observedGeneration: 1,
      phase: 'Running',
      qosClass: 'BestEffort',
      hostIP: '10.0.0.1',
      hostIPs: [{ ip: '10.0.0.1' }],
      podIP: '10.244.0.5',
      podIPs: [{ ip: '10.244.0.5' }],
      startTime: time,
      conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
      containerStatuses: [
        {
          name: 'c0',
          state: { running: { startedAt: time } },
          lastState: {},
          ready: true,
          restartCount: 0,
          image: 'docker.io/library/nginx:latest',
          imageID: expect.stringMatching(/^docker\.io\/library\/nginx@sha256:[0-9a-f]{64}$/),
          containerID: expect.stringMatching(/^containerd:\/\/[0-9a-f]{64}$/),
          started: true,
          allocatedResources: { cpu: '1' },
          resources: { requests: { cpu: '1' } },
        },
      ],
    });
  });

  it.each<{ name: string; pod: Pod; phase: string; conditions: Record<string, string> }>([
    {
      name: 'an unready container',
      pod: pod([{}], { annotations: { ready: 'false' } }),
      phase: 'Running',
      conditions: { Ready: 'False ContainersNotReady containers with unready status: [c0]', Initialized: 'True' },
    },
    {
      name: 'a running init container',
      pod: pod([{}], { spec: { initContainers: [{ name: 'a', command: ['sleep', 'infinity'] }] } }),
      phase: 'Pending',
      conditions: {
        Initialized: 'False ContainersNotInitialized containers with incomplete status: [a]',
        Ready: 'False ContainersNotReady containers with unready status: [c0]',
      },
    },
    {
      name: 'a completed pod',
      pod: pod([{ command: ['true'] }], { spec: { restartPolicy: 'Never' } }),
      phase: 'Succeeded',
      conditions: { Initialized: 'True PodCompleted', Ready: 'False PodCompleted', PodReadyToStartContainers: 'False' },
    },
    {
      name: 'a failed pod',
      pod: pod([{ command: ['false'] }], { spec: { restartPolicy: 'Never' } }),
      phase: 'Failed',
      conditions: { Initialized: 'True', Ready: 'False PodFailed', ContainersReady: 'False PodFailed' },
    },
    {
      name: 'a missing readiness gate',
      pod: pod([{}], { spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } }),
      phase: 'Running',
      conditions: {
        Ready: 'False ReadinessGatesNotReady corresponding condition of pod readiness gate "example.com/gate" does not exist.',
        ContainersReady: 'True',
      },
    },
  ])('conditions of $name', ({ pod: first, phase, conditions }) => {
    const { status } = live(first).last;
    const found = Object.fromEntries(
      (status?.conditions ?? []).map(({ type, status: value, reason, message }) => [
        type,
        [value, reason, message].filter(Boolean).join(' '),
      ]),
    );
    expect({ phase: status?.phase, conditions: found }).toMatchObject({ phase, conditions });
  });

  it('a fulfilled readiness gate makes the pod ready', () => {
    const { last } = live(pod([{}], { spec: { readinessGates: [{ conditionType: 'g' }] } }));
    const fulfilled = {
      ...last,
      status: { ...last.status, conditions: [...(last.status?.conditions ?? []), { type: 'g', status: 'True' }] },
    };
    expect(live(fulfilled).last.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
  });

  it('a resize reaches the status', () => {
    const { last } = live(pod([{ resources: { requests: { cpu: '1' } } }]));
    const [container] = last.spec?.containers ?? [];
    const resized: Pod = {
      ...last,
      metadata: { ...last.metadata, generation: 2 },
      spec: { ...last.spec, containers: [{ ...container, resources: { requests: { cpu: '2' } } }] },
    };
    const { status } = live(resized).last;
    expect(status).toMatchObject({ observedGeneration: 2, containerStatuses: [{ allocatedResources: { cpu: '2' } }] });
  });

  it('reports failed probes', () => {
    const probed = pod([{ livenessProbe: { failureThreshold: 1, httpGet: { port: 80 } }, readinessProbe: { tcpSocket: { port: 80 } } }], {
      annotations: { 'liveness-failure': '1s', ready: 'false' },
    });
    const unready = 'Unhealthy: Readiness probe failed: dial tcp 10.244.0.5:80: connect: connection refused';
    expect(live(probed, 15).events.slice(2)).toEqual([
      'Created: Container created',
      'Started: Container started',
      unready,
      'Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500',
      'Killing: Container c0 failed liveness probe, will be restarted',
      // Each start looks for the image: kuberuntime_container.go startContainer.
      'Pulling: Pulling image "nginx"',
      'Pulled: Successfully pulled image "nginx" in 0ms (0ms including waiting). Image size: 0 bytes.',
      'Created: Container created',
      'Started: Container started',
      unready,
    ]);
  });
});

describe('network probes', () => {
  const sleeping = ['sleep', 'infinity'];
  const ports = [{ name: 'web', containerPort: 8080 }];
  const readinessOf = (containers: Partial<Container>[]): string[] =>
    live(pod(containers), 15).events.filter((event) => event.startsWith('Unhealthy'));
  it.each<{ name: string; probe: Probe; want: string }>([
    {
      name: 'HTTP',
      probe: { httpGet: { port: 'web', path: '/ready' } },
      want: 'Get "http://10.244.0.5:8080/ready": dial tcp 10.244.0.5:8080: connect: connection refused',
    },
    {
      name: 'HTTPS',
      probe: { httpGet: { port: 80, scheme: 'HTTPS' } },
      want: 'Get "https://10.244.0.5:80/": dial tcp 10.244.0.5:80: connect: connection refused',
    },
    { name: 'TCP', probe: { tcpSocket: { port: 'web' } }, want: 'dial tcp 10.244.0.5:8080: connect: connection refused' },
    {
      name: 'gRPC',
      probe: { grpc: { port: 9 }, timeoutSeconds: 3 },
      want: 'timeout: failed to connect service "10.244.0.5:9" within 3s: context deadline exceeded',
    },
  ])('by $name fail if all containers run simulated commands, which do not listen', ({ probe, want }) => {
    expect(readinessOf([{ command: sleeping, ports, readinessProbe: probe }])).toContain(`Unhealthy: Readiness probe failed: ${want}`);
  });

  it.each<{ name: string; containers: Partial<Container>[] }>([
    { name: 'another program', containers: [{ command: ['nginx'], readinessProbe: { tcpSocket: { port: 80 } } }] },
    { name: 'the program of the image', containers: [{ readinessProbe: { httpGet: { port: 80 } } }] },
    { name: 'another container', containers: [{ command: sleeping, readinessProbe: { grpc: { port: 80 } } }, {}] },
    { name: 'another host', containers: [{ command: sleeping, readinessProbe: { tcpSocket: { port: 80, host: '192.0.2.1' } } }] },
  ])('succeed if $name may listen', ({ containers }) => expect(readinessOf(containers)).toEqual([]));

  it('that are refused kill a container', () => {
    const livenessProbe = { httpGet: { port: 80 }, failureThreshold: 1 };
    expect(live(pod([{ command: sleeping, livenessProbe }]), 15).events).toContain(
      'Killing: Container c0 failed liveness probe, will be restarted',
    );
  });
});

describe('graceful deletion', () => {
  const running = (more: Parameters<typeof pod>[1] = {}, metadata: object = {}, command?: string[]): Pod => {
    const { last } = live(pod([command ? { command } : {}], more), 0);
    return { ...last, metadata: { ...last.metadata, ...metadata } };
  };

  it('deletes the object of a pod without finalizers after the Killing event', () => {
    const { events, moments, deleted: isDeleted } = live(running({}, deleted(30)));
    expect({ events, moments, isDeleted }).toEqual({ events: ['Killing: Stopping container c0'], moments: [], isDeleted: true });
  });

  it('deletes the object of a pod that has not started', () => {
    expect(live(pod([{}], { metadata: deleted(30) }))).toMatchObject({ events: [], deleted: true });
  });

  it.each([
    { name: 'a slow process within the grace period', annotations: { 'termination-delay': '5s' }, second: 5, exit: 'exit 0' },
    { name: 'a process that ignores SIGTERM', annotations: { 'termination-delay': 'forever' }, second: 30, exit: 'exit 137' },
  ])('waits for $name', ({ annotations, second, exit }) => {
    const { moments, events, deleted: isDeleted } = live(running({ annotations }, deleted(30)));
    expect(moments.map((one) => [one.second, one.containers])).toEqual([[second, exit]]);
    expect({ events, isDeleted }).toEqual({ events: ['Killing: Stopping container c0'], isDeleted: true });
  });

  it.each([
    { name: 'handles', handler: 'sleep 5; exit 3', second: 5, exit: 'exit 3' },
    { name: 'survives', handler: 'true', second: 30, exit: 'exit 137' },
  ])('waits for a command that $name SIGTERM', ({ handler, second, exit }) => {
    const command = ['sh', '-c', `stop() { ${handler}; }\ntrap stop TERM\nwhile true; do sleep 1; done`];
    const { moments } = live(running({}, deleted(30), command));
    expect(moments.map((one) => [one.second, one.containers])).toEqual([[second, exit]]);
  });

  it.each([
    { name: 'whose own end is later', script: 'trap "" TERM; sleep 99', second: 30, exit: 'exit 137' },
    { name: 'whose own end comes first', script: 'trap "" TERM; sleep 9; exit 4', second: 9, exit: 'exit 4' },
    { name: 'that handles SIGTERM before its own end', script: 'trap "sleep 2; exit 5" TERM; sleep 99', second: 2, exit: 'exit 5' },
    { name: 'that has not set its trap yet', script: 'sleep 8; trap "" TERM; sleep 99', second: 0, exit: 'exit 143' },
    { name: 'that has reset its trap', script: 'trap "" TERM; trap - TERM; sleep 99', second: 0, exit: 'exit 143' },
  ])('waits for a command $name', ({ script, second, exit }) => {
    const finalizers = ['example.com/keep'];
    const { moments } = live(running({}, deleted(30, { finalizers }), ['sh', '-c', script]));
    expect(moments.map((one) => [one.second, one.containers])).toEqual([[second, exit]]);
  });

  it.each([
    { name: 'that sleeps', preStop: { sleep: { seconds: 5 } }, grace: 30, second: 5 },
    { name: 'with a command that sleeps', preStop: { exec: { command: ['sh', '-c', 'sleep 7'] } }, grace: 30, second: 7 },
    { name: 'that takes longer than the grace period', preStop: { sleep: { seconds: 79 } }, grace: 10, second: 10 },
  ])('waits for a preStop hook $name, before SIGTERM', ({ preStop, grace, second }) => {
    const { last } = live(pod([{ lifecycle: { preStop } }]), 0);
    const { moments, deleted: isDeleted } = live({ ...last, metadata: { ...last.metadata, ...deleted(grace) } });
    expect(moments.map((one) => [one.second, one.containers])).toEqual([[second, 'exit 0']]);
    expect(isDeleted).toBe(true);
  });

  it('writes the final phase of a pod with finalizers and deletes with a grace period of 0 once', () => {
    const finalizers = ['batch.kubernetes.io/job-tracking'];
    const {
      moments,
      last,
      deleted: isDeleted,
    } = live(running({ spec: { restartPolicy: 'Never' } }, deleted(30, { finalizers }), ['sleep', '99']));
    expect(moments.map(({ phase, containers }) => [phase, containers])).toEqual([['Failed', 'exit 143']]);
    expect(isDeleted).toBe(true);
    expect(nextLifeStep({ ...last, metadata: { ...last.metadata, deletionGracePeriodSeconds: 0 } }, host, start)).toBeUndefined();
  });
});

describe('a pod that is expensive to simulate', () => {
  const busy = 'i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done; sleep 1; exit 3';
  const writes = `mkdir /tmp/d; ${Array.from({ length: 40 }, (_, i) => `sleep 1; echo ${i} > /tmp/f`).join(';')}; sleep 100`;
  const doubled = Array.from({ length: 60 }, (_, i) => ({ name: `V${i + 1}`, value: `$(V${i})$(V${i})` }));
  const probe = { exec: { command: ['sh', '-c', `test -f /tmp/f;${busy}`] }, periodSeconds: 1 };
  const ending = (one: Pod): Pod => ({ ...live(one).last, metadata: { ...one.metadata, ...deleted(30) } });
  const many = (count: number, one: Container): Container[] => Array.from({ length: count }, () => one);
  it.each<{ name: string; pod: Pod }>([
    { name: 'variables that double', pod: pod([{ command: ['true'], env: [{ name: 'V0', value: 'x' }, ...doubled] }]) },
    {
      name: 'arguments that repeat a long variable',
      pod: pod([{ command: ['echo'], args: [`$(A)`.repeat(100_000)], env: [{ name: 'A', value: 'x'.repeat(100_000) }] }]),
    },
    {
      name: 'variables of all annotations',
      pod: pod(
        [
          {
            command: ['true'],
            env: Array.from({ length: 10_000 }, (_, i) => ({
              name: `V${i}`,
              valueFrom: { fieldRef: { fieldPath: 'metadata.annotations' } },
            })),
          },
        ],
        { annotations: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`${i}`, 'x'.repeat(200)])) },
      ),
    },
    { name: 'many containers', pod: pod(many(400, { command: ['sh', '-c', busy] })) },
    {
      name: 'probes of a command that changes files',
      pod: pod(many(100, { command: ['sh', '-c', writes], livenessProbe: probe, readinessProbe: probe, startupProbe: probe })),
    },
    {
      name: 'hooks',
      pod: ending(pod(many(400, { lifecycle: { preStop: { exec: { command: ['sh', '-c', busy] } } } }))),
    },
  ])('$name: runs without the simulation, and holds the event loop for less than 100 ms', ({ pod: first }) => {
    let longest = 0;
    const timed = <T>(work: () => T): T => {
      let result: T | undefined;
      longest = Math.max(
        longest,
        leastThreadTime(() => {
          result = work();
        }, 100),
      );
      return result!;
    };
    let current = first;
    for (let i = 0; i < 4; i += 1) {
      const step = timed(() => nextLifeStep(current, host, start));
      const outcome = step && timed(() => step.run(Math.max(start, step.at)));
      if (outcome?.status) current = { ...current, status: outcome.status };
    }
    expect(longest).toBeLessThan(100);
    if (!first.metadata.deletionTimestamp) expect(current.status?.containerStatuses?.at(-1)?.state).toHaveProperty('running');
  });

  it('with thousands of containers and annotations is checked in a pass over both', () => {
    const annotations = Object.fromEntries(Array.from({ length: 6_500 }, (_, i) => [`ready.x${i}`, 'true']));
    const wide = pod(many(40_000, {}), { annotations });
    expect(leastThreadTime(() => expect(settingProblems(wide)).toHaveLength(6_500), 100)).toBeLessThan(100);
  });

  it('is rejected with thousands of containers', () => {
    const { moments, events } = live(pod(many(5_000, {})));
    expect(moments.map(({ phase }) => phase)).toEqual(['Failed']);
    expect(events).toEqual(['TooManyContainers: a simulated node runs pods of at most 500 containers']);
  });
});
