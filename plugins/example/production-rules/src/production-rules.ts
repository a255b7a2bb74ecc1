import { deny, policy, setDefaults, warn, when } from 'kubenest/sdk';
import { IsInt, Min } from 'kubenest/sdk/configuration';
import { Deployment, Namespace, PersistentVolumeClaim, Secret, StatefulSet } from 'kubenest/kinds';

export class ProductionConfiguration {
  /** Least number of replicas of a workload. */
  @IsInt()
  @Min(1)
  leastReplicas = 2;
}

const production = /^prod-/;

/** Tokens, replicas, probes and the protection of objects in production. */
export const productionRules = policy(
  { name: 'ProductionRules', configuration: ProductionConfiguration, services: ['informers'], follows: [Deployment] },

  when(Deployment, StatefulSet)
    .created()
    .inNamespace(production)
    .mutate((workload) => setDefaults(workload, { spec: { template: { spec: { automountServiceAccountToken: false } } } })),

  when(Deployment, StatefulSet)
    .created()
    .updated()
    .inNamespace(production)
    .validate(({ spec }, request, { configuration: { leastReplicas } }) => {
      if (spec.replicas !== undefined && spec.replicas < leastReplicas) deny(request, `at least ${leastReplicas} replicas`);
      for (const { name, readinessProbe } of spec.template.spec.containers)
        if (!readinessProbe) warn(request, `container ${name} has no readiness probe`);
    }),

  when(Deployment, StatefulSet)
    .subresource('scale')
    .updated()
    .inNamespace(production)
    .validate(({ spec }, request, { configuration: { leastReplicas } }) => {
      if ((spec?.replicas ?? 0) < leastReplicas) deny(request, `at least ${leastReplicas} replicas`);
    }),

  when(PersistentVolumeClaim, Secret)
    .deleted()
    .inNamespace(production)
    .withLabel('protected', 'true')
    .validate(({ metadata: { name } }, request) => deny(request, `${name} is protected: remove the label first`)),

  when(Namespace)
    .deleted()
    .where(({ metadata }) => production.test(metadata.name ?? ''))
    .validate(({ metadata: { name } }, request, { informers }) => {
      const workloads = informers.for(Deployment).list(name);
      if (workloads.length > 0) deny(request, `it has ${workloads.length} Deployments`);
    }),
);
