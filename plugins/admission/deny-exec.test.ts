import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { DenyEscalatingExec, DenyExecOnPrivileged } from './deny-exec.ts';
import { main, object, pod } from './test-objects.ts';

const privileged = { containers: [{ ...main, securityContext: { privileged: true } }] };
const inPod = (spec: object) => ({ informers: fakeInformers({ pods: [pod(spec as never)] }) });
const exec = {
  operation: 'CONNECT',
  resource: { group: '', resource: 'pods' },
  subresource: 'exec',
  object: object('v1', 'PodExecOptions', {}, { namespace: 'ns' }),
} as const;
admissionTable(DenyExecOnPrivileged, [{ name: 'a plain pod', ...exec }], inPod({}));
admissionTable(
  DenyExecOnPrivileged,
  [{ name: 'a privileged pod', ...exec, denied: /cannot exec into or attach to a privileged container/ }],
  inPod(privileged),
);
admissionTable(DenyExecOnPrivileged, [{ name: "the host's PID namespace", ...exec }], inPod({ hostPID: true }));
admissionTable(DenyEscalatingExec, [{ name: "the host's PID namespace", ...exec, denied: /using host pid/ }], inPod({ hostPID: true }));
admissionTable(DenyEscalatingExec, [{ name: 'a missing pod', ...exec, denied: /pods "x" not found/ }]);
