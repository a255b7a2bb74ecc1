import { describe, expect, it } from 'vitest';
import type { StrategyContext } from '#apiserver/registry/resource-definition';
import { podStrategy } from '#kubernetes/apis/core/pod-strategy';
import type { AppArmorProfile, Pod, PodSpec } from '#kubernetes/schema/core_v1.gen';

const key = 'container.apparmor.security.beta.kubernetes.io/main';

function created(annotation: string, spec: Partial<PodSpec> = {}): { pod: Pod; warnings: string[] } {
  const warnings: string[] = [];
  const context: StrategyContext = {
    namespace: 'x',
    user: { name: '', groups: [], extra: {} },
    dryRun: false,
    now: '',
    warn: (text) => {
      warnings.push(text);
    },
  };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', annotations: { [key]: annotation } },
    spec: { containers: [{ name: 'main' }, { name: 'other' }], ...spec },
  };
  podStrategy.prepareForCreate!(pod, context);
  return { pod, warnings };
}

const deprecated = [`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`];

describe('AppArmor annotations of new pods', () => {
  it.each<[string, AppArmorProfile]>([
    ['unconfined', { type: 'Unconfined' }],
    ['runtime/default', { type: 'RuntimeDefault' }],
    ['localhost/mine', { type: 'Localhost', localhostProfile: 'mine' }],
  ])('%s sets the profile of its container', (annotation, appArmorProfile) => {
    const { pod, warnings } = created(annotation);
    expect(pod.spec?.containers).toEqual([{ name: 'main', securityContext: { appArmorProfile } }, { name: 'other' }]);
    expect(warnings).toEqual(deprecated);
  });

  it.each(['localhost/', 'localhost/ padded', 'nonsense'])('%j sets no profile and returns a warning', (annotation) => {
    const { pod, warnings } = created(annotation, { securityContext: { appArmorProfile: { type: 'Unconfined' } } });
    expect(pod.spec?.containers?.[0]).toEqual({ name: 'main' });
    expect(warnings).toEqual(deprecated);
  });

  it.each<[string, Partial<PodSpec>]>([
    ['the pod has the same profile', { securityContext: { appArmorProfile: { type: 'Unconfined' } } }],
    ['the container has a profile', { containers: [{ name: 'main', securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }] }],
    ['the pod runs on Windows', { os: { name: 'windows' } }],
  ])('annotations are ignored if %s', (_, spec) => {
    const { pod, warnings } = created('unconfined', spec);
    expect(pod.spec).toMatchObject(spec);
    expect(pod.spec?.containers?.[0]?.securityContext?.appArmorProfile?.type).not.toBe('Unconfined');
    expect(warnings).toEqual([]);
  });
});
