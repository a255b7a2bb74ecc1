import type { FeatureGates } from 'kubenest/sdk';
import { IsOptional, Matches } from 'kubenest/sdk/configuration';
import { ManifestsConfiguration } from '../manifests-configuration.ts';
import { readWebhookCredentials, WebhookCredentials } from './credentials.ts';

/** Configuration of the webhook plugins. Upstream: plugin/webhook/config/apis/webhookadmission (WebhookAdmission). */
export class WebhookAdmissionConfiguration extends ManifestsConfiguration {
  static readonly kinds = [
    'apiserver.config.k8s.io/v1, WebhookAdmissionConfiguration',
    'apiserver.config.k8s.io/v1alpha1, WebhookAdmission',
  ];

  /** Kubeconfig file whose users, named as hosts, are the credentials for webhooks. */
  @IsOptional()
  @Matches(/^(\/.*)?$/, { message: 'must be an absolute file path' })
  kubeConfigFile = '';

  #credentials = new WebhookCredentials();

  get credentials(): WebhookCredentials {
    return this.#credentials;
  }

  override async load(features: FeatureGates): Promise<void> {
    await super.load(features);
    if (this.kubeConfigFile !== '') this.#credentials = await readWebhookCredentials(this.kubeConfigFile);
  }
}
