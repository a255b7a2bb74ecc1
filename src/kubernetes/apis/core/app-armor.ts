import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, fieldPath } from '#apimachinery/validation/field';
import type { StrategyContext } from '#apiserver/registry/resource-definition';
import { appArmorPrefix } from '#kubernetes/apis/core/validation/pod-annotations';
import { validateAppArmorProfile } from '#kubernetes/apis/core/validation/security-context';
import { eachContainer } from '#kubernetes/apis/core/validation/visit-containers';
import type { AppArmorProfile, Pod } from '#kubernetes/schema/core_v1.gen';

/** The field that an annotation with an AppArmor profile stands for; undefined if for none. Upstream: kubernetes/pkg/api/pod/util.go. */
export function appArmorProfileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const profile = annotation.startsWith('localhost/') ? annotation.slice('localhost/'.length) : '';
  return profile === '' ? undefined : { type: 'Localhost', localhostProfile: profile };
}

/** What a client is told who names the profile by the annotation. */
export function appArmorDeprecation(annotation: string): string {
  return `${annotation}: deprecated since v1.30; use the "appArmorProfile" field instead`;
}

function validProfileOf(annotation: string): AppArmorProfile | undefined {
  const errors: FieldError[] = [];
  const profile = appArmorProfileOf(annotation);
  validateAppArmorProfile(errors, profile, fieldPath('spec'));
  return errors.length === 0 ? profile : undefined;
}

/**
 * Kubelets read the field only: profiles that annotations name become those of their containers, unless the pod's is the same.
 * Upstream: applyAppArmorVersionSkew of kubernetes/pkg/registry/core/pod/strategy.go.
 */
export function applyAppArmorAnnotations({ metadata: { annotations }, spec }: Pod, context: StrategyContext): void {
  if (!annotations || !spec || spec.os?.name === 'windows') return;
  const ofPod = spec.securityContext?.appArmorProfile;
  eachContainer(spec, fieldPath('spec'), (container) => {
    const key = appArmorPrefix + (container.name ?? '');
    const annotation = Object.hasOwn(annotations, key) ? annotations[key] : undefined;
    if (annotation === undefined || container.securityContext?.appArmorProfile) return;
    const profile = validProfileOf(annotation);
    if (profile && ofPod && semanticDeepEqual(profile, ofPod)) return;
    if (profile) container.securityContext = { ...container.securityContext, appArmorProfile: profile };
    context.warn?.(appArmorDeprecation(fieldPath('metadata', 'annotations').key(key).toString()));
  });
}
