import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { PodTolerationRestriction } from './pod-toleration-restriction.ts';
import { main, namespace, object, pod } from './test-objects.ts';

const informers = fakeInformers({ namespaces: [namespace('ns')] });
const annotated = (annotations: Record<string, string>) => ({
  informers: fakeInformers({ namespaces: [object('v1', 'Namespace', {}, { name: 'ns', annotations })] }),
});

const toleration = { key: 'team', operator: 'Equal', value: 'a', effect: 'NoSchedule' };
const guaranteed = { containers: [{ ...main, resources: { requests: { cpu: '1' } } }] };
const memoryPressure = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };
admissionTable(
  PodTolerationRestriction,
  [
    { name: "the namespace's tolerations", object: pod(), want: { spec: { containers: [main], tolerations: [toleration] } } },
    {
      name: 'the memory pressure toleration of pods with requests',
      object: pod(guaranteed),
      want: { spec: { ...guaranteed, tolerations: [toleration, memoryPressure] } },
    },
  ],
  annotated({ 'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([toleration]) }),
);

admissionTable(
  PodTolerationRestriction,
  [
    { name: 'the configured tolerations', object: pod(), want: { spec: { containers: [main], tolerations: [toleration] } } },
    {
      name: 'a toleration outside of the configured whitelist',
      object: pod({ tolerations: [{ operator: 'Exists' }] }),
      fails: /cluster whitelist$/,
    },
  ],
  { informers, configuration: { default: [toleration], whitelist: [toleration] } },
);

const withTolerations = pod({ tolerations: [toleration] });
for (const [text, fails] of [
  ['x', /^invalid character 'x' looking for beginning of value$/],
  ['{}', /^json: cannot unmarshal object into Go value of type \[\]v1.Toleration$/],
  ['[1]', /^json: cannot unmarshal number into Go value of type v1.Toleration$/],
  ['[{"Operator":1}]', /^json: cannot unmarshal number into Go struct field Toleration.operator of type v1.TolerationOperator$/],
  ['[{"tolerationSeconds":1.5}]', /^json: cannot unmarshal number 1.5 into Go struct field Toleration.tolerationSeconds of type int64$/],
  ['[null]', /conflict with its namespace whitelist$/],
] as const) {
  admissionTable(
    PodTolerationRestriction,
    [
      { name: `a whitelist of ${text}`, object: withTolerations, fails },
      { name: `a whitelist of ${text}, without tolerations`, object: pod() },
    ],
    annotated({ 'scheduler.alpha.kubernetes.io/tolerationsWhitelist': text }),
  );
}
for (const annotation of ['defaultTolerations', 'tolerationsWhitelist'])
  admissionTable(
    PodTolerationRestriction,
    [{ name: `${annotation} of null`, object: withTolerations }],
    annotated({ [`scheduler.alpha.kubernetes.io/${annotation}`]: 'null' }),
  );
