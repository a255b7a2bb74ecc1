import { reconcileTable } from 'kubenest/sdk/testing';
import { partialObject } from '../common/testing/partial-object.ts';
import { ServiceAccountController } from './serviceaccount-controller.ts';

const namespace = (phase: string) => partialObject({ metadata: { name: 'ns' }, status: { phase } });
const account = partialObject({ metadata: { namespace: 'ns', name: 'default' } });

reconcileTable(ServiceAccountController, [
  {
    name: 'creates the default account of an active namespace',
    objects: { namespaces: [namespace('Active')] },
    request: 'ns',
    writes: ['create serviceaccounts ns/default'],
  },
  { name: 'leaves a present account alone', objects: { namespaces: [namespace('Active')], serviceaccounts: [account] }, request: 'ns' },
  { name: 'ignores a namespace that is being deleted', objects: { namespaces: [namespace('Terminating')] }, request: 'ns' },
  { name: 'ignores a namespace that is gone', request: 'ns' },
]);
