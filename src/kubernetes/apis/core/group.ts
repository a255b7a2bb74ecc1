import type { ApiGroup } from '#apiserver/registry/api-group';
import bindings from './v1/bindings.ts';
import componentstatuses from './v1/componentstatuses.ts';
import configmaps from './v1/configmaps.ts';
import endpoints from './v1/endpoints.ts';
import events from './v1/events.ts';
import limitranges from './v1/limitranges.ts';
import namespaces from './v1/namespaces.ts';
import nodes from './v1/nodes.ts';
import persistentvolumeclaims from './v1/persistentvolumeclaims.ts';
import persistentvolumes from './v1/persistentvolumes.ts';
import pods from './v1/pods.ts';
import podtemplates from './v1/podtemplates.ts';
import replicationcontrollers from './v1/replicationcontrollers.ts';
import resourcequotas from './v1/resourcequotas.ts';
import secrets from './v1/secrets.ts';
import serviceaccounts from './v1/serviceaccounts.ts';
import services from './v1/services.ts';

/** The core API group, served under /api/v1. */
export const coreGroup: ApiGroup = {
  group: '',
  versions: [{ version: 'v1', versionPriority: 1 }],
  groupPriorityMinimum: 18000,
  resources: [
    bindings,
    componentstatuses,
    configmaps,
    endpoints,
    events,
    limitranges,
    namespaces,
    nodes,
    persistentvolumeclaims,
    persistentvolumes,
    pods,
    podtemplates,
    replicationcontrollers,
    resourcequotas,
    secrets,
    serviceaccounts,
    services,
  ],
};
