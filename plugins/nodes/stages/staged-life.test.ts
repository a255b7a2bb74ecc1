import type { Pod } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { noStore } from '../pods/file-store.ts';
import type { LifeOutcome, PodHost } from '../pods/pod-life.ts';
import { chooseStage, compileStage, StageError } from './stage.ts';
import type { StageObject, StageSpec } from './stage-types.ts';
import { StagedLife } from './staged-life.ts';

const stage = (name: string, spec: StageSpec): StageObject => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: { resourceRef: { apiGroup: 'v1', kind: 'Pod' }, ...spec },
});
const all = { matchExpressions: [] };
const notDeleted = { key: '.metadata.deletionTimestamp', operator: 'DoesNotExist' };

/** Stages in the manner of kwok's fast ones: ready at once, completed if a Job owns the pod, and deleted. */
const ready = stage('ready', {
  selector: { matchExpressions: [notDeleted, { key: '.status.phase', operator: 'In', values: ['Pending'] }] },
  next: {
    event: { type: 'Normal', reason: 'Created', message: 'Created container' },
    statusTemplate: `
      {{ $now := Now }}
      conditions:
      - type: Ready
        status: "True"
        lastTransitionTime: {{ $now | Quote }}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        state:
          running:
            startedAt: {{ $now | Quote }}
      {{ end }}
      {{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) }}
      podIP: {{ index . 0 | Quote }}
      {{ end }}
      phase: Running
    `,
  },
});
const complete = stage('complete', {
  selector: {
    matchExpressions: [
      { key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: 'In', values: ['True'] },
      { jq: { key: '.metadata.ownerReferences.[].kind', operator: 'In', values: ['Job'] } },
    ],
  },
  delay: { durationMilliseconds: 1_000, durationFrom: { expressionFrom: '.metadata.annotations["delay"]' } },
  next: { statusTemplate: 'phase: Succeeded' },
});
const remove = stage('remove', {
  selector: { matchExpressions: [{ key: '.metadata.deletionTimestamp', operator: 'Exists' }] },
  next: { finalizers: { empty: true }, delete: true },
});

const start = Date.UTC(2026, 0, 1);
const host: PodHost = {
  hasImage: () => true,
  admit: () => undefined,
  isKilling: () => false,
  mountFailures: () => 0,
  addressesOf: () => ({ hostIP: '10.0.0.1', podIP: '10.1.0.5' }),
  files: noStore,
};
const pod = (metadata: object = {}, status: object = { phase: 'Pending' }): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'u', resourceVersion: '1', ...metadata },
  spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'nginx' }] },
  status,
});

/** When the next step is due in milliseconds from now, and its outcome. */
function next(one: Pod, ...stages: StageObject[]): { in: number; outcome: LifeOutcome } | string {
  const compiled = stages.map(compileStage);
  const life = new StagedLife(
    () => compiled,
    () => start,
    () => 0.5,
  );
  const step = life.next(one, host);
  if (step === undefined || step === 'none') return String(step);
  return { in: step.at - start, outcome: step.run(start) };
}

const owned = { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'x' }] };
const isReady = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

