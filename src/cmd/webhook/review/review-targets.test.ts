import { expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { knownScheme } from '#cmd/apis/known-scheme';
import { ReviewTargets } from './review-targets.ts';

const scheme = knownScheme();
const version = { group: 'autoscaling', version: 'v1' };
const kind = { ...version, kind: 'HorizontalPodAutoscaler' };
const resource = { ...version, resource: 'horizontalpodautoscalers' };
const ignore = (): void => {};

it('converts built-in objects to the storage version, also those of another version than the request', () => {
  const { forms } = new ReviewTargets(scheme, ignore).of({ kind, resource, subresource: '' });
  const v2 = { ...kind, version: 'v2' };
  const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas: 3 };
  for (const sent of [kind, v2]) {
    const document = { apiVersion: `autoscaling/${sent.version}`, kind: kind.kind, metadata: { name: 'a' }, spec: { ...spec } };
    const object = forms.complete(forms.decode(document, sent), sent);
    expect(object).toMatchObject({ apiVersion: 'autoscaling/v2', spec: { minReplicas: 1 } });
    expect(JSON.parse(forms.encode(object, sent))).toMatchObject({ apiVersion: `autoscaling/${sent.version}`, spec: { maxReplicas: 3 } });
  }
});

it.each([
  {
    name: 'a custom resource',
    kind: { ...kind, group: 'acme.example' },
    resource: { ...resource, group: 'acme.example' },
    subresource: '',
  },
  { name: 'an unknown subresource', kind, resource, subresource: 'nope' },
  { name: 'a kind that does not belong to the resource', kind: { ...kind, kind: 'Pod' }, resource, subresource: '' },
])('leaves the objects of $name as they are', ({ kind: own, ...request }) => {
  const { forms } = new ReviewTargets(scheme, ignore).of({ kind: own, ...request });
  const document = { apiVersion: 'x/v1', kind: 'Y', metadata: {}, anything: [1, { a: null }] };
  expect(forms.complete(forms.decode(structuredClone(document), own), own)).toEqual(document as unknown as KubeObject);
});

it('forgets invented resources', () => {
  const onFull = vi.fn(ignore);
  const targets = new ReviewTargets(scheme, onFull);
  const request = { kind, resource, subresource: '' };
  const first = targets.of(request);
  expect(targets.of(request)).toBe(first);
  for (let i = 0; i < 2_000; i += 1) targets.of({ ...request, subresource: `s${i}` });
  expect(onFull).toHaveBeenCalledOnce();
  expect(targets.of(request)).not.toBe(first);
});
