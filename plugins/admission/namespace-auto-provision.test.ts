import { type KubeObject, newForbidden } from 'kubenest/sdk';
import { admissionTable, fakeClient, fakeInformers } from 'kubenest/sdk/testing';
import { NamespaceAutoProvision } from './namespace-auto-provision.ts';
import { namespace, object } from './test-objects.ts';

const created: string[] = [];
const client = fakeClient({
  async create(_target, made: KubeObject) {
    created.push(made.metadata.name ?? '');
    return made;
  },
});
const informers = fakeInformers({ namespaces: [namespace('ns')] });
const configMap = (inNamespace: string) => object('v1', 'ConfigMap', {}, { namespace: inNamespace });
admissionTable(
  NamespaceAutoProvision,
  [
    { name: 'an existing namespace', object: configMap('ns') },
    { name: 'a missing namespace is created', object: configMap('new') },
    { name: 'a dry run creates nothing', object: configMap('other'), dryRun: true },
  ],
  { informers, client },
);
admissionTable(
  NamespaceAutoProvision,
  [{ name: 'a namespace that cannot be created', object: configMap('secret'), denied: /^namespaces "secret" is forbidden: nobody may$/ }],
  {
    informers,
    client: fakeClient({ create: () => Promise.reject(newForbidden({ group: '', resource: 'namespaces' }, 'secret', 'nobody may')) }),
  },
);
