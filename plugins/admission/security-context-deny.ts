import { AdmissionPlugin, type Attributes, newForbidden } from 'kubenest/sdk';
import { containersOf, type Pod } from '../common/pod-walker.ts';

/**
 * Denies pods that set users or SELinux options. Upstream until 1.30:
 * kubernetes/plugin/pkg/admission/securitycontext/scdeny/admission.go.
 */
@AdmissionPlugin({ name: 'SecurityContextDeny', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] }] })
export class SecurityContextDeny {
  validate({ object, resource }: Attributes<Pod>): void {
    const { metadata, spec } = object;
    const deny = (field: string): never => {
      throw newForbidden(resource, metadata.name ?? '', `${field} is forbidden`);
    };
    const pod = spec.securityContext;
    if (pod?.supplementalGroups !== undefined) deny('pod.Spec.SecurityContext.SupplementalGroups');
    if (pod?.seLinuxOptions !== undefined) deny('pod.Spec.SecurityContext.SELinuxOptions');
    if (pod?.runAsUser !== undefined) deny('pod.Spec.SecurityContext.RunAsUser');
    if (pod?.fsGroup !== undefined) deny('pod.Spec.SecurityContext.FSGroup');
    for (const { container } of containersOf(spec)) {
      const { securityContext } = container;
      if (securityContext?.seLinuxOptions !== undefined) deny('SecurityContext.SELinuxOptions');
      if (securityContext?.runAsUser !== undefined) deny('SecurityContext.RunAsUser');
    }
  }
}
