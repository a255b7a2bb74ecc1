import type { GenericServer } from '#apiserver/server/generic-server';
import type { DelegationTarget } from '#apiserver/server/delegation';
import { ensureFlowControl, ensurePriorityClasses, ensureSystemNamespaces } from '#kubernetes/controlplane/bootstrap';
import { LoopbackClient } from '#kubernetes/controlplane/loopback-client';
import { reconcileRbac } from '#kubernetes/controlplane/rbac-bootstrap';
import type { ServerConfig } from './server-config.ts';

export interface ControlPlaneParts {
  readonly server: GenericServer;
  readonly chain: readonly DelegationTarget[];
  readonly config: ServerConfig;
}

const namespaceIntervalMs = 60_000;

/** The duties that the server has in its own cluster, as hooks under upstream's names. */
export function installControlPlane({ server, chain }: ControlPlaneParts): void {
  const client = new LoopbackClient(({ group, version, resource, subresource }) => {
    const path = subresource ? `${resource}/${subresource}` : resource;
    for (const target of chain) {
      const installed = target.endpoints.get(`${group}/${version}`)?.get(path);
      if (installed) return installed.endpoint;
    }
    throw new Error(`loopback: ${path} of ${group}/${version} is not served`);
  });
  const { hooks } = server;
  hooks.addPostStart({
    name: 'start-system-namespaces-controller',
    async run(signal) {
      await ensureSystemNamespaces(client);
      const timer = setInterval(() => void ensureSystemNamespaces(client).catch(() => {}), namespaceIntervalMs).unref();
      signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    },
  });
  hooks.addPostStart({ name: 'rbac/bootstrap-roles', run: () => reconcileRbac(client) });
  hooks.addPostStart({ name: 'scheduling/bootstrap-system-priority-classes', run: () => ensurePriorityClasses(client) });
  hooks.addPostStart({ name: 'priority-and-fairness-config-producer', run: () => ensureFlowControl(client) });
}
