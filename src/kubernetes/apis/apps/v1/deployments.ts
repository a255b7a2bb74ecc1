import { nextGeneration } from '#apimachinery/meta/generation';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { fieldPath } from '#apimachinery/validation/field';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { validateDeployment, validateDeploymentStatusUpdate, validateDeploymentUpdate } from '#kubernetes/apis/apps/validation/deployment';
import { scaleSubresource } from '#kubernetes/apis/autoscaling/scale';
import { containerColumns, describe, labelSelectorText, stringColumn, wide } from '#kubernetes/apis/columns';
import { hostnameWarning, podTemplateWarnings } from '#kubernetes/apis/core/validation/pod-warnings';
import { withPodTemplate } from '#kubernetes/apis/core/disabled-fields';
import { equalAs } from '#kubernetes/apis/equal-as';
import { dropTerminatingReplicas } from '#kubernetes/apis/apps/terminating-replicas';
import { keepMeta, statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { Deployment } from '#kubernetes/schema/apps_v1.gen';
import { defaultDeployment } from './defaults.ts';

/** Formats a selector; unlike in other kinds, an empty one is an empty string. */
function deploymentSelectorText(selector: LabelSelector | undefined): string {
  const text = labelSelectorText(selector);
  return text === '<error>' ? '<invalid>' : text;
}

/** Warnings about the pod template. */
function templateWarnings({ spec }: Deployment): string[] {
  return podTemplateWarnings(spec?.template, fieldPath('spec', 'template'));
}

export default defineResource<Deployment>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  storageVersionHash: '8aSe+NMegvE=',
  schema: 'apps_v1.Deployment',
  storagePath: 'deployments',
  defaults: defaultDeployment,
  strategy: withoutStatus(
    withPodTemplate<Deployment>(({ spec }) => spec?.template, {
      prepareForCreate(deployment) {
        deployment.metadata.generation = 1;
      },
      prepareForUpdate(deployment, old) {
        const same =
          equalAs('apps_v1.DeploymentSpec', deployment.spec, old.spec) &&
          semanticDeepEqual(deployment.metadata.annotations, old.metadata.annotations);
        if (!same) deployment.metadata.generation = nextGeneration(old.metadata.generation);
      },
      validate: validateDeployment,
      validateUpdate: validateDeploymentUpdate,
      warningsOnCreate: (deployment) => [
        ...hostnameWarning(deployment.metadata.name, 'Pod names and hostnames'),
        ...templateWarnings(deployment),
      ],
      warningsOnUpdate: (deployment, old) =>
        deployment.metadata.generation === old.metadata.generation ? [] : templateWarnings(deployment),
    }),
  ),
  columns: [
    nameColumn,
    stringColumn(
      'Ready',
      'Number of the pod with ready state',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    stringColumn('Up-to-date', describe('apps_v1.DeploymentStatus', 'updatedReplicas'), ({ status }) => status?.updatedReplicas ?? 0),
    stringColumn('Available', describe('apps_v1.DeploymentStatus', 'availableReplicas'), ({ status }) => status?.availableReplicas ?? 0),
    ageColumn,
    ...containerColumns<Deployment>(({ spec }) => spec?.template),
    stringColumn('Selector', describe('apps_v1.DeploymentSpec', 'selector'), ({ spec }) => deploymentSelectorText(spec?.selector), wide),
  ],
  subresources: {
    scale: scaleSubresource(['apps/v1beta1', 'apps/v1beta2', 'apps/v1']),
    status: statusSubresource({
      strategy: {
        resetFields: [['spec'], ['metadata', 'labels']],
        prepareForUpdate(deployment, old, context) {
          keepMeta(deployment, old, 'labels');
          dropTerminatingReplicas(deployment, old, context);
        },
        validateUpdate: validateDeploymentStatusUpdate,
      },
    }),
  },
});
