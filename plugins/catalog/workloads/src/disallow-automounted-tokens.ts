import { AdmissionPlugin, type Attributes, changedPodTemplate, deny, workloads } from 'kubenest/sdk';

/** Denies pods that do not turn off the mount of the service account's token. */
@AdmissionPlugin({ name: 'DisallowAutomountedTokens', match: workloads })
export class DisallowAutomountedTokens {
  validate(request: Attributes): void {
    const template = changedPodTemplate(request);
    if (template && template.spec.automountServiceAccountToken !== false)
      deny(request, `${template.path}.automountServiceAccountToken: must be false`);
  }
}
