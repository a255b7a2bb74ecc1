import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, describeMeta } from '#apiserver/registry/table-columns';
import { stringColumn } from '#kubernetes/apis/columns';
import { validateIngressClass, validateIngressClassUpdate } from '#kubernetes/apis/networking/validation/ingress-class';
import type { IngressClass } from '#kubernetes/schema/networking_v1.gen';
import { defaultIngressClass } from './defaults.ts';

export default defineResource<IngressClass>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  resource: 'ingressclasses',
  namespaced: false,
  storageVersionHash: 'l/iqIbDgFyQ=',
  schema: 'networking_v1.IngressClass',
  storagePath: 'ingressclasses',
  defaults: defaultIngressClass,
  strategy: { generation: 'spec', validate: validateIngressClass, validateUpdate: validateIngressClassUpdate },
  columns: [
    stringColumn(
      'Name',
      describeMeta('name'),
      ({ metadata }) => {
        const isDefault = metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';
        return `${metadata.name}${isDefault ? ' (default)' : ''}`;
      },
      { format: 'name' },
    ),
    stringColumn('Controller', 'Controller that is responsible for handling this class', ({ spec }) => spec?.controller ?? ''),
    stringColumn('Parameters', 'A reference to a resource with additional parameters', ({ spec }) => {
      const parameters = spec?.parameters;
      if (!parameters) return '<none>';
      const kind = parameters.apiGroup === undefined ? parameters.kind : `${parameters.kind}.${parameters.apiGroup}`;
      return `${kind}/${parameters.name}`;
    }),
    ageColumn,
  ],
});