describe('a stage', () => {
  it('renders its status as a patch and sends its event', () => {
    expect(next(pod(), ready, complete, remove)).toEqual({
      in: 0,
      outcome: {
        deletes: false,
        events: [{ type: 'Normal', reason: 'Created', message: 'Created container' }],
        patches: [
          {
            subresource: 'status',
            patch: {
              type: 'strategic',
              patch: {
                status: {
                  phase: 'Running',
                  podIP: '10.1.0.5',
                  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
                  containerStatuses: [
                    { name: 'c', image: 'nginx', ready: true, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } },
                  ],
                },
              },
            },
          },
        ],
      },
    });
  });

  it('removes finalizers and deletes', () => {
    const one = pod({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/f'] });
    expect(next(one, ready, remove)).toEqual({
      in: 0,
      outcome: {
        deletes: true,
        events: [],
        patches: [{ patch: { type: 'json', patch: [{ op: 'remove', path: '/metadata/finalizers' }] } }],
      },
    });
  });

  it.each([
    { name: 'the duration', metadata: owned, due: 1_000 },
    { name: 'the duration of an annotation', metadata: { ...owned, annotations: { delay: '2m' } }, due: 120_000 },
    { name: 'the time of an annotation', metadata: { ...owned, annotations: { delay: '2026-01-01T00:00:05Z' } }, due: 5_000 },
  ])('is due after $name', ({ metadata, due }) => {
    expect(next(pod(metadata, isReady), ready, complete)).toMatchObject({ in: due });
  });

  it('is due at random within the jitter', () => {
    const jittered = stage('j', {
      selector: all,
      delay: { durationMilliseconds: 1_000, jitterDurationMilliseconds: 3_000 },
      next: { delete: true },
    });
    expect(next(pod(), jittered)).toMatchObject({ in: 2_000 });
  });

  it('runs once for each version of a pod', () => {
    const stage = compileStage(ready);
    const life = new StagedLife(
      () => [stage],
      () => start,
    );
    const one = pod();
    expect(life.next(one, host)).toMatchObject({ at: start });
    life.done(one);
    expect(life.next(one, host)).toBeUndefined();
    expect(life.next(pod({ resourceVersion: '2' }), host)).toMatchObject({ at: start });
  });

  it('leaves pods that it does not match to the built-in life', () => {
    expect(next(pod({}, isReady), ready, complete, remove)).toBe('none');
  });

  it.each<{ name: string; stages: StageSpec[]; random: number; want: string }>([
    { name: 'by weight', stages: [{ weight: 1 }, { weight: 3 }], random: 0.5, want: 's1' },
    { name: 'by weight', stages: [{ weight: 1 }, { weight: 3 }], random: 0.2, want: 's0' },
    { name: 'none of weight 0 beside one with a weight', stages: [{}, { weight: 1 }], random: 0, want: 's1' },
    { name: 'by chance without weights', stages: [{}, {}], random: 0.9, want: 's1' },
    { name: 'by the weight of an expression', stages: [{ weight: 1 }, { weightFrom: { expressionFrom: '"9"' } }], random: 0.5, want: 's1' },
  ])('is chosen $name ($random)', ({ stages, random, want }) => {
    const compiled = stages.map((spec, i) => compileStage(stage(`s${i}`, { selector: all, ...spec })));
    expect(chooseStage(compiled, pod(), random)?.name).toBe(want);
  });

  it('with steps makes several patches', () => {
    const labels = { patch: { root: 'metadata', template: 'labels: { a: "{{ .metadata.name }}" }', type: 'merge' } };
    const json = { patch: { root: 'metadata', template: '- { op: add, path: /annotations, value: {} }', type: 'json' } };
    expect(next(pod(), stage('s', { selector: all, steps: [labels, json] }))).toMatchObject({
      outcome: {
        patches: [
          { patch: { type: 'merge', patch: { metadata: { labels: { a: 'p' } } } } },
          { patch: { type: 'json', patch: [{ op: 'add', path: '/metadata/annotations', value: {} }] } },
        ],
      },
    });
  });

  it.each<{ name: string; object: StageObject; says: string }>([
    { name: 'another kind', object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } }, says: 'stage x: it is not a Stage' },
    {
      name: 'stages of other resources',
      object: stage('x', { resourceRef: { kind: 'Node' } }),
      says: 'stage x: resources of kind Node are not simulated by stages',
    },
    {
      name: 'CEL',
      object: stage('x', { selector: { matchExpressions: [{ cel: {} }] } }),
      says: 'stage x: CEL expressions are not supported',
    },
    { name: 'apply', object: stage('x', { steps: [{ apply: {} }] }), says: 'stage x: apply is not supported' },
    { name: 'impersonation', object: stage('x', { next: { statusPatchAs: {} } }), says: 'stage x: impersonation is not supported' },
    {
      name: 'an unknown operator',
      object: stage('x', { selector: { matchExpressions: [{ key: '.a', operator: 'Like' }] } }),
      says: 'stage x: operator "Like" is unknown',
    },
    { name: 'an invalid template', object: stage('x', { next: { statusTemplate: '{{ if }}' } }), says: 'stage x: {{if}} without {{end}}' },
    {
      name: 'an invalid query',
      object: stage('x', { selector: { matchExpressions: [{ key: '.[', operator: 'Exists' }] } }),
      says: 'stage x: unexpected end',
    },
  ])('is refused with $name', ({ object, says }) => {
    expect(() => compileStage(object)).toThrow(StageError);
    expect(() => compileStage(object)).toThrow(says);
  });
});
