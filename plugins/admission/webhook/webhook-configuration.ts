import { IsIn, IsOptional, Matches } from 'kubenest/sdk/configuration';
import { readWebhookCredentials, WebhookCredentials } from './credentials.ts';

/** Upstream: plugin/webhook/config/apis/webhookadmission (WebhookAdmission). */
export class WebhookAdmissionConfiguration {
  static readonly kinds = [
    'apiserver.config.k8s.io/v1, WebhookAdmissionConfiguration',
    'apiserver.config.k8s.io/v1alpha1, WebhookAdmission',
  ];

  /** The users of this file, named as hosts, are the credentials that webhooks are shown. */
  @IsOptional()
  @Matches(/^(\/.*)?$/, { message: 'must be an absolute file path' })
  kubeConfigFile = '';

  /** Webhooks of files; the feature ManifestBasedAdmissionControlConfig is off. */
  @IsOptional()
  @IsIn([''], { message: 'is configured but the ManifestBasedAdmissionControlConfig feature gate is not enabled' })
  staticManifestsDir = '';

  #credentials = new WebhookCredentials();

  get credentials(): WebhookCredentials {
    return this.#credentials;
  }

  /** Reads the files that are named. Rejects with what is wrong with them. */
  async load(): Promise<void> {
    if (this.kubeConfigFile !== '') this.#credentials = await readWebhookCredentials(this.kubeConfigFile);
  }
}
