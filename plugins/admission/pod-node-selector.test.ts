import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { PodNodeSelector } from './pod-node-selector.ts';
import { main, namespace, object, pod } from './test-objects.ts';

const informers = fakeInformers({ namespaces: [namespace('ns')] });
admissionTable(
  PodNodeSelector,
  [{ name: 'a missing namespace', object: pod(), denied: /^Internal error occurred: namespace ns does not exist$/ }],
  {
    informers: fakeInformers({ namespaces: [] }),
    configuration: { podNodeSelectorPluginConfig: {} },
  },
);

const selected = { 'scheduler.alpha.kubernetes.io/node-selector': 'pool=blue' };
const annotated = (annotations: Record<string, string>) => ({
  informers: fakeInformers({ namespaces: [object('v1', 'Namespace', {}, { name: 'ns', annotations })] }),
});
admissionTable(
  PodNodeSelector,
  [
    {
      name: 'the selector of the namespace',
      object: pod({ nodeSelector: { disk: 'ssd' } }),
      want: { spec: { containers: [main], nodeSelector: { disk: 'ssd', pool: 'blue' } } },
    },
    {
      name: 'a conflicting selector',
      object: pod({ nodeSelector: { pool: 'red' } }),
      denied: /pod node label selector conflicts with its namespace node label selector/,
    },
    {
      name: "a selector outside of the cluster's whitelist",
      object: pod({ nodeSelector: { gpu: 'yes' } }),
      denied: /conflict with its namespace whitelist/,
    },
  ],
  { ...annotated(selected), configuration: { podNodeSelectorPluginConfig: { ns: 'pool=blue,disk=ssd' } } },
);
admissionTable(
  PodNodeSelector,
  [{ name: "the cluster's default tolerations", object: pod(), want: { spec: { containers: [main], nodeSelector: { pool: 'all' } } } }],
  { informers, configuration: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'pool=all' } } },
);

for (const [text, fails] of [
  ['a', /^invalid selector: \[a\]$/],
  ['a=b=c', /^invalid selector: \[a b c\]$/],
  ['-a=b', /^<nil>: Invalid value: "-a": name part must consist of/],
  ['a=-b', /^\[a\]: Invalid value: "-b": a valid label must be/],
] as const)
  admissionTable(
    PodNodeSelector,
    [{ name: `a selector of ${text}`, object: pod(), fails }],
    annotated({ 'scheduler.alpha.kubernetes.io/node-selector': text }),
  );
