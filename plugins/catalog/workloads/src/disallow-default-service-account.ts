import { AdmissionPlugin, type Attributes, changedPodTemplate, deny, workloads } from 'kubenest/sdk';

/** Denies pods that use the service account `default`, which all pods of a namespace share. */
@AdmissionPlugin({ name: 'DisallowDefaultServiceAccount', match: workloads })
export class DisallowDefaultServiceAccount {
  validate(request: Attributes): void {
    const template = changedPodTemplate(request);
    if (template && (template.spec.serviceAccountName || 'default') === 'default')
      deny(request, `${template.path}.serviceAccountName: must name another service account than default`);
  }
}
