import { admissionTable } from 'kubenest/sdk/testing';
import { SecurityContextDeny } from './security-context-deny.ts';
import { main, pod } from './test-objects.ts';

admissionTable(SecurityContextDeny, [
  { name: 'a pod without a security context', object: pod({ securityContext: { runAsNonRoot: true } }) },
  {
    name: 'runAsUser of the pod',
    object: pod({ securityContext: { runAsUser: 1 } }),
    denied: /pod.Spec.SecurityContext.RunAsUser is forbidden/,
  },
  {
    name: 'runAsUser of an init container',
    object: pod({ initContainers: [{ ...main, securityContext: { runAsUser: 1 } }] }),
    denied: /SecurityContext.RunAsUser is forbidden/,
  },
]);
