import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn, TableColumn } from '#apiserver/registry/table-columns';
import type { APIService } from '#kube-aggregator/schema/apiregistration_v1.gen';
import { apiServiceName, validateApiService, validateApiServiceStatus, validateApiServiceUpdate } from '../validation.ts';
import { defaultApiService } from './defaults.ts';

function availableText({ status }: APIService): string {
  const condition = status?.conditions?.find(({ type }) => type === 'Available');
  if (!condition) return 'Unknown';
  return condition.status !== 'True' && condition.reason ? `${condition.status} (${condition.reason})` : (condition.status ?? '');
}

/** The resource apiservices. Upstream: kube-aggregator/pkg/registry/apiservice. */
export default defineResource<APIService>({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  resource: 'apiservices',
  namespaced: false,
  categories: ['api-extensions'],
  storageVersionHash: 'InPBPD7+PqM=',
  schema: 'apiregistration_v1.APIService',
  storagePath: 'apiregistration.k8s.io/apiservices',
  defaults: defaultApiService,
  strategy: {
    resetFields: [['status']],
    allowUnconditionalUpdate: false,
    anyFinalizers: true,
    nameRules: apiServiceName,
    prepareForCreate(service, { now }) {
      service.status = {};
      if (service.spec?.service) return;
      service.status.conditions = [
        { type: 'Available', status: 'True', lastTransitionTime: now, reason: 'Local', message: 'Local APIServices are always available' },
      ];
    },
    prepareForUpdate(service, old) {
      if (old.status) service.status = old.status;
      else delete service.status;
    },
    validate: validateApiService,
    validateUpdate: validateApiServiceUpdate,
  },
  columns: [
    nameColumn,
    new TableColumn('Service', 'string', 'The reference to the service that hosts this API endpoint.', ({ spec }) =>
      spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local',
    ),
    new TableColumn('Available', 'string', 'Whether this service is available.', availableText),
    ageColumn,
  ],
  subresources: {
    status: {
      verbs: ['get', 'patch', 'update'],
      strategy: {
        resetFields: [['spec'], ['metadata']],
        allowUnconditionalUpdate: false,
        anyFinalizers: true,
        prepareForUpdate(service, old) {
          if (old.spec) service.spec = old.spec;
          for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
            if (old.metadata[field] === undefined) delete service.metadata[field];
            else Object.assign(service.metadata, { [field]: old.metadata[field] });
          }
        },
        validateUpdate: validateApiServiceStatus,
      },
    },
  },
});
