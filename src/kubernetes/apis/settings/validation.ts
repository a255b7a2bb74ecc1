/** Validation of pod presets. Upstream until 1.20: pkg/apis/settings/validation/validation.go. */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { type FieldError, fieldPath, required } from '#apimachinery/validation/field';
import { validateVolumeMounts } from '#kubernetes/apis/core/validation/containers';
import { validateEnv, validateEnvFrom } from '#kubernetes/apis/core/validation/env';
import { templateOptions } from '#kubernetes/apis/core/validation/pod-options';
import { validateVolumes } from '#kubernetes/apis/core/validation/volumes';
import { validateSelector } from '#kubernetes/apis/pod-template';
import type { PodPreset } from '#kubernetes/schema/settings_v1alpha1.gen';

const specPath = fieldPath('spec');

export function validatePodPreset({ spec = {} }: PodPreset, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const options = templateOptions(undefined, server);
  const { selector, env, envFrom, volumes, volumeMounts } = spec;
  validateSelector(errors, selector, specPath.child('selector'));
  if (!env && !envFrom && !volumes && !volumeMounts)
    errors.push(required(specPath.child('volumes', 'env', 'envFrom', 'volumeMounts'), 'must specify at least one'));
  const valid = validateVolumes(errors, volumes ?? [], undefined, specPath.child('volumes'), options);
  validateEnv(errors, env ?? [], specPath.child('env'), options);
  validateEnvFrom(errors, envFrom ?? [], specPath.child('envFrom'));
  validateVolumeMounts(errors, volumeMounts ?? [], {}, valid, specPath.child('volumeMounts'));
  return errors;
}
