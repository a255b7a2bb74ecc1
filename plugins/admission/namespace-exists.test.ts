import { admissionTable, fakeClient, fakeInformers } from 'kubenest/sdk/testing';
import { NamespaceExists } from './namespace-exists.ts';
import { namespace, object } from './test-objects.ts';

const informers = fakeInformers({ namespaces: [namespace('ns')] });
const configMap = (inNamespace: string) => object('v1', 'ConfigMap', {}, { namespace: inNamespace });
admissionTable(
  NamespaceExists,
  [
    { name: 'an existing namespace', object: configMap('ns') },
    { name: 'a namespace that the informer has not received', object: configMap('just-made') },
    { name: 'a missing namespace', object: configMap('new'), denied: /namespaces "new" not found/ },
    { name: 'a namespace object', object: namespace('new') },
  ],
  { informers, client: fakeClient({ get: async (_, __, name) => (name === 'just-made' ? namespace(name) : undefined) }) },
);
