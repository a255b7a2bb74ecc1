import { AdmissionPlugin, type Attributes, type Informer, Informers, inject, newForbidden, newNotFound } from 'kubenest/sdk';
import { containersOf, type Pod } from '../common/pod-walker.ts';

const connect = { groups: [''], resources: ['pods'], subresources: ['exec', 'attach'], operations: ['CONNECT'] } as const;

/** Returns the reason why exec and attach to a pod are denied; undefined if they are allowed. Throws NotFound. */
function reasonAgainst(request: Attributes, pods: Informer<Pod>, looksAtNamespaces: boolean): string | undefined {
  const pod = pods.get(request.namespace, request.name);
  if (!pod) throw newNotFound(request.resource, request.name);
  if (looksAtNamespaces && pod.spec.hostPID) return 'cannot exec into or attach to a container using host pid';
  if (looksAtNamespaces && pod.spec.hostIPC) return 'cannot exec into or attach to a container using host ipc';
  for (const { container } of containersOf(pod.spec)) {
    if (container.securityContext?.privileged) return 'cannot exec into or attach to a privileged container';
  }
  return undefined;
}

/**
 * Denies exec and attach to pods that are privileged or share the host's PID or IPC namespace. Upstream until 1.21:
 * kubernetes/plugin/pkg/admission/exec/admission.go.
 */
@AdmissionPlugin({ name: 'DenyEscalatingExec', match: [connect] })
export class DenyEscalatingExec {
  readonly #pods: Informer<Pod>;

  constructor(@inject(Informers) informers: Informers) {
    this.#pods = informers.for({ group: '', resource: 'pods' });
  }

  validate(request: Attributes): void {
    const reason = reasonAgainst(request, this.#pods, true);
    if (reason) throw newForbidden(request.resource, request.name, reason);
  }
}

/** Denies exec and attach to pods with privileged containers. */
@AdmissionPlugin({ name: 'DenyExecOnPrivileged', match: [connect] })
export class DenyExecOnPrivileged {
  readonly #pods: Informer<Pod>;

  constructor(@inject(Informers) informers: Informers) {
    this.#pods = informers.for({ group: '', resource: 'pods' });
  }

  validate(request: Attributes): void {
    const reason = reasonAgainst(request, this.#pods, false);
    if (reason) throw newForbidden(request.resource, request.name, reason);
  }
}
