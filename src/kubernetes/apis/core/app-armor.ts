import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, fieldPath } from '#apimachinery/validation/field';
import type { StrategyContext } from '#apiserver/registry/resource-definition';
import { appArmorPrefix, containerAnnotations } from '#kubernetes/apis/core/validation/pod-annotations';
import { validateAppArmorProfile } from '#kubernetes/apis/core/validation/security-context';
import { eachContainer } from '#kubernetes/apis/core/validation/visit-containers';
import type { AppArmorProfile, Pod } from '#kubernetes/schema/core_v1.gen';

/**
 * Returns the field that corresponds to an annotation's AppArmor profile; undefined if there is none. Upstream:
 * kubernetes/pkg/api/pod/util.go.
 */
export function appArmorProfileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const profile = annotation.startsWith('localhost/') ? annotation.slice('localhost/'.length) : '';
  return profile === '' ? undefined : { type: 'Localhost', localhostProfile: profile };
}

/** Warning for a profile that is set by the annotation. */
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
 * Copies profiles of annotations to the fields of their containers, unless the pod has the same profile: kubelets read only the field.
 * Upstream: applyAppArmorVersionSkew of kubernetes/pkg/registry/core/pod/strategy.go.
 */
export function applyAppArmorAnnotations({ metadata: { annotations }, spec }: Pod, context: StrategyContext): void {
  if (!annotations || !spec || spec.os?.name === 'windows') return;
  const ofPod = spec.securityContext?.appArmorProfile;
  const given = containerAnnotations(annotations, appArmorPrefix);
  eachContainer(spec, fieldPath('spec'), (container) => {
    const { name = '' } = container;
    const annotation = given.get(name);
    if (annotation === undefined || container.securityContext?.appArmorProfile) return;
    const profile = validProfileOf(annotation);
    if (profile && ofPod && semanticDeepEqual(profile, ofPod)) return;
    if (profile) container.securityContext = { ...container.securityContext, appArmorProfile: profile };
    context.warn?.(
      appArmorDeprecation(
        fieldPath('metadata', 'annotations')
          .key(appArmorPrefix + name)
          .toString(),
      ),
    );
  });
}
